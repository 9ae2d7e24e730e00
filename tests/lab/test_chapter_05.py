"""Chapter 5's selections on small simulated data, against Algorithm 1 and every order of a list."""

from itertools import permutations

import numpy as np
import pytest

from gapfm_lab import chapter_05
from gapfm_lab.chapter_05_rules import RULES, Lists
from gapfm_lab.experiments import held_out_gap, split_three
from gapfm_teach import GAPfm, Ratings, graded_average_precision, simulate_ratings
from gapfm_teach.paper import adaptive_selection, ranks
from gapfm_teach.training.data import TrainingData


@pytest.fixture(scope="module")
def split():
    ratings = simulate_ratings(60, 80, random_state=1)
    return split_three(ratings, 5, n_validation=4, random_state=0)


@pytest.fixture(scope="module")
def model(split):
    return GAPfm(4, learning_rate=0.05, n_iter=12, random_state=0).fit(split[0])


def lists_of(split, seed=5):
    """Rated lists with scores of which many are equal, and what they are made of."""
    train = split[0]
    problem, rng = TrainingData(train), np.random.default_rng(seed)
    U, V = np.ones((train.n_users, 1)), rng.integers(3, size=(train.n_items, 1)) / 4
    return Lists.of(problem, problem.scores(U, V)), rng, (problem, V[:, 0])


def lists_of_model(model):
    problem = TrainingData(model.train_)
    scores = problem.scores(model.user_factors_, model.item_factors_)
    return Lists.of(problem, scores)


def picked_items(marks, problem):
    """Which items each row of marks stands for."""
    items = problem.items.reshape(marks.shape)
    return [set(row[mine].tolist()) for row, mine in zip(items, marks, strict=True)]


@pytest.mark.parametrize("rule", ["most misranked", "ties by score"])
def test_algorithm_1_is_one_of_the_rules(split, rule):
    lists, rng, (problem, f) = lists_of(split)
    marks = lists.highest(RULES[rule](lists, rng, 2), 2)
    for m, mine in enumerate(picked_items(marks, problem)):
        items, y = problem.train.row(m)
        if rule == "ties by score":
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
    assert chapter_05.rated_gap(
        problem, problem.scores(np.ones((len(rows), 1)), f[:, None])
    ) == pytest.approx(np.mean(gaps))


def test_random_with_the_same_grades_picks_as_many_of_each_grade(split):
    lists, rng, _ = lists_of(split)
    names = "random, same grades", "most misranked"
    rules = (RULES[name](lists, rng, 2) for name in names)
    drawn, picked = (np.sort(np.where(lists.highest(p, 2), lists.grades, 0)) for p in rules)
    np.testing.assert_array_equal(drawn, picked)


def test_selection_rules_agree_with_the_model_where_both_can():
    ratings = simulate_ratings(60, 80, random_state=1)
    table = chapter_05.selection_rules(
        ratings, range(1), k=2, n_given=6, n_iter=5,
        settings=[("normal, sd 0.01", 0.05)],
    ).set_index("rule")  # fmt: skip
    assert table.index.tolist() == [*RULES, "all"]
    train, validation, _ = split_three(ratings, 6, random_state=0)
    for rule, k in (("most misranked", 2), ("all", None)):
        model = GAPfm(reg=0.001, learning_rate=0.05, n_iter=5, n_selected=k, random_state=0)
        gap = held_out_gap(model.fit(train), validation)
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
    table = chapter_05.static_gain(start, k).set_index("rule").loc[rule]
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
    parts = chapter_05.loss_split(model, validation)
    assert parts["gap"] == pytest.approx(held_out_gap(model, validation))
    assert (parts > 0).all()


def test_one_step_raises_the_objective_whatever_it_selects(split):
    start = GAPfm(3, learning_rate=1e-3, n_iter=5, random_state=0).fit(split[0])
    assert (chapter_05.one_step(start, 2)["objective"] > 0).all()


def test_selection_visits_adds_up_to_k_a_user(split):
    train = split[0]
    table = chapter_05.selection_visits(train, "random", 2, n_iter=6, since=3)
    visits = np.sum(table["visited"] * table["n_ratings"])
    assert visits == pytest.approx(2 * train.n_users)


def test_selection_pushes_at_the_start_are_all_upwards(split):
    start = GAPfm(learning_rate=1e-12, n_iter=1, random_state=0).fit(split[0])
    table = chapter_05.selection_pushes(start, 3)
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
        chapter_05.static_gain(start, 1)
    with pytest.raises(ValueError, match="equally many ratings, got 1 to 3"):
        chapter_05.one_step(start, 1)
