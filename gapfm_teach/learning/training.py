"""The ground under `GAPfm.fit`: ratings laid out for the kernels, and the loop of Algorithm 2."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import kernels
from ..metrics import accumulated, thresholding_probabilities
from ..ratings import Ratings
from .machine import progress, work

State = dict[str, np.ndarray]  # where a training stands: arrays by name

_MODEST_RATE = 0.1  # a tenth of a huge rate is no advice
_MOST_BLOCKS = 64
_BLOCK_BYTES = 2**28  # for all the blocks' copies of ∂F/∂V, where there is more than one


class Problem:
    """Ratings in the kernels' layout, to ask for (9) and its gradients at any factors.

    The users are cut into blocks of about equal work, and each block adds up its own ∂F/∂V: the
    cuts depend on the ratings alone, so no sum depends on the number of threads.
    """

    def __init__(self, train: Ratings):
        self.train = train
        self.delta = thresholding_probabilities(train.max_grade)
        self.accumulated = accumulated(self.delta)
        self.indptr = train.indptr
        self.items = np.empty_like(train.indices)
        self.grades = np.empty_like(train.grades)
        self._each_user(
            kernels.arrange_by_grade, train.indptr, train.indices, train.grades,
            train.max_grade, self.items, self.grades,
        )  # fmt: skip
        longest = np.diff(train.indptr).max(initial=0)
        self._tolerance = kernels.TOLERANCE if longest > kernels.FEWEST_BY_NODES else None

    def blocks(self, n_factors: int) -> np.ndarray:
        """First user of each block, and n_users: (number of blocks + 1,).

        Few blocks where adding up their copies of ∂F/∂V would cost more than filling them.
        """
        train = self.train
        n_blocks = min(
            _MOST_BLOCKS,
            train.n_ratings // (2 * train.n_items),
            _BLOCK_BYTES // (8 * train.n_items * n_factors),
        )
        done = np.cumsum(work(train))
        cuts = done[-1] / max(1, n_blocks) * np.arange(1, n_blocks)
        return np.concatenate([[0], 1 + np.searchsorted(done, cuts), [train.n_users]])

    def gradients(
        self, U, V, reg: float, *, n_selected: int | None = None,
        inner_selected: bool = False, marks: np.ndarray | None = None,
    ) -> tuple[float, np.ndarray, np.ndarray]:  # fmt: skip
        """F, (9) without 1/M; ∂F/∂U (10), (n_users, D); and ∂F/∂V (11), (n_items, D).

        ∂F/∂V comes from all ratings, from the `n_selected` most misranked of each user
        (Algorithm 1), or from those that `marks` (n_ratings,) marks.
        """
        blocks = self.blocks(V.shape[1])
        values, by_user = np.empty(U.shape[0]), np.empty_like(U)
        parts = np.empty((blocks.size - 1, *V.shape))
        selection = None
        if marks is not None or n_selected is not None:
            none = np.empty(0, dtype=np.bool_)
            selection = (
                self.train.grades, none if marks is None else marks, n_selected or 0,
                inner_selected,
            )  # fmt: skip
        kernels.share_out(
            kernels.gradients, blocks.size - 1, U, V, self.indptr, self.items, self.grades,
            self.accumulated, blocks, self._tolerance, selection, values, by_user, parts,
        )  # fmt: skip
        value = values.sum() - reg / 2 * (np.sum(U**2) + np.sum(V**2))
        return float(value), by_user - reg * U, parts.sum(axis=0) - reg * V

    def scores(self, U, V) -> np.ndarray:
        """f of (1) for every rating, (n_ratings,)."""
        scores = np.empty(self.items.shape[0])
        self._each_user(kernels.score_rated, U, V, self.indptr, self.items, scores)
        return scores

    def coefficients(self, scores: np.ndarray) -> np.ndarray:
        """∂F/∂f for every rating, (n_ratings,), at their `scores`."""
        coefficients = np.empty(self.items.shape[0])
        self._each_user(
            kernels.user_coefficients, scores, self.indptr, self.grades, self.accumulated,
            self._tolerance, coefficients,
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
            self._each_user(kernels.misranking, scores, *rows, priority)
        self._each_user(kernels.select_highest, priority, *rows, k, selected)
        return selected

    def _each_user(self, kernel, *arguments) -> None:
        kernels.share_out(kernel, self.train.n_users, *arguments)


def held_out_gap(U, V, train: Ratings, held_out: Ratings) -> float:
    """Mean GAP over users of held-out items among all items not in training; nan without any.

    U (n_users, D), V (n_items, D): factors whose products are the scores.
    """
    ranks = np.empty(held_out.n_ratings, dtype=np.int64)
    users, delta = held_out.n_users, thresholding_probabilities(train.max_grade)
    kernels.share_out(
        kernels.held_out_ranks, users, U, V.T.copy(), train.indptr, train.indices,
        held_out.indptr, held_out.indices, ranks,
    )  # fmt: skip
    gap = np.empty(users)
    kernels.share_out(
        kernels.gap_at_ranks, users, ranks, held_out.indptr, held_out.grades, delta, gap
    )
    return float(np.nanmean(gap)) if np.isfinite(gap).any() else float("nan")


class Iteration(NamedTuple):
    """What one turn of `ascend` came to: its number, from 1 on; where training then stands; the
    objective there; and the length of the step that led there."""

    number: int
    state: Any
    objective: float
    moved: float


def ascend(goal, state, *, first: int = 1, n_iter: int) -> Iterator[Iteration]:
    """Iterations `first` to `n_iter` of gradient ascent from `state`: the loop of Algorithm 2.

    `goal` : an objective, see `objectives`. Raises FloatingPointError, naming the iteration and
    a smaller learning rate, where a value is no longer finite.
    """
    _, gradient = goal.gradients(state, first)
    for number in progress(first, n_iter):
        with np.errstate(over="ignore", invalid="ignore"):
            new, moved = goal.step(state, gradient, number)
            objective, gradient = goal.gradients(new, number + 1)
        if not np.isfinite(objective):
            raise diverged(number, goal.learning_rate)
        yield Iteration(number, new, objective, moved)
        state = new


def distance(new: State, old: State, names: Sequence[str]) -> float:
    """How far the arrays called `names` have moved."""
    return float(np.sqrt(sum(np.sum((new[name] - old[name]) ** 2) for name in names)))


def diverged(iteration: int, rate: float) -> FloatingPointError:
    """The error of a training whose values in `iteration` are no longer finite."""
    kept = f"The factors of iteration {iteration - 1} are kept"
    return FloatingPointError(
        f"training left the finite numbers in iteration {iteration}; try a learning_rate "
        f"below {rate:g}, such as {min(rate / 10, _MODEST_RATE):g} or 'auto', and should that "
        "not help, milder values of what else is far from its default (reg, init_scale, "
        "temperature, unrated_weight). "
        + (kept if iteration > 1 else "The model stays as it was before")
    )
