"""SLIM: a sparse linear model from items to items, an elastic net for each item."""

import numpy as np
from scipy import sparse

from gapfm_teach._support.checks import check_choice, check_real
from gapfm_teach.ratings import Ratings
from gapfm_teach.training.recommender import Recommender

from ..grades import CURVES
from .neighbors import weighted

TOLERANCE, MOST_ROUNDS = 1e-3, 100


class SLIM(Recommender):
    """Scores X W of min ½‖X − X W‖² + β/2 ‖W‖² + λ ‖W‖₁ with W >= 0 and diag(W) = 0.

    X (n_users, n_items) holds w(y) where a user rated an item, and 0 elsewhere. Each item that
    somebody rated is an elastic net of scikit-learn, which takes about as long as 1,000 items are
    many: the dearest system here.

    Parameters
    ----------
    l1_reg : float, λ > 0; l2_reg : float, β >= 0. Both in units of ratings.
    grades : the curve w, one of `grades.CURVES`.

    After `fit`: `weights_` (n_items, n_items), which is W, sparse.
    Needs scikit-learn, of the extra "baselines".

    Source: Ning and Karypis, ICDM 2011.
    """

    def __init__(self, l1_reg: float = 1.0, l2_reg: float = 10.0, grades: str = "1"):
        self.l1_reg = check_real(l1_reg, "l1_reg", low_open=True)
        self.l2_reg = check_real(l2_reg, "l2_reg")
        self.grades = check_choice(grades, "grades", CURVES)

    def _fit(self, train: Ratings, validation: Ratings | None) -> None:
        try:
            from sklearn.linear_model import ElasticNet
        except ImportError as error:
            raise ImportError(
                "SLIM needs scikit-learn; pip install 'gapfm-teach[baselines]'"
            ) from error
        self._rated = weighted(train, self.grades)
        both = self.l1_reg + self.l2_reg
        net = ElasticNet(
            alpha=both / train.n_users, l1_ratio=self.l1_reg / both, positive=True,
            fit_intercept=False, tol=TOLERANCE, max_iter=MOST_ROUNDS,
        )  # fmt: skip
        seen = np.unique(train.indices)
        others = self._rated[:, seen].tocsc()
        others.indices, others.indptr = (
            others.indices.astype("i4"),
            others.indptr.astype("i4"),
        )
        columns = []
        for item in range(seen.size):
            own = slice(others.indptr[item], others.indptr[item + 1])
            target = others[:, [item]].toarray()[:, 0]
            kept = others.data[own].copy()
            others.data[own] = 0.0  # an item is not learned from itself
            columns.append(sparse.csc_array(net.fit(others, target).sparse_coef_.T))
            others.data[own] = kept
        self.weights_ = _with_unseen(
            sparse.hstack(columns, format="csc"), seen, train.n_items
        )

    def _scores(self, user: int, items: np.ndarray | slice) -> np.ndarray:
        return (self._rated[[user]] @ self.weights_).toarray()[0][items]


def _with_unseen(
    weights: sparse.csc_array, seen: np.ndarray, n_items: int
) -> sparse.csr_array:
    """(n_items, n_items) from the matrix of the `seen` items."""
    entries = weights.tocoo()
    parts = (entries.data, (seen[entries.row], seen[entries.col]))
    return sparse.csr_array(parts, shape=(n_items, n_items))
