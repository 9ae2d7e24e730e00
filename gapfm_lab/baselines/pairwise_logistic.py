"""Pairwise logistic loss weighted by grade: `GAPfm`, but for the objective."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gapfm_teach._support.checks import check_choice, check_count, check_real
from gapfm_teach.ratings import Ratings
from gapfm_teach.training.data import TrainingData
from gapfm_teach.training.objectives import user_columns
from gapfm_teach.training.sampling import IterationContext, uniforms

from ..grades import CURVES, grade_weights
from .ablation import AblationModel
from .factors import FactorModel
from .pairwise_kernels import pairwise_gradients


class PairwiseLogistic(FactorModel):
    """Matrix factors with an item bias, trained on pairs of items, the better of them by its grade.

    Minimises the sum over users of

        Σ_i v_i [Σ_j ln(1 + e^(f_j − f_i)) + w Σ_l ln(1 + e^(f_l − f_i))],   v_i = w(y_i),

    plus λ/2 (‖U‖² + ‖V‖² + ‖b‖²): i over the user's rated items, j over those with a lower grade,
    l over the unrated items; f_mi = ⟨U_m, V_i⟩ + b_i. Starts and steps as
    GAPfm(objective="consistent") does, by Adagrad, and sees the same unrated items: what is left
    between the two is the objective.

    Parameters
    ----------
    n_factors : int, D >= 1.
    reg : float, λ >= 0. The loss is a sum over the users' pairs, so what works grows with the
        data and with w: MovieLens 100K wants some 2,000 w at Given 10 and 4,000 w at Given 50.
    learning_rate : float > 0, what a coordinate moves by in the first iteration.
    n_iter : int >= 1.
    init_scale : float > 0, standard deviation of the normal start of U and V.
    n_negatives : int >= 1, unrated items of each user that an iteration sees, drawn anew, to stand
        for all of them; all where there are no more.
    unrated_weight : float, w > 0, what an unrated item counts where a rated one counts 1.
    grades : the curve w, one of `grades.CURVES`.
    random_state : None, int or numpy Generator; it draws the start and the unrated items.

    Attributes after `fit`: `user_factors_` (n_users, D), `item_factors_` (n_items, D) and
    `item_bias_` (n_items,).

    Source: the loss of a pair is that of RankNet (Burges et al., ICML 2005) and of BPR; weights,
    sums and steps are ours.
    """

    def __init__(
        self,
        n_factors: int = 10,
        *,
        reg: float = 100.0,
        learning_rate: float = 0.3,
        n_iter: int = 200,
        init_scale: float = 0.3,
        n_negatives: int = 200,
        unrated_weight: float = 0.05,
        grades: str = "y",
        random_state=None,
    ):
        super().__init__(n_factors, reg, n_iter, random_state)
        self.grades = check_choice(grades, "grades", CURVES)
        self.learning_rate = check_real(learning_rate, "learning_rate", low_open=True)
        self.init_scale = check_real(init_scale, "init_scale", low_open=True)
        self.n_negatives = check_count(n_negatives, "n_negatives")
        self.unrated_weight = check_real(unrated_weight, "unrated_weight", low_open=True)

    def _fit(self, train: Ratings, validation: Ratings | None) -> None:
        inner = AblationModel(
            PairwiseLoss(self.n_negatives, self.unrated_weight, self.grades), self.n_factors,
            reg=self.reg, learning_rate=self.learning_rate, init_scale=self.init_scale, n_iter=self.n_iter,
            random_state=self.random_state,
        ).fit(train)  # fmt: skip
        self.user_factors_ = inner.user_factors_[:, :-1]
        self.item_factors_ = inner.item_factors_[:, :-1]
        self.item_bias_ = inner.item_factors_[:, -1]

    def _scores(self, user: int, items: np.ndarray | slice) -> np.ndarray:
        return self.item_factors_[items] @ self.user_factors_[user] + self.item_bias_[items]


@dataclass(frozen=True)
class PairwiseLoss:
    """The loss, its sign changed, as an objective; there is no temperature in it."""

    n_negatives: int
    unrated_weight: float
    grades: str = "y"

    name: ClassVar[str] = "pairwise"
    has_bias: ClassVar[bool] = True
    in_turn: ClassVar[bool] = False

    def gradients(self, data: TrainingData, U, V, context: IterationContext, marks=None):
        rows = user_columns(U, self.has_bias)
        by_user, by_item = np.empty_like(rows), np.empty_like(V)
        drawn = uniforms(context, self.n_negatives, V.shape[0])
        loss = pairwise_gradients(
            rows, V, data.indptr, data.items, data.grades,
            grade_weights(self.grades, data.train.max_grade), data.train.indices, drawn,
            self.unrated_weight, by_user, by_item,
        )  # fmt: skip
        return -loss, by_user[:, :-1], by_item
