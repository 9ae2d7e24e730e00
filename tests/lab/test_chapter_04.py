"""Chapter 4's trainings on small simulated data, against definitions and theorems."""

import numpy as np
import pytest

from gapfm_lab import chapter_04
from gapfm_lab.experiments import held_out_gap, split_three
from gapfm_teach import GAPfm, graded_average_precision, objective, simulate_ratings
from gapfm_teach.training.data import TrainingData


@pytest.fixture(scope="module")
def split():
    ratings = simulate_ratings(60, 80, random_state=1)
    return split_three(ratings, 5, n_validation=4, random_state=0)


def test_stopped_early_stops_where_the_held_out_gap_was_highest(split):
    train, validation, _ = split
    options = {"learning_rate": 0.1, "n_factors": 4}
    early = chapter_04.stopped_early(train, validation, n_iter=30, **options)
    history = GAPfm(n_iter=30, random_state=0, **options).fit(train, validation).history_
    best = history.set_index("iteration")["validation_gap"].idxmax()
    assert early.n_iter_ == best
    gap = held_out_gap(early, validation)
    assert gap == pytest.approx(history["validation_gap"].max())


def test_small_factors_grow_as_the_law_says(split):
    run = chapter_04.escape(
        split[0], learning_rate=0.01, n_iter=8, init_scale=1e-5, reg=0.0
    )
    assert run["measured"].iloc[-1] > 1.02 * run["measured"].iloc[0]
    np.testing.assert_allclose(run["measured"], run["predicted"], rtol=1e-6)


def test_last_visits_marks_one_rating_an_item_of_its_last_user(split):
    train = split[0]
    problem = TrainingData(train)
    marks = chapter_04._last_visits(problem, np.zeros(train.n_ratings))
    user_of = np.repeat(np.arange(train.n_users), np.diff(train.indptr))
    last = {}
    for m in range(train.n_users):
        last.update(dict.fromkeys(train.row(m)[0].tolist(), m))
    found = dict(zip(problem.items[marks].tolist(), user_of[marks].tolist(), strict=True))
    assert found == last
    assert marks.sum() == len(last)


def test_algorithm_readings_sum_is_the_batch_model(split):
    train, validation, _ = split
    table = chapter_04.algorithm_readings(
        train, validation, learning_rate=0.05, regs=(0.01,), n_iter=5
    )
    batch = GAPfm(reg=0.01, learning_rate=0.05, n_iter=5, random_state=0).fit(train)
    end = table[table["iteration"] == 5].set_index("reading")["objective"]
    assert end["sum over users"] == pytest.approx(batch.history_["objective"].iloc[-1])
    assert end["last user only"] < end["sum over users"]


def test_supremum_bounds_the_objective_and_is_reached_by_any_shifted_order(split):
    train = split[0]
    top = chapter_04.supremum(train)
    rng = np.random.default_rng(0)
    # One factor is 1 for all, so all scores are large; the other one orders them at random.
    V = np.column_stack([np.full(train.n_items, 30.0), rng.normal(size=train.n_items)])
    U = np.column_stack([np.ones(train.n_users), np.ones(train.n_users)])
    value = objective(U, V, train, reg=0)
    assert 0.999999 * top < value < top


def test_degeneration_measures_what_it_says(split):
    train, validation, _ = split
    table = chapter_04.degeneration(
        train, validation, reg=0.0, learning_rate=0.05, n_iter=7, every=3
    )
    assert table["iteration"].tolist() == [1, 4, 7]
    top = chapter_04.supremum(train)
    np.testing.assert_allclose(table["share_of_supremum"], table["objective"] / top)
    fitted = GAPfm(reg=0, learning_rate=0.05, n_iter=7, random_state=0).fit(train)
    lists = [
        graded_average_precision(grades, fitted.predict(m, items))
        for m in range(train.n_users)
        for items, grades in [train.row(m)]
    ]
    assert table["training_gap"].iloc[-1] == pytest.approx(np.mean(lists))
