"""What chapter 5 measures: Appendix C on one list, a step of training, and trainings that select."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd

from gapfm_teach import kernels
from gapfm_teach._support.checks import check_random_state
from gapfm_teach.datasets import simulate_ratings
from gapfm_teach.model import GAPfm
from gapfm_teach.paper import (
    cumulative_weights,
    ranks,
    smoothed_gap_gradient,
    thresholding_probabilities,
)
from gapfm_teach.ratings import Ratings
from gapfm_teach.training.data import TrainingData
from gapfm_teach.training.objectives import PaperObjective

from .chapter_05_rules import RULES, Lists
from .experiments.common import ascend, rows_for_page, small_start, split_three
from .experiments.selecting import STARTS

# ------------------------------------------------------------------ Appendix C, one fixed list


def static_gain(model: GAPfm, k: int = 20, random_state=0) -> pd.DataFrame:
    """How much of the GAP that the rated lists of `model` lack its k selected items can repair.

    The model's users have equally many ratings. Columns rule; swapped, when the k items are
    sorted by grade within the places they hold; moved, when they may go anywhere while the
    others keep their order, at best. Both as shares of what a perfect list would gain.
    """
    rng, train = check_random_state(random_state), model.train_
    problem = TrainingData(train)
    lists = Lists.of(problem, problem.scores(model.user_factors_, model.item_factors_))
    order = lists.from_the_highest(lists.scores)
    weights = np.take_along_axis(problem.cumulative_weights[lists.grades], order, axis=1)
    now = _gap_of_lists(weights)
    rows = []
    for rule, priority in RULES.items():
        marks = np.take_along_axis(lists.highest(priority(lists, rng, k), k), order, axis=1)
        chosen = -np.sort(-weights[marks].reshape(train.n_users, k), axis=1)
        others = weights[~marks].reshape(train.n_users, -1)
        swapped = weights.copy()
        swapped[marks] = chosen.ravel()
        gains = _gap_of_lists(swapped) - now, _best_merge(chosen, others) - now
        swap, move = (np.sum(gain) / np.sum(1 - now) for gain in gains)
        rows.append({"rule": rule, "swapped": swap, "moved": move})
    return pd.DataFrame(rows)


def _gap_of_lists(weights: np.ndarray) -> np.ndarray:
    """GAP of each row of Δ(y) in ranked order, (n_users,), nothing unrated between."""
    return _best_merge(weights, weights[:, :0])


def _best_merge(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The highest GAP of a list that merges two, (n_users,), each of which keeps its order.

    By dynamic programming over how many of each stand so far: what the next item adds to GAP
    depends on that alone.
    """
    n_users, n_first, n_second = len(first), first.shape[1], second.shape[1]
    adds = [
        [_pairs_above(mine, other) for other in (first, second)] for mine in (first, second)
    ]
    best = np.full((n_users, n_first + 1, n_second + 1), -np.inf)
    best[:, 0, 0] = 0.0
    for a, b in np.ndindex(n_first + 1, n_second + 1):
        rank = a + b + 1
        if a < n_first:
            gain = first[:, a] + adds[0][0][:, a, a] + adds[0][1][:, a, b]
            best[:, a + 1, b] = np.maximum(best[:, a + 1, b], best[:, a, b] + gain / rank)
        if b < n_second:
            gain = second[:, b] + adds[1][0][:, b, a] + adds[1][1][:, b, b]
            best[:, a, b + 1] = np.maximum(best[:, a, b + 1], best[:, a, b] + gain / rank)
    return best[:, -1, -1] / (first.sum(axis=1) + second.sum(axis=1))


def _pairs_above(mine: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Entry [m, i, n]: Σ β of item i of `mine` with the first n of `others`."""
    pairs = np.cumsum(np.minimum(mine[:, :, None], others[:, None, :]), axis=2)
    return np.concatenate([np.zeros((*mine.shape, 1)), pairs], axis=2)


def loss_split(model: GAPfm, validation: Ratings) -> pd.Series:
    """What keeps held-out GAP below 1: unrated items in between, or misranked pairs.

    Means over users, in units of GAP: unrated, 1 minus the first sum of Appendix C over Z;
    misranked, its second sum over Z with the sign changed; gap, what is left.
    """
    train, U, V = model.train_, model.user_factors_, model.item_factors_
    worth = cumulative_weights(thresholding_probabilities(train.max_grade))
    rank = np.empty(validation.n_ratings, dtype=np.int64)
    kernels.parallel_for(
        kernels.held_out_ranks, train.n_users, U, V.T.copy(), train.indptr, train.indices,
        validation.indptr, validation.indices, rank,
    )  # fmt: skip
    rows = []
    for m in range(validation.n_users):
        row = slice(validation.indptr[m], validation.indptr[m + 1])
        R, weight = rank[row], worth[validation.grades[row]]
        above = R[None, :] <= R[:, None]
        first = np.sum(weight / R * above.sum(axis=1))
        lower = np.maximum(weight[:, None] - weight[None, :], 0.0)
        second = np.sum(above * lower / R[:, None])
        rows.append([1 - first / weight.sum(), second / weight.sum()])
    unrated, misranked = np.mean(rows, axis=0)
    gap = 1 - unrated - misranked
    return pd.Series({"unrated": unrated, "misranked": misranked, "gap": gap})


# ------------------------------------------------------------------ one step


def selection_pushes(model: GAPfm, k: int, random_state=0) -> pd.DataFrame:
    """Which way (8) pushes the k items that each selection picks, for the users of `model`.

    Columns selection; place, "too high" or "too low" for its grade among the user's rated items;
    share of the selected items in that place; share_up, the part of those whose score (8) raises
    (∂F/∂f > 0); mean_grade.
    """
    train, rng = model.train_, check_random_state(random_state)
    delta, parts = thresholding_probabilities(train.max_grade), []
    for m in range(train.n_users):
        items, grades = train.row(m)
        scores = model.predict(m, items)
        too_low = ranks(scores) - ranks(grades)
        push = smoothed_gap_gradient(scores, grades, delta)
        picks = {
            "adaptive": np.argsort(-np.abs(too_low), kind="stable")[:k],
            "random": rng.permutation(items.shape[0])[:k],
        }
        for name, chosen in picks.items():
            columns = {"by": too_low[chosen], "push": push[chosen], "grade": grades[chosen]}
            parts.append(pd.DataFrame({"selection": name, **columns}))
    table = pd.concat(parts, ignore_index=True)
    table = table[table["by"] != 0]
    table["place"] = np.where(table["by"] < 0, "too high", "too low")
    grouped = table.groupby(["selection", "place"])
    counts = grouped.size()
    return pd.DataFrame({
        "share": counts / counts.groupby("selection").transform("sum"),
        "share_up": grouped["push"].agg(lambda push: (push > 0).mean()),
        "mean_grade": grouped["grade"].mean(),
    }).reset_index()  # fmt: skip


def one_step(model: GAPfm, k: int = 20, random_state=0) -> pd.DataFrame:
    """What one more step of V alone, k items a user, does to F and to the rated lists.

    Columns rule, objective and training_gap: the changes, with the model's own learning rate.
    """
    rng, problem = check_random_state(random_state), TrainingData(model.train_)
    U, V = model.user_factors_, model.item_factors_

    def measured(V: np.ndarray) -> np.ndarray:
        return np.array(
            [
                PaperObjective().gradients(problem, U, V)[0],
                rated_gap(problem, problem.scores(U, V)),
            ]
        )

    before, lists, rows = measured(V), Lists.of(problem, problem.scores(U, V)), []
    for rule, priority in RULES.items():
        marks = lists.highest(priority(lists, rng, k), k).ravel()
        by_item = PaperObjective().gradients(problem, U, V, marks=marks)[2]
        objective, gap = measured(V + model.learning_rate_ * by_item) - before
        rows.append({"rule": rule, "objective": objective, "training_gap": gap})
    return pd.DataFrame(rows)


def rated_gap(problem: TrainingData, scores: np.ndarray) -> float:
    """Mean over users of the exact GAP of their training items, ranked among themselves."""
    user_of = np.repeat(np.arange(problem.train.n_users), np.diff(problem.indptr))
    place = np.empty(scores.shape[0], dtype=np.int64)
    by_score = np.lexsort((problem.items, -scores, user_of))
    place[by_score] = 1 + np.arange(place.shape[0]) - problem.indptr[user_of]
    gap = np.empty(problem.train.n_users)
    kernels.parallel_for(
        kernels.gap_at_ranks,
        gap.size,
        place,
        problem.indptr,
        problem.grades,
        problem.delta,
        gap,
    )
    return float(np.nanmean(gap))


# ------------------------------------------------------------------ training


def _marks(lists: Lists, rule: str, rng: np.random.Generator, k: int) -> np.ndarray:
    """Marks the ratings whose items an iteration moves."""
    return lists.highest(RULES[rule](lists, rng, k), k).ravel()


def selection_run(
    train: Ratings, validation: Ratings, rule: str, k: int = 20, *,
    start: str = "normal, sd 0.01", learning_rate: float = 0.003, n_iter: int = 41,
    reg: float = 0.001, every: int = 5, random_state=0,
) -> pd.DataFrame:  # fmt: skip
    """One training in which the rule, a key of `RULES` or "all", picks k items a user.

    All users of `train` have equally many ratings; `start` is a key of `STARTS`. Columns
    iteration, objective, held_out_gap, training_gap (exact GAP of the rated lists, the mean over
    users) and up_too_high (the share of the items standing too high that (8) pushes up).
    """
    rng, draw = check_random_state(random_state), STARTS[start]
    factors = [draw(rng, (n, 10)) for n in (train.n_users, train.n_items)]

    def select(problem: TrainingData, scores: np.ndarray) -> np.ndarray:
        return _marks(Lists.of(problem, scores), rule, rng, k)

    def measure(problem: TrainingData, scores: np.ndarray) -> dict:
        lists = Lists.of(problem, scores)
        up = lists.push[lists.too_low < 0] > 0
        return {"training_gap": rated_gap(problem, scores), "up_too_high": np.mean(up)}

    return ascend(
        train, validation, factors, learning_rate=learning_rate, reg=reg, n_iter=n_iter,
        every=every, select=None if rule == "all" else select, measure=measure,
    )  # fmt: skip


def selection_rules(
    ratings: Ratings, random_states=range(5), *, rules: Sequence[str] = (*RULES, "all"),
    settings: Sequence[tuple[str, float]] = (("normal, sd 0.01", 0.003),),
    k: int = 20, n_given: int = 50, n_iter: int = 51, **options,
) -> pd.DataFrame:  # fmt: skip
    """What each rule of selection gives, for each (start, learning rate) of `settings`.

    Columns start, learning_rate, rule, random_state, held_out_gap and training_gap, both after
    `n_iter`. `options` go to `selection_run`.
    """
    rows = []
    for seed in random_states:
        train, validation, _ = split_three(ratings, n_given, random_state=seed)
        for (start, rate), rule in product(settings, rules):
            run = selection_run(
                train, validation, rule, k, start=start, learning_rate=rate, n_iter=n_iter,
                every=max(1, n_iter - 1), random_state=seed, **options,
            )  # fmt: skip
            end = run.iloc[-1][["held_out_gap", "training_gap"]].to_dict()
            keys = {"start": start, "learning_rate": rate, "rule": rule}
            rows.append(keys | {"random_state": seed} | end)
    return pd.DataFrame(rows)


def selection_visits(
    train: Ratings, rule: str, k: int = 20, *, learning_rate: float = 0.003, n_iter: int = 50,
    since: int = 20, reg: float = 0.001, random_state=0,
) -> pd.DataFrame:  # fmt: skip
    """How often each item is among the k picked, after `since` iterations of training.

    Columns title, n_ratings, weighted (Σ_m Δ(y_mi)), visited (the share of its ratings picked,
    the mean over iterations). One row an item, in item order.
    """
    rng, counts = check_random_state(random_state), []

    def select(problem: TrainingData, scores: np.ndarray) -> np.ndarray:
        marks = _marks(Lists.of(problem, scores), rule, rng, k)
        counts.append(np.bincount(problem.items, marks, minlength=train.n_items))
        return marks

    ascend(
        train, None, small_start(train, random_state), learning_rate=learning_rate, reg=reg, n_iter=n_iter, every=n_iter,
        select=select,
    )  # fmt: skip
    rated = np.bincount(train.indices, minlength=train.n_items)
    worth = cumulative_weights(thresholding_probabilities(train.max_grade))
    weighted = np.bincount(train.indices, worth[train.grades], minlength=train.n_items)
    visited = np.mean(counts[since:], axis=0) / np.maximum(rated, 1)
    columns = {"n_ratings": rated, "weighted": weighted, "visited": visited}
    return pd.DataFrame({"title": train.titles, **columns})


def selection_explorable(user: int = 2, k: int = 5) -> dict:
    """What the explorable "select" is made of: simulated ratings, Given 20, ten held out a user.

    Also one user's films, their grades, and their scores a few iterations after the small start.
    """
    ratings = simulate_ratings(300, 200, mean_ratings=45, random_state=1)
    train, held_out, _ = split_three(ratings, 20, random_state=0)
    early = GAPfm(learning_rate=0.02, n_iter=10, random_state=0).fit(train)
    items, grades = train.row(user)
    return {
        "films": [f"Invented film {item + 1}" for item in items], "grades": grades,
        "scores": early.predict(user, items).round(4), "k": k, "seed": 1,
        "nItems": train.n_items, "maxGrade": train.max_grade, "given": rows_for_page(train),
        "held": rows_for_page(held_out),
    }  # fmt: skip
