"""EASE^R: a linear model from items to items, learned in closed form."""

import numpy as np

from gapfm_teach._support.checks import check_choice, check_real
from gapfm_teach.ratings import Ratings
from gapfm_teach.training.recommender import Recommender

from ..grades import CURVES
from .neighbors import weighted


class EASE(Recommender):
    """Scores X B of the least-squares problem min ‖X − X B‖² + λ‖B‖² with diag(B) = 0.

    X (n_users, n_items) holds w(y) where a user rated an item, and 0 elsewhere; with w = 1 it is
    the paper's form for implicit data. With P = (XᵀX + λI)⁻¹ the solution is
    B_ij = −P_ij / P_jj off the diagonal.

    Parameters
    ----------
    reg : float, λ > 0; in units of ratings, so tens to thousands. `fit` raises ValueError where it
        vanishes beside the ratings.
    grades : the curve w, one of `grades.CURVES`.

    After `fit`: `weights_` (n_items, n_items), which is B. It is dense, 8 n_items² bytes, and fitting
    holds about three such matrices for the items that somebody rated.

    Source: Steck, "Embarrassingly Shallow Autoencoders for Sparse Data", WWW 2019, (8).
    """

    def __init__(self, reg: float = 100.0, grades: str = "1"):
        self.reg = check_real(reg, "reg", low_open=True)
        self.grades = check_choice(grades, "grades", CURVES)

    def _fit(self, train: Ratings, validation: Ratings | None) -> None:
        # An item that nobody rated has no part in B but on the diagonal, which is 0.
        seen = np.unique(train.indices)
        self._rated = weighted(train, self.grades)
        rated = self._rated[:, seen]
        gram = (rated.T @ rated).toarray()
        gram[np.diag_indices_from(gram)] += self.reg
        try:
            inverse = np.linalg.inv(gram)
        except np.linalg.LinAlgError:
            raise ValueError(
                f"reg={self.reg:g} is too small for these ratings; try 100 times more"
            ) from None
        weights = inverse / -np.diag(inverse)
        np.fill_diagonal(weights, 0.0)
        self.weights_ = np.zeros((train.n_items, train.n_items))
        self.weights_[np.ix_(seen, seen)] = weights

    def _scores(self, user: int, items: np.ndarray | slice) -> np.ndarray:
        row = self._rated[[user]]
        return row.data @ self.weights_[row.indices][:, items]
