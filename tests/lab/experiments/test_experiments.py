"""The experiments of notebooks 04 and 05, on small simulated data, against definitions and theorems."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from gapfm_teach import (
    GAPfm,
    Ratings,
    graded_average_precision,
    objective,
    simulate_ratings,
    smoothed_gap_gradient,
    thresholding_probabilities,
)
from gapfm_teach.lab import experiments
from gapfm_teach.lab.experiments import common, convergence, misranked, optimum
from gapfm_teach.paper import adaptive_selection, ranks
from gapfm_teach.training.data import TrainingData

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


def test_stopped_early_stops_where_the_held_out_gap_was_highest(split):
    train, validation, _ = split
    options = {"learning_rate": 0.1, "n_factors": 4}
    early = experiments.stopped_early(train, validation, n_iter=30, **options)
    history = GAPfm(n_iter=30, random_state=0, **options).fit(train, validation).history_
    best = history.set_index("iteration")["validation_gap"].idxmax()
    assert early.n_iter_ == best
    gap = experiments.held_out_gap(early, validation)
    assert gap == pytest.approx(history["validation_gap"].max())


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


def test_small_factors_grow_as_the_law_says(split):
    run = experiments.escape(
        split[0], learning_rate=0.01, n_iter=8, init_scale=1e-5, reg=0.0
    )
    assert run["measured"].iloc[-1] > 1.02 * run["measured"].iloc[0]
    np.testing.assert_allclose(run["measured"], run["predicted"], rtol=1e-6)


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


def test_last_visits_marks_one_rating_an_item_of_its_last_user(split):
    train = split[0]
    problem = TrainingData(train)
    marks = convergence._last_visits(problem, np.zeros(train.n_ratings))
    user_of = np.repeat(np.arange(train.n_users), np.diff(train.indptr))
    last = {}
    for m in range(train.n_users):
        last.update(dict.fromkeys(train.row(m)[0].tolist(), m))
    found = dict(zip(problem.items[marks].tolist(), user_of[marks].tolist(), strict=True))
    assert found == last
    assert marks.sum() == len(last)


def test_algorithm_readings_sum_is_the_batch_model(split):
    train, validation, _ = split
    table = experiments.algorithm_readings(
        train, validation, learning_rate=0.05, regs=(0.01,), n_iter=5
    )
    batch = GAPfm(reg=0.01, learning_rate=0.05, n_iter=5, random_state=0).fit(train)
    end = table[table["iteration"] == 5].set_index("reading")["objective"]
    assert end["sum over users"] == pytest.approx(batch.history_["objective"].iloc[-1])
    assert end["last user only"] < end["sum over users"]


# ------------------------------------------------------------------ the degenerate optimum


def test_supremum_bounds_the_objective_and_is_reached_by_any_shifted_order(split):
    train = split[0]
    top = experiments.supremum(train)
    rng = np.random.default_rng(0)
    # One factor is 1 for all, so all scores are large; the other one orders them at random.
    V = np.column_stack([np.full(train.n_items, 30.0), rng.normal(size=train.n_items)])
    U = np.column_stack([np.ones(train.n_users), np.ones(train.n_users)])
    value = objective(U, V, train, reg=0)
    assert 0.999999 * top < value < top


def test_degeneration_measures_what_it_says(split):
    train, validation, _ = split
    table = experiments.degeneration(
        train, validation, reg=0.0, learning_rate=0.05, n_iter=7, every=3
    )
    assert table["iteration"].tolist() == [1, 4, 7]
    top = experiments.supremum(train)
    np.testing.assert_allclose(table["share_of_supremum"], table["objective"] / top)
    fitted = GAPfm(reg=0, learning_rate=0.05, n_iter=7, random_state=0).fit(train)
    lists = [
        graded_average_precision(grades, fitted.predict(m, items))
        for m in range(train.n_users)
        for items, grades in [train.row(m)]
    ]
    assert table["training_gap"].iloc[-1] == pytest.approx(np.mean(lists))


def test_singular_directions_rebuild_the_scores_in_descending_order(model):
    A, sigma, B = optimum.singular_directions(model)
    scores = model.user_factors_ @ model.item_factors_.T
    np.testing.assert_allclose(A * sigma @ B.T, scores, atol=1e-12)
    assert np.all(np.diff(sigma) <= 0)
    np.testing.assert_allclose(B.T @ B, np.eye(4), atol=1e-12)
    assert np.all(B.sum(axis=0) >= 0)


def test_personality_agrees_with_scipy(model):
    scores = model.user_factors_ @ model.item_factors_.T
    average = scores.mean(axis=0)
    expected = np.median([spearmanr(row, average).statistic for row in scores])
    squares = np.linalg.svd(scores, compute_uv=False) ** 2
    found = experiments.personality(model)
    assert found["agreement"] == pytest.approx(expected)
    assert found["top_share"] == pytest.approx(squares[0] / squares.sum())


# ------------------------------------------------------------------ selection


def test_selection_sweep_counts_pairs_and_knows_all(ratings):
    table = experiments.selection_sweep(
        ratings, (2, 6), range(1), n_given=6, learning_rate=0.05, n_iter=4
    )
    assert table["selection"].tolist() == ["adaptive", "random", "all"]
    n_users = experiments.split_three(ratings, 6, random_state=0)[0].n_users
    assert (table["pairs_two_passes"] / n_users).tolist() == [40, 40, 72]
    assert (table["pairs_one_pass"] / n_users).tolist() == [36, 36, 36]


def lists_of(split, seed=5):
    """Rated lists with scores of which many are equal, and what they are made of."""
    train = split[0]
    problem, rng = TrainingData(train), np.random.default_rng(seed)
    U, V = np.ones((train.n_users, 1)), rng.integers(3, size=(train.n_items, 1)) / 4
    return misranked.Lists.of(problem, problem.scores(U, V)), rng, (problem, V[:, 0])


def lists_of_model(model):
    problem = TrainingData(model.train_)
    scores = problem.scores(model.user_factors_, model.item_factors_)
    return misranked.Lists.of(problem, scores)


def picked_items(marks, problem):
    """Which items each row of marks stands for."""
    items = problem.items.reshape(marks.shape)
    return [set(row[mine].tolist()) for row, mine in zip(items, marks, strict=True)]


def test_algorithm_1_is_one_of_the_rules(split):
    lists, rng, (problem, f) = lists_of(split)
    priority = experiments.RULES["most misranked"](lists, rng, 2)
    for m, mine in enumerate(picked_items(lists.highest(priority, 2), problem)):
        items, y = problem.train.row(m)
        assert mine == set(items[adaptive_selection(y, f[items], 2)].tolist())


def test_algorithm_1_with_ties_by_score(split):
    lists, rng, (problem, f) = lists_of(split)
    marks = lists.highest(experiments.RULES["ties by score"](lists, rng, 2), 2)
    for m, mine in enumerate(picked_items(marks, problem)):
        items, y = problem.train.row(m)
        order = np.lexsort((-y, -f[items]))
        items, y = items[order], y[order]
        assert mine == set(items[adaptive_selection(y, f[items], 2)].tolist())


def test_too_low_is_rank_by_score_minus_rank_by_grade(split):
    lists, _, (problem, f) = lists_of(split)
    by_item = np.argsort(problem.items.reshape(lists.scores.shape), axis=1)
    for m, found in enumerate(np.take_along_axis(lists.too_low, by_item, axis=1)):
        items, y = problem.train.row(m)
        np.testing.assert_array_equal(found, ranks(f[items]) - ranks(y))


def test_the_gap_of_rated_lists_breaks_ties_as_the_metric_does(split):
    _, _, (problem, f) = lists_of(split)
    rows = [problem.train.row(m) for m in range(problem.train.n_users)]
    gaps = [graded_average_precision(y, f[items]) for items, y in rows]
    assert misranked.rated_gap(
        problem, problem.scores(np.ones((len(rows), 1)), f[:, None])
    ) == pytest.approx(np.mean(gaps))


def test_random_with_the_same_grades_picks_as_many_of_each_grade(split):
    lists, rng, _ = lists_of(split)
    names = "random, same grades", "most misranked"
    rules = (experiments.RULES[name](lists, rng, 2) for name in names)
    drawn, picked = (np.sort(np.where(lists.highest(p, 2), lists.grades, 0)) for p in rules)
    np.testing.assert_array_equal(drawn, picked)


def test_selection_rules_agree_with_the_model_where_both_can(ratings):
    table = experiments.selection_rules(
        ratings, range(1), k=2, n_given=6, n_iter=5,
        settings=[("normal, sd 0.01", 0.05)],
    ).set_index("rule")  # fmt: skip
    assert table.index.tolist() == [*experiments.RULES, "all"]
    train, validation, _ = experiments.split_three(ratings, 6, random_state=0)
    for rule, k in (("most misranked", 2), ("all", None)):
        model = GAPfm(reg=0.001, learning_rate=0.05, n_iter=5, n_selected=k, random_state=0)
        gap = experiments.held_out_gap(model.fit(train), validation)
        assert table.loc[rule, "held_out_gap"] == pytest.approx(gap)
    lists = [
        graded_average_precision(grades, model.predict(m, items))
        for m in range(train.n_users)
        for items, grades in [train.row(m)]
    ]
    assert table.loc["all", "training_gap"] == pytest.approx(np.mean(lists))


def test_static_gain_is_that_of_trying_every_order(split):
    train = split[0]
    start = GAPfm(3, init_scale=1.0, learning_rate=1e-12, n_iter=1, random_state=0).fit(
        train
    )
    rule, k = "most too low", 2
    table = experiments.static_gain(start, k).set_index("rule").loc[rule]
    lists = lists_of_model(start)
    picked = lists.highest(lists.too_low, k)
    now, swapped, moved = [], [], []
    for y, f, mine in zip(lists.grades, lists.scores, picked, strict=True):
        now.append(graded_average_precision(y, f))
        orders = [np.array(order) for order in permutations(range(len(y)))]
        rank = np.argsort(np.argsort(-f))
        gaps = {tuple(o): graded_average_precision(y, -np.argsort(o)) for o in orders}
        others = [i for i in np.argsort(rank) if not mine[i]]
        kept = [o for o in gaps if [i for i in o if not mine[i]] == others]
        moved.append(max(gaps[o] for o in kept))
        in_place = [o for o in kept if all(rank[i] == o.index(i) for i in others)]
        swapped.append(max(gaps[o] for o in in_place))
    lacking = np.sum(1 - np.array(now))
    assert table["moved"] == pytest.approx(np.sum(np.subtract(moved, now)) / lacking)
    assert table["swapped"] == pytest.approx(np.sum(np.subtract(swapped, now)) / lacking)


def test_loss_split_leaves_the_held_out_gap(split, model):
    validation = split[1]
    parts = experiments.loss_split(model, validation)
    assert parts["gap"] == pytest.approx(experiments.held_out_gap(model, validation))
    assert (parts > 0).all()


def test_one_step_raises_the_objective_whatever_it_selects(split):
    start = GAPfm(3, learning_rate=1e-3, n_iter=5, random_state=0).fit(split[0])
    assert (experiments.one_step(start, 2)["objective"] > 0).all()


def test_selection_visits_adds_up_to_k_a_user(split):
    train = split[0]
    table = experiments.selection_visits(train, "random", 2, n_iter=6, since=3)
    visits = np.sum(table["visited"] * table["n_ratings"])
    assert visits == pytest.approx(2 * train.n_users)


def test_selection_pushes_at_the_start_are_all_upwards(split):
    start = GAPfm(learning_rate=1e-12, n_iter=1, random_state=0).fit(split[0])
    table = experiments.selection_pushes(start, 3)
    assert set(table["place"]) == {"too high", "too low"}
    np.testing.assert_allclose(table.groupby("selection")["share"].sum(), 1)
    assert (table["share_up"] == 1).all()
    by_place = table.groupby("place")["mean_grade"].mean()
    assert by_place["too low"] > by_place["too high"]


def test_users_with_unequal_numbers_of_ratings_are_refused():
    """Six ratings would fill three rows of two, each with somebody else's."""
    uneven = Ratings([0, 1, 3, 6], [0, 0, 1, 0, 1, 2], [5, 4, 3, 2, 1, 5])
    start = GAPfm(2, n_iter=1, random_state=0).fit(uneven)
    with pytest.raises(ValueError, match="equally many ratings, got 1 to 3"):
        experiments.static_gain(start, 1)
    with pytest.raises(ValueError, match="equally many ratings, got 1 to 3"):
        experiments.one_step(start, 1)
