"""Ratings laid out for the kernels, with what they can tell of any factors."""

import numpy as np

from .. import kernels
from ..paper import cumulative_weights, thresholding_probabilities
from ..ratings import Ratings
from .machine import work

_MOST_BLOCKS = 64
_BLOCK_BYTES = 2**28  # for all the blocks' copies of ∂F/∂V, where there is more than one


class TrainingData:
    """Ratings in the kernels' layout: each user's items in descending order of their grades.

    The users are cut into blocks of about equal work, and each block adds up its own ∂F/∂V: the
    cuts depend on the ratings alone, so no sum depends on the number of threads.
    """

    def __init__(self, train: Ratings):
        self.train = train
        self.delta = thresholding_probabilities(train.max_grade)
        self.cumulative_weights = cumulative_weights(self.delta)
        self.indptr = train.indptr
        self.items = np.empty_like(train.indices)
        self.grades = np.empty_like(train.grades)
        self.for_each_user(
            kernels.arrange_by_grade, train.indptr, train.indices, train.grades,
            train.max_grade, self.items, self.grades,
        )  # fmt: skip
        self.longest = int(np.diff(train.indptr).max(initial=0))  # ratings of a user
        many = self.longest > kernels.FEWEST_BY_NODES
        self.tolerance = kernels.TOLERANCE if many else None

    def blocks(self, n_columns: int) -> np.ndarray:
        """First user of each block, and n_users: (number of blocks + 1,).

        Few blocks where adding up their copies of ∂F/∂V, of `n_columns`, would cost more than
        filling them.
        """
        train = self.train
        n_blocks = min(
            _MOST_BLOCKS,
            train.n_ratings // (2 * train.n_items),
            _BLOCK_BYTES // (8 * train.n_items * n_columns),
        )
        done = np.cumsum(work(train))
        cuts = done[-1] / max(1, n_blocks) * np.arange(1, n_blocks)
        return np.concatenate([[0], 1 + np.searchsorted(done, cuts), [train.n_users]])

    def add_up(self, kernel, n_blocks: int, U, V, *arguments) -> tuple:
        """What `kernel(begin, end, U, V, *arguments, values, by_user, by_item)` finds for the
        blocks of users begin..end - 1, added up: a value, and its gradients as U and V have it."""
        values, by_user = np.empty(U.shape[0]), np.empty_like(U)
        parts = np.empty((n_blocks, *V.shape))
        kernels.parallel_for(kernel, n_blocks, U, V, *arguments, values, by_user, parts)
        return float(values.sum()), by_user, parts.sum(axis=0)

    def scores(self, U, V) -> np.ndarray:
        """f of (1) for every rating, (n_ratings,)."""
        scores = np.empty(self.items.shape[0])
        self.for_each_user(kernels.score_rated, U, V, self.indptr, self.items, scores)
        return scores

    def coefficients(self, scores: np.ndarray) -> np.ndarray:
        """∂F/∂f of (8) for every rating, (n_ratings,), at their `scores`."""
        coefficients = np.empty(self.items.shape[0])
        self.for_each_user(
            kernels.user_coefficients, scores, self.indptr, self.grades,
            self.cumulative_weights, self.tolerance, coefficients,
        )  # fmt: skip
        return coefficients

    def select(self, scores: np.ndarray, k: int, selection: str, rng) -> np.ndarray:
        """Marks k ratings of each user, (n_ratings,): the most misranked ones, or any k."""
        selected = np.ones(self.items.shape[0], dtype=np.bool_)
        rows = self.indptr, self.train.grades, self.train.max_grade
        if selection == "random":
            priority = rng.random(self.items.shape[0])
        else:
            priority = np.empty(self.items.shape[0])
            self.for_each_user(kernels.misranking, scores, *rows, priority)
        self.for_each_user(kernels.select_highest, priority, *rows, k, selected)
        return selected

    def for_each_user(self, kernel, *arguments) -> None:
        kernels.parallel_for(kernel, self.train.n_users, *arguments)
