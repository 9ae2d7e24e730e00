"""`GAPfm` with the consistent or geometric objective, and a curve of its own for the grades."""

from dataclasses import replace

import numpy as np

from gapfm_teach._support.checks import check_choice, check_real
from gapfm_teach.ratings import Ratings
from gapfm_teach.training.objectives import SMOOTH_RANKS

from ..grades import CURVES, grade_weights
from .ablation import AblationModel
from .factors import FactorModel


class GradedGAPfm(FactorModel):
    """`GAPfm`, but for how much a grade counts.

    Parameters
    ----------
    n_factors, reg, n_iter, random_state : as of `GAPfm`.
    objective : "consistent" or "geometric".
    unrated_weight : float > 0, as of `GAPfm`.
    grades : the curve w, one of `grades.CURVES`. In "consistent" it replaces the gains Δ, in
        "geometric" the weights v of the logarithms, scaled to 1 on average over the ratings. With "Δ"
        and "y" they are `GAPfm`'s own, but for that scale.

    Attributes after `fit`: `user_factors_` (n_users, D + 1), the last column 1, and
    `item_factors_` (n_items, D + 1), the last column b.
    """

    def __init__(
        self, n_factors: int = 10, *, objective: str = "geometric", reg: float = 2.5,
        unrated_weight: float = 0.1, grades: str = "y", n_iter: int = 50, random_state=None,
    ):  # fmt: skip
        super().__init__(n_factors, reg, n_iter, random_state)
        self.objective = check_choice(objective, "objective", ("consistent", "geometric"))
        self.unrated_weight = check_real(unrated_weight, "unrated_weight", low_open=True)
        self.grades = check_choice(grades, "grades", CURVES)

    def _fit(self, train: Ratings, validation: Ratings | None) -> None:
        own = SMOOTH_RANKS[self.objective]
        mean = grade_weights(self.grades, train.max_grade)[train.grades].mean()
        weights = lambda max_grade: grade_weights(self.grades, max_grade) / mean  # noqa: E731
        if self.objective == "consistent":
            graded = replace(own, gains=weights, unrated_weight=self.unrated_weight)
        else:
            graded = replace(own, item_weights=weights, unrated_weight=self.unrated_weight)
        inner = AblationModel(
            graded, self.n_factors,
            reg=self.reg, learning_rate=own.learning_rate, init_scale=own.init_scale,
            n_iter=self.n_iter, random_state=self.random_state,
        ).fit(train)  # fmt: skip
        self._refuse_non_finite(inner.user_factors_, inner.item_factors_)
        self.user_factors_, self.item_factors_ = inner.user_factors_, inner.item_factors_

    def _scores(self, user: int, items: np.ndarray | slice) -> np.ndarray:
        return self.item_factors_[items] @ self.user_factors_[user]
