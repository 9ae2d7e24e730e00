"""Chapter 4's trainings on small simulated data, against definitions and theorems."""

import numpy as np
import pandas as pd
import pytest

from gapfm_lab import chapter_04
from gapfm_lab.experiments import escape_matrix, held_out_gap, split_three
from gapfm_lab.experiments.common import small_start
from gapfm_teach import (
    GAPfm,
    compare_splits,
    graded_average_precision,
    item_gradients,
    objective,
    simulate_ratings,
    thresholding_probabilities,
)
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


def test_algorithm_readings_add_up_or_overwrite_what_each_user_asks_for(split):
    train, reg, rate = split[0], 0.01, 0.05
    one = chapter_04.algorithm_readings(train, learning_rate=rate, reg=reg, n_iter=1)
    delta = thresholding_probabilities(train.max_grade)
    U, V = small_start(train, 0)
    added, overwritten = V * (1 - rate * reg), V.copy()
    for m in range(train.n_users):
        items, grades = train.row(m)
        steps = rate * item_gradients(U[m], V[items], grades, delta=delta, reg=0)
        added[items] += steps
        overwritten[items] = V[items] * (1 - rate * reg) + steps
    unrated = np.setdiff1d(np.arange(train.n_items), train.indices)
    overwritten[unrated] *= 1 - rate * reg
    np.testing.assert_allclose(one["sum over users"].item_factors_, added, atol=1e-14)
    np.testing.assert_allclose(one["last user only"].item_factors_, overwritten, atol=1e-14)
    assert not np.allclose(one["in turn"].item_factors_, added, atol=1e-6)


def test_gap_per_user_is_exact_gap_among_all_films_not_in_training(split):
    train, validation, _ = split
    model = GAPfm(learning_rate=0.1, n_iter=10, random_state=0).fit(train)
    gaps = chapter_04.gap_per_user(model, train, validation)["held-out GAP"]
    for m in (0, 7):
        candidates = np.setdiff1d(np.arange(train.n_items), train.row(m)[0])
        grades = np.zeros(train.n_items, dtype=int)
        grades[validation.row(m)[0]] = validation.row(m)[1]
        scores = model.predict(m, candidates)
        assert gaps.iloc[m] == pytest.approx(
            graded_average_precision(grades[candidates], scores)
        )
    assert gaps.mean() == pytest.approx(held_out_gap(model, validation))


def test_leads_are_paired_differences_with_the_splits_in_which_a_system_is_ahead():
    def tables(*splits):
        return [pd.DataFrame({"NDCG@5": values}, index=["Ann", "Bo"]) for values in splits]

    results = {"A": tables([0.5, 0.7], [0.3, 0.5]), "B": tables([0.4, 0.4], [0.5, 0.5])}
    found = chapter_04.leads(results, "B", overlap=0.2)
    compared = compare_splits(results["A"], results["B"], overlap=0.2).loc[0]
    low, high = (f"{compared[name]:+.3f}" for name in ("ci_low", "ci_high"))
    assert found["mean"].round(3).to_dict() == {"A": 0.5, "B": 0.45}
    assert found.loc["A", "lead"] == f"+0.050 [{low}, {high}]".replace("-", "−")
    assert found["ahead"].to_dict() == {"A": "1 of 2", "B": ""}


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


def test_at_the_start_the_pushes_are_the_singular_values_of_the_escape_matrix(split):
    train, validation, _ = split
    table = chapter_04.degeneration(
        train, validation, reg=0.0, learning_rate=1e-9, n_iter=1, every=1
    )
    expected = np.linalg.svd(escape_matrix(train).toarray(), compute_uv=False)[:2]
    np.testing.assert_allclose(table[["push_1", "push_2"]].loc[0], expected, rtol=1e-2)
