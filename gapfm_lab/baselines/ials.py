"""Implicit ALS: rated items should score 1, all others 0, and higher grades with more confidence."""

import numpy as np
from scipy import sparse

from gapfm_teach._support.checks import check_choice, check_random_state, check_real
from gapfm_teach.ratings import Ratings

from ..grades import CURVES
from .factors import FactorModel
from .neighbors import weighted


class IALS(FactorModel):
    """Weighted matrix factors by alternating exact solves.

    Minimises Σ_rated w(y_mi) (1 − f_mi)² + α₀ Σ_all (p_mi − f_mi)² + Σ_m λ_m ‖U_m‖² + Σ_i λ_i ‖V_i‖²
    with f_mi = ⟨U_m, V_i⟩, p = 1 for rated items and 0 elsewhere. λ_m = λ (c_m / mean c_m)^ν with
    c_m = Σ_i (w(y_mi) + α₀), and λ_i likewise: ν = 0 is plain λ, and with ν = 1 active users and
    popular items are held back by more.

    Parameters
    ----------
    n_factors : int >= 1.
    reg : float, λ > 0.
    unobserved_weight : float, α₀ > 0; with c = 1 + α w(y) in place of w(y) and 1 in place of α₀, it is
        1 / α, and λ is theirs divided by α.
    grades : the curve w, one of `grades.CURVES`.
    exponent : float, ν >= 0; 0, 0.5 or 1 are usual.
    n_iter : int >= 1; each solves for all users, then for all items.
    random_state : None, int or numpy Generator; it draws the start, normal with deviation
        0.1 / √D.

    Attributes after `fit`: `user_factors_` (n_users, D), `item_factors_` (n_items, D).

    Source: Hu, Koren and Volinsky, ICDM 2008, where c = 1 + α y; α₀, ν and the start are those of
    Rendle et al., "Revisiting the Performance of iALS on Item Recommendation Benchmarks",
    RecSys 2022.
    """

    def __init__(
        self,
        n_factors: int = 10,
        *,
        reg: float = 3.0,
        unobserved_weight: float = 0.1,
        grades: str = "y",
        exponent: float = 0.0,
        n_iter: int = 15,
        random_state=None,
    ):
        super().__init__(n_factors, reg, n_iter, random_state)
        check_real(reg, "reg", low_open=True)
        self.unobserved_weight = check_real(
            unobserved_weight, "unobserved_weight", low_open=True
        )
        self.grades = check_choice(grades, "grades", CURVES)
        self.exponent = check_real(exponent, "exponent")

    def _fit(self, train: Ratings, validation: Ratings | None) -> None:
        rng = check_random_state(self.random_state)
        by_user = weighted(train, self.grades)
        by_item = by_user.T.tocsr()
        reg_users, reg_items = self._scaled(by_user), self._scaled(by_item)
        scale = 0.1 / np.sqrt(self.n_factors)
        V = rng.normal(0.0, scale, (train.n_items, self.n_factors))
        V[np.diff(by_item.indptr) == 0] = 0.0
        for _ in range(self.n_iter):
            U = solve(by_user, V, self.unobserved_weight, reg_users)
            V = solve(by_item, U, self.unobserved_weight, reg_items)
        self._refuse_non_finite(U, V)
        self.user_factors_, self.item_factors_ = U, V

    def _scaled(self, rated: sparse.csr_array) -> np.ndarray:
        """λ of each row."""
        total = rated.sum(axis=1) + self.unobserved_weight * rated.shape[1]
        return self.reg * (total / total.mean()) ** self.exponent

    def _scores(self, user: int, items: np.ndarray | slice) -> np.ndarray:
        return self.item_factors_[items] @ self.user_factors_[user]


def solve(
    rated: sparse.csr_array, factors: np.ndarray, unobserved_weight: float, reg: np.ndarray
) -> np.ndarray:
    """The rows that minimise the loss for given `factors` F (n, D) of the other side, (m, D).

    rated : w(y), (m, n), sparse; reg : (m,). The system of a row is
    (α₀FᵀF + Σ_j w_j f_j f_jᵀ + λI) x = Σ_j (w_j + α₀) f_j, the sums over what is rated: without any,
    x is 0.
    """
    d = factors.shape[1]
    known, some = np.flatnonzero(factors.any(axis=1)), np.flatnonzero(np.diff(rated.indptr))
    among = rated[some][:, known]
    squares = (factors[known, :, None] * factors[known, None, :]).reshape(-1, d * d)
    left = (among @ squares).reshape(-1, d, d)
    left += unobserved_weight * (factors.T @ factors) + reg[some, None, None] * np.eye(d)
    targets = rated[some]
    targets.data += unobserved_weight
    rows = np.zeros((rated.shape[0], d))
    rows[some] = np.linalg.solve(left, (targets @ factors)[:, :, None])[:, :, 0]
    return rows
