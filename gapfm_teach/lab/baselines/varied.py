"""`GAPfm` with smooth ranks, of whose rated items a few move the item factors."""

from typing import cast

import numpy as np
from scipy import sparse

from ... import kernels
from ..._support.checks import check_choice, check_count, check_random_state, check_real
from ...learning.consistent import Consistent, ConsistentObjective, SampledProblem
from ...learning.objectives import OBJECTIVES, options_of
from ...ratings import Ratings
from .climber import Climber


class Varied(Climber):
    """`GAPfm` with objective "consistent" or "geometric", and Algorithm 1.

    n_selected : int K >= 1, or None for all: of how many rated items of each user the pulls move V
    and b, as in Algorithm 1; U moves by all, unrated items as ever.
    selection : "adaptive", the most misranked, or "random".
    n_factors, reg, n_iter, random_state : as of `GAPfm`, which this is when nothing is changed.
    """

    def __init__(
        self, objective: str = "geometric", *, n_selected: int | None = None, selection: str = "adaptive", n_factors: int = 10,
        reg: float | None = None, n_iter: int = 60, random_state=None,
    ):  # fmt: skip
        self.objective = check_choice(objective, "objective", ("consistent", "geometric"))
        self.n_selected = (
            None if n_selected is None else check_count(n_selected, "n_selected")
        )
        self.selection = check_choice(selection, "selection", ("adaptive", "random"))
        self.n_factors = check_count(n_factors, "n_factors")
        own = OBJECTIVES[objective].reg
        self.reg = own if reg is None else check_real(reg, "reg")
        self.n_iter = check_count(n_iter, "n_iter")
        self.random_state = random_state
        check_random_state(random_state)

    def _goal(self, train: Ratings, rng) -> tuple[ConsistentObjective, float]:
        return _Goal(self, train, rng), OBJECTIVES[self.objective].init_scale


class _Goal(ConsistentObjective):
    """The objective of a `Varied`, for `training.ascend`."""

    def __init__(self, model: Varied, train: Ratings, rng: np.random.Generator):
        name = model.objective
        options = cast(Consistent, options_of(name, {}))
        rate = OBJECTIVES[name].learning_rate
        super().__init__(name, train, model.reg, rate, options, rng)
        self.problem = _Problem(model, train, options.shape, rng)


class _Problem(SampledProblem):
    """With ∂/∂V of the ratings that a `Varied` selects."""

    def __init__(self, model: Varied, train: Ratings, shape: float, rng):
        super().__init__(train, model.objective, shape)
        self._model, self._rng = model, rng

    def sampled_gradients(self, U, V, uniforms, tau, unrated_weight) -> tuple:
        args = U, V, uniforms, tau, unrated_weight
        value, by_user, by_item = super().sampled_gradients(*args)
        model = self._model
        if model.n_selected is not None:
            marks = self.select(
                self.scores(U, V), model.n_selected, model.selection, self._rng
            )
            by_item -= self.by_ratings(~marks, *args)
        return value, by_user, by_item

    def by_ratings(self, marks, U, V, uniforms, tau, unrated_weight) -> np.ndarray:
        """What the ratings that `marks` (n_ratings,) marks contribute to ∂/∂V, (n_items, D + 1)."""
        n_users, n_items = U.shape[0], V.shape[0]
        pulls = np.empty(self.items.size)
        drawn = np.empty(uniforms.shape[1], dtype=np.int64)
        for user in range(n_users):
            row = slice(self.indptr[user], self.indptr[user + 1])
            ascending = self.train.indices[row]
            n = kernels.draw_unrated(ascending, uniforms[user], n_items, drawn)
            listed = np.concatenate([self.items[row], drawn[:n]])
            n_rated = listed.size - n
            each = unrated_weight * (n_items - n_rated) / max(1, n)
            given = self.grades[row]
            gains, share = self._gains[given], self._shares[given]
            kernels.normalize_gains(self._kind, self._shape, gains)
            slope, scratch = np.empty(listed.size), np.empty((3, listed.size))
            kernels.consistent_sums(
                V[listed] @ U[user], gains, share, self._kind, self._shape, each, tau,
                kernels.TOLERANCE, scratch, slope,
            )  # fmt: skip
            pulls[row] = slope[:n_rated]
        shape = (n_users, n_items)
        matrix = sparse.csr_array((pulls * marks, self.items, self.indptr), shape=shape)
        return matrix.T @ U
