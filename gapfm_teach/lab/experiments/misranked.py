"""Most misranked items: what Appendix C says of one list, and what a step of training does to it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ... import kernels
from ..._support.checks import check_random_state
from ...model import GAPfm
from ...paper import cumulative_weights, thresholding_probabilities
from ...ratings import Ratings
from ...training.data import TrainingData
from ...training.objectives import PaperObjective


@dataclass(frozen=True)
class Lists:
    """The rated items of users with equally many, S, as (n_users, S) arrays.

    `push` is ∂F/∂f of (8) at `scores`. Places in a row are those of the problem, in descending
    order of grade; `ties` holds them in the order in which ties are broken, that of the items.
    """

    scores: np.ndarray
    grades: np.ndarray
    push: np.ndarray
    ties: np.ndarray

    @classmethod
    def of(cls, problem: TrainingData, scores: np.ndarray) -> "Lists":
        """Of the `scores` of its ratings, (n_ratings,).

        Raises ValueError where users have different numbers of ratings.
        """
        sizes = np.diff(problem.indptr)
        if (sizes != sizes[0]).any():
            raise ValueError(
                f"users must have equally many ratings, got {sizes.min()} to {sizes.max()}; "
                "make the training part with split_given or split_three"
            )
        shape = (problem.train.n_users, -1)
        ties = np.argsort(problem.items.reshape(shape), axis=1)
        parts = scores, problem.grades.astype(np.int64), problem.coefficients(scores)
        scores, grades, push = (part.reshape(shape) for part in parts)
        return cls(scores, grades, push, ties)

    def from_the_highest(self, values: np.ndarray) -> np.ndarray:
        """Places in the row from the highest value down."""
        given = np.take_along_axis(values, self.ties, axis=1)
        order = np.argsort(-given, axis=1, kind="stable")
        return np.take_along_axis(self.ties, order, axis=1)

    @property
    def too_low(self) -> np.ndarray:
        """By how many ranks each item stands below its due rank; < 0 where it stands above."""
        return self._ranks(self.scores) - self._ranks(self.grades)

    def _ranks(self, values: np.ndarray) -> np.ndarray:
        rank = np.empty(values.shape, dtype=np.int16)  # short: sorted several times
        each = np.arange(values.shape[1], dtype=np.int16)[None, :]
        np.put_along_axis(rank, self.from_the_highest(values), each, axis=1)
        return rank

    def highest(self, priority: np.ndarray, k: int) -> np.ndarray:
        """Marks the k highest of each row."""
        marks = np.zeros(priority.shape, dtype=bool)
        best = self.from_the_highest(priority)[:, :k]
        np.put_along_axis(marks, best, True, axis=1)
        return marks


def _same_grades(lists: Lists, rng: np.random.Generator, k: int) -> np.ndarray:
    """High for as many random items of each grade as Algorithm 1 picks of it."""
    picked = lists.highest(np.abs(lists.too_low), k)
    drawn = rng.random(lists.grades.shape)
    priority = np.zeros(lists.grades.shape)
    for grade in range(1, int(lists.grades.max()) + 1):
        here = lists.grades == grade
        place = np.argsort(np.argsort(np.where(here, drawn, 2.0), axis=1), axis=1)
        priority[here & (place < np.sum(picked & here, axis=1, keepdims=True))] = 1.0
    return priority


def _ties_by_score(lists: Lists, rng: np.random.Generator, k: int) -> np.ndarray:
    """Marks what Algorithm 1 picks where equal grades and distances are in the model's order."""
    other = replace(lists, ties=np.argsort(-lists.scores, axis=1, kind="stable"))
    return other.highest(np.abs(other.too_low), k).astype(float)


Rule = Callable[[Lists, np.random.Generator, int], np.ndarray]
# What to sort by, highest first, to pick k items of each row.
# Algorithm 1 is "most misranked"; "random, same grades" copies how many of each grade it picks.
RULES: dict[str, Rule] = {
    "random": lambda lists, rng, k: rng.random(lists.scores.shape),
    "most misranked": lambda lists, rng, k: np.abs(lists.too_low),
    "ties by score": _ties_by_score,
    "most too low": lambda lists, rng, k: lists.too_low,
    "most too high": lambda lists, rng, k: -lists.too_low,
    "highest grades": lambda lists, rng, k: lists.grades + rng.random(lists.scores.shape),
    "random, same grades": _same_grades,
}


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


def one_step(model: GAPfm, k: int = 20, random_state=0) -> pd.DataFrame:
    """What one more step of V alone, k items a user, does to F and to the rated lists.

    Columns rule, objective and training_gap: the changes, with the model's own learning rate.
    """
    rng, problem = check_random_state(random_state), TrainingData(model.train_)
    paper = PaperObjective()
    U, V = model.user_factors_, model.item_factors_

    def measured(V: np.ndarray) -> np.ndarray:
        return np.array(
            [paper.gradients(problem, U, V)[0], rated_gap(problem, problem.scores(U, V))]
        )

    before, lists, rows = measured(V), Lists.of(problem, problem.scores(U, V)), []
    for rule, priority in RULES.items():
        marks = lists.highest(priority(lists, rng, k), k).ravel()
        by_item = paper.gradients(problem, U, V, marks=marks)[2]
        objective, gap = measured(V + model.learning_rate_ * by_item) - before
        rows.append({"rule": rule, "objective": objective, "training_gap": gap})
    return pd.DataFrame(rows)
