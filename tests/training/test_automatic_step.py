"""`learning_rate="auto"`: a step that suits whatever data it is given."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapfm_teach import GAPfm, Ratings, paper, simulate_ratings, split_given
from gapfm_teach.paper import thresholding_probabilities
from gapfm_teach.training.automatic_step import (
    largest_singular_value,
    suitable_learning_rate,
)
from gapfm_teach.training.data import TrainingData


def escape_matrix(train: Ratings) -> np.ndarray:
    """C by its definition: ∂F/∂f at f = 0 by the reference gradient, user after user."""
    C = np.zeros((train.n_users, train.n_items))
    delta = thresholding_probabilities(train.max_grade)
    for user in range(train.n_users):
        items, grades = train.row(user)
        C[user, items] = paper.smoothed_gap_gradient(np.zeros(items.size), grades, delta)
    return C


@st.composite
def some_ratings(draw):
    n_users, n_items = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    grades = draw(
        st.lists(st.integers(0, 5), min_size=n_users * n_items, max_size=n_users * n_items)
    )
    table = np.array(grades).reshape(n_users, n_items)
    table[0, 0] = max(1, table[0, 0])
    users, items = np.nonzero(table)
    indptr = np.searchsorted(users, np.arange(n_users + 1))
    return Ratings(indptr, items, table[users, items], n_items=n_items, max_grade=5)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(some_ratings())
def test_the_power_iteration_finds_the_largest_singular_value(train):
    expected = np.linalg.svd(escape_matrix(train), compute_uv=False)[0]
    found = largest_singular_value(TrainingData(train))
    assert 0.9 * expected <= found <= expected * (1 + 1e-9)


@settings(max_examples=30, deadline=None)
@given(some_ratings(), st.floats(0, 100), st.integers(0, 2**32))
def test_it_never_leaves_the_finite_numbers(train, reg, seed):
    model = GAPfm(3, reg=reg, learning_rate="auto", n_iter=80, random_state=seed)
    assert np.isfinite(model.fit(train).history_["objective"]).all()


def test_a_small_start_grows_by_half_in_an_iteration():
    train = simulate_ratings(150, 80, mean_ratings=30, random_state=0)
    u, _, v = np.linalg.svd(escape_matrix(train))
    parts = []

    def note(_, model):
        growing = u[:, 0] @ model.user_factors_ + v[0] @ model.item_factors_
        parts.append(np.linalg.norm(growing))

    options = {"learning_rate": "auto", "init_scale": 1e-6, "reg": 0.0, "random_state": 0}
    GAPfm(5, n_iter=10, **options).fit(train, callback=note)
    np.testing.assert_allclose(np.divide(parts[1:], parts[:-1]), 1.5, rtol=0.01)


def test_one_setting_learns_from_few_ratings_a_user_and_from_many():
    """No single γ does: what moves the many leaves the few where they started."""
    ratings = simulate_ratings(150, 400, mean_ratings=150, random_state=0)
    few, _ = split_given(ratings, 5, min_test=5, random_state=0)

    def share(train, rate):
        """What part of the objective's way from 0 factors to its upper bound is covered."""
        model = GAPfm(5, learning_rate=rate, reg=0.0, n_iter=40, random_state=0).fit(train)
        none = np.zeros((train.n_users, 1)), np.zeros((train.n_items, 1))
        start = paper.objective(*none, train, reg=0.0)
        delta = thresholding_probabilities(5)
        rows = (train.row(m)[1] for m in range(train.n_users))
        top = sum(paper.pair_weights(grades, delta).sum() / 2 for grades in rows)
        return (model.history_["objective"].iloc[-1] - start) / (top - start)

    assert share(few, "auto") > 0.5
    assert share(ratings, "auto") > 0.5
    rate_of_many = GAPfm(5, learning_rate="auto", n_iter=1).fit(ratings).learning_rate_
    assert share(few, rate_of_many) < 0.01


def test_it_is_the_same_as_giving_the_number():
    train = simulate_ratings(60, 50, mean_ratings=20, random_state=0)
    auto = GAPfm(4, learning_rate="auto", reg=0.5, n_iter=12, random_state=0).fit(train)
    rate = auto.learning_rate_
    assert rate == suitable_learning_rate(TrainingData(train), 0.5)
    plain = GAPfm(4, learning_rate=rate, reg=0.5, n_iter=12, random_state=0).fit(train)
    np.testing.assert_array_equal(auto.item_factors_, plain.item_factors_)
    items, grades = train.row(3)
    np.testing.assert_array_equal(auto.fold_in(items, grades), plain.fold_in(items, grades))
    assert plain.learning_rate_ == plain.learning_rate == rate
    assert "learning_rate='auto'" in repr(auto)


def test_a_saved_model_keeps_its_step(tmp_path):
    train = simulate_ratings(60, 50, mean_ratings=20, random_state=0)
    auto = GAPfm(4, learning_rate="auto", n_iter=12, random_state=0).fit(train)
    auto.save(tmp_path / "auto.npz")
    loaded = GAPfm.load(tmp_path / "auto.npz")
    assert loaded.learning_rate == "auto"
    assert loaded.learning_rate_ == auto.learning_rate_
    np.testing.assert_array_equal(
        loaded.fold_in([1, 2], [5, 3]), auto.fold_in([1, 2], [5, 3])
    )


@pytest.mark.parametrize("update", ["batch", "sequential"])
def test_a_resumed_training_takes_the_same_step(tmp_path, update):
    train = simulate_ratings(60, 50, mean_ratings=20, random_state=0)
    options = {"learning_rate": "auto", "update": update, "random_state": 0}
    whole = GAPfm(4, n_iter=12, **options).fit(train)
    GAPfm(4, n_iter=5, **options).fit(train, checkpoint=tmp_path / "run.npz")
    resumed = GAPfm(4, n_iter=12, **options).fit(train, resume=tmp_path / "run.npz")
    np.testing.assert_array_equal(resumed.item_factors_, whole.item_factors_)
    with pytest.raises(ValueError, match=r"learning_rate was 'auto' and is 0\.01 now"):
        GAPfm(4, random_state=0).fit(train, resume=tmp_path / "run.npz")


@pytest.mark.parametrize("bad", ["Auto", "0.1", b"auto", np.array([0.1, 0.2])])
def test_another_word_than_auto_is_refused_by_name(bad):
    with pytest.raises(TypeError, match="learning_rate must be a number or 'auto', got"):
        GAPfm(learning_rate=bad).settings()
