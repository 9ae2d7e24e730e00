"""Experiments that several chapters share, on small simulated data, against definitions."""

import numpy as np
import pandas as pd
import pytest

from gapfm_lab import experiments
from gapfm_lab.experiments import common, optimum
from gapfm_teach import (
    GAPfm,
    Ratings,
    graded_average_precision,
    objective,
    simulate_ratings,
    smoothed_gap_gradient,
    thresholding_probabilities,
)

DELTA = thresholding_probabilities(5)


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return simulate_ratings(60, 80, random_state=1)


@pytest.fixture(scope="module")
def split(ratings):
    return experiments.split_three(ratings, 5, n_validation=4, random_state=0)


@pytest.fixture(scope="module")
def model(split):
    return GAPfm(4, learning_rate=0.05, n_iter=12, random_state=0).fit(split[0])


def rated(part: Ratings, user: int) -> set:
    return set(part.row(user)[0].tolist())


def test_split_three_parts_are_disjoint_and_together_the_whole(ratings, split):
    train, validation, _ = split
    assert np.all(np.diff(train.indptr) == 5)
    assert np.all(np.diff(validation.indptr) == 4)
    whole = {str(who): rated(ratings, m) for m, who in enumerate(ratings.users)}
    for m, who in enumerate(train.users):
        parts = [rated(part, m) for part in split]
        assert set.union(*parts) == whole[str(who)]
        assert sum(map(len, parts)) == len(whole[str(who)])
        assert len(parts[2]) >= 10


def test_split_three_repeats_with_its_seed_and_differs_without(ratings):
    first, again, other = (
        experiments.split_three(ratings, 5, random_state=seed)[0] for seed in (3, 3, 4)
    )
    assert first.to_frame().equals(again.to_frame())
    assert not first.to_frame().equals(other.to_frame())


@pytest.mark.parametrize("argument", [{"n_given": 0}, {"n_given": 5, "n_validation": 0}])
def test_split_three_names_what_it_refuses(ratings, argument):
    with pytest.raises(ValueError, match=list(argument)[-1]):
        experiments.split_three(ratings, **argument)


def test_trace_notes_every_second_iteration_and_the_objective_of_the_paper(split):
    train = split[0]
    exact = []

    def measure(model):
        U, V = model.user_factors_, model.item_factors_
        exact.append(objective(U, V, train, reg=0.1))
        return {"n": model.n_iter_}

    model = GAPfm(3, reg=0.1, learning_rate=0.05, n_iter=6, random_state=0)
    table = experiments.trace(model, train, measure, every=2)
    assert table["iteration"].tolist() == table["n"].tolist() == [1, 3, 5]
    np.testing.assert_allclose(table["objective"], exact, rtol=1e-10)


def test_held_out_gap_is_gap_among_all_films_not_in_training(split, model):
    train, validation, _ = split
    values = []
    for m in range(train.n_users):
        grades = np.zeros(train.n_items, dtype=int)
        items, given = validation.row(m)
        grades[items] = given
        left = np.setdiff1d(np.arange(train.n_items), train.row(m)[0])
        scores = model.predict(m, left)
        values.append(graded_average_precision(grades[left], scores, delta=DELTA))
    assert experiments.held_out_gap(model, validation) == pytest.approx(np.mean(values))


def test_ascend_is_what_the_model_does(split):
    train, validation, _ = split
    fitted = GAPfm(10, reg=0.2, learning_rate=0.05, n_iter=5, random_state=2)
    history = fitted.fit(train, validation).history_
    table = common.ascend(
        train, validation, common.small_start(train, 2), learning_rate=0.05, reg=0.2,
        n_iter=5,
    )  # fmt: skip
    kept = history[history["iteration"].isin(table["iteration"])]
    np.testing.assert_allclose(table["objective"], kept["objective"], rtol=1e-12)
    np.testing.assert_allclose(table["held_out_gap"], kept["validation_gap"], rtol=1e-12)


# ------------------------------------------------------------------ the escape law


def test_escape_matrix_is_the_gradient_at_zero(split):
    train = split[0]
    C = experiments.escape_matrix(train).toarray()
    expected = np.zeros_like(C)
    for m in range(train.n_users):
        items, grades = train.row(m)
        expected[m, items] = smoothed_gap_gradient(np.zeros(items.size), grades, DELTA)
    np.testing.assert_allclose(C, expected, rtol=1e-12)


def test_top_direction_is_that_of_the_dense_decomposition(split):
    C = experiments.escape_matrix(split[0])
    sigma, u, v = experiments.top_direction(C)
    left, values, right = np.linalg.svd(C.toarray())
    assert sigma == pytest.approx(values[0])
    np.testing.assert_allclose(u, np.abs(left[:, 0]), atol=1e-8)
    np.testing.assert_allclose(v, np.abs(right[0]), atol=1e-8)


# ------------------------------------------------------------------ tables of many runs


def test_effectiveness_has_a_row_for_each_setting_seed_and_mark(ratings):
    table = experiments.effectiveness(
        ratings, (4, 6), range(2), learning_rates={4: 0.1, 6: 0.05}, n_iter=5, n_factors=3
    )
    keys = ["n_given", "random_state", "iteration"]
    expected = pd.MultiIndex.from_product([(4, 6), (0, 1), (1, 3, 5)])
    assert table[keys].apply(tuple, axis=1).tolist() == expected.tolist()
    assert table["held_out_gap"].between(0, 1).all()


def test_learning_rate_search_starts_every_step_from_the_same_factors(split):
    train, validation, _ = split
    table = experiments.learning_rate_search(train, validation, (1e-9, 0.5), n_iter=9)
    first = table[table["iteration"] == 1].set_index("learning_rate")["objective"]
    start = GAPfm(n_iter=1, learning_rate=1e-12, random_state=0).fit(train).history_
    assert first[1e-9] == pytest.approx(start["objective"].iloc[0])
    assert table.groupby("learning_rate")["objective"].last()[0.5] > first[1e-9] + 1


# ------------------------------------------------------------------ how far lists differ


def test_singular_directions_rebuild_the_scores_in_descending_order(model):
    A, sigma, B = optimum.singular_directions(model)
    scores = model.user_factors_ @ model.item_factors_.T
    np.testing.assert_allclose(A * sigma @ B.T, scores, atol=1e-12)
    assert np.all(np.diff(sigma) <= 0)
    np.testing.assert_allclose(B.T @ B, np.eye(4), atol=1e-12)
    assert np.all(B.sum(axis=0) >= 0)


# ------------------------------------------------------------------ selection


def test_selection_sweep_counts_pairs_and_knows_all(ratings):
    table = experiments.selection_sweep(
        ratings, (2, 6), range(1), n_given=6, learning_rate=0.05, n_iter=4
    )
    assert table["selection"].tolist() == ["adaptive", "random", "all"]
    n_users = experiments.split_three(ratings, 6, random_state=0)[0].n_users
    assert (table["pairs_two_passes"] / n_users).tolist() == [40, 40, 72]
    assert (table["pairs_one_pass"] / n_users).tolist() == [36, 36, 36]
