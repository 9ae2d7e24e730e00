"""Which items of a user's rated list are selected: Algorithm 1 and the rules beside it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gapfm_teach.training.data import TrainingData


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
