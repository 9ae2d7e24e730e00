"""BPR: rated items above unrated ones, a pair at a time."""

import numpy as np

from gapfm_teach._support.checks import check_choice, check_random_state, check_real
from gapfm_teach.ratings import Ratings

from ..grades import CURVES, rating_weights
from .factors import FactorModel
from .pairwise_kernels import step_pairs

INIT_SCALE = 0.1
PAIRS_AT_ONCE = 2**20  # drawn together: 16 bytes each


class BPR(FactorModel):
    """Matrix factors with an item bias, trained so that rated items score above unrated ones.

    Stochastic gradient ascent on the sum of

        ln g(f_mi − f_mj) − λ/2 (‖U_m‖² + ‖V_i‖² + ‖V_j‖² + b_i² + b_j²),   f_mi = ⟨U_m, V_i⟩ + b_i,

    a pair at a time: (m, i) is one of the ratings, drawn in proportion to w(y_mi), and j any item
    that m did not rate, each as likely as every other.

    Parameters
    ----------
    n_factors : int, D >= 1.
    reg, learning_rate : float, λ >= 0 and γ > 0; both stay the same throughout.
    n_iter : int >= 1, each with as many pairs as there are ratings.
    grades : the curve w, one of `grades.CURVES`; "1" is the original, whatever the grade.
    random_state : None, int or numpy Generator; it draws the start, normal with deviation 0.1,
        and the pairs.

    Attributes after `fit`: `user_factors_` (n_users, D), `item_factors_` (n_items, D) and
    `item_bias_` (n_items,).

    Source: Rendle et al., "BPR: Bayesian Personalized Ranking from Implicit Feedback", UAI 2009,
    Figure 4 and section 4.3.1; the item bias is not in it, but usual.
    """

    def __init__(
        self,
        n_factors: int = 10,
        *,
        reg: float = 0.07,
        learning_rate: float = 0.01,
        n_iter: int = 300,
        grades: str = "1",
        random_state=None,
    ):
        super().__init__(n_factors, reg, n_iter, random_state)
        self.grades = check_choice(grades, "grades", CURVES)
        self.learning_rate = check_real(learning_rate, "learning_rate", low_open=True)

    def _fit(self, train: Ratings, validation: Ratings | None) -> None:
        rng = check_random_state(self.random_state)
        U = rng.normal(0.0, INIT_SCALE, (train.n_users, self.n_factors))
        V = rng.normal(0.0, INIT_SCALE, (train.n_items, self.n_factors))
        b = np.zeros(train.n_items)
        users = np.repeat(np.arange(train.n_users), np.diff(train.indptr))
        up_to = np.cumsum(rating_weights(train, self.grades))
        left = self.n_iter * train.n_ratings
        while left > 0:
            n = min(left, PAIRS_AT_ONCE)
            drawn = np.searchsorted(up_to, up_to[-1] * rng.random(n), side="right")
            uniforms = rng.random(n)
            step_pairs(
                U, V, b, users, train.indices, train.indptr, drawn, uniforms,
                self.learning_rate, self.reg,
            )  # fmt: skip
            left -= n
        self._refuse_non_finite(U, V, b)
        self.user_factors_, self.item_factors_, self.item_bias_ = U, V, b

    def _scores(self, user: int, items: np.ndarray | slice) -> np.ndarray:
        return self.item_factors_[items] @ self.user_factors_[user] + self.item_bias_[items]
