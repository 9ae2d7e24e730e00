"""Neighbours: what people like you rated, and what is rated by the people who rated this.

All three score a user's items by a matrix of similarities of which only the largest are kept.
"""

import numpy as np
from scipy import sparse

from gapfm_teach._support.checks import check_choice, check_count, check_real
from gapfm_teach.ratings import Ratings
from gapfm_teach.training.recommender import Recommender

from ..grades import CURVES, rating_weights

ROWS_AT_ONCE = 1024


class _CosineKNN(Recommender):
    """The parameters of `ItemKNN` and `UserKNN`."""

    def __init__(self, n_neighbors: int = 80, shrinkage: float = 20.0, grades: str = "1"):
        self.n_neighbors = check_count(n_neighbors, "n_neighbors")
        self.shrinkage = check_real(shrinkage, "shrinkage")
        self.grades = check_choice(grades, "grades", CURVES)


class ItemKNN(_CosineKNN):
    """Scores Σ_j x_mj s_ji, with the cosine s_ji of two items' columns of the weighted ratings.

    x_mi = w(y_mi) for rated items and 0 elsewhere; s_ji = ⟨x_j, x_i⟩ / (‖x_j‖ ‖x_i‖ + shrinkage),
    and only the `n_neighbors` largest s_ji of each item i are kept.

    Parameters
    ----------
    n_neighbors : int >= 1.
    shrinkage : float >= 0: it draws the similarity of items with few ratings to 0.
    grades : the curve w, one of `grades.CURVES`.

    After `fit`: `similarity_` (n_items, n_items), sparse.

    Source: Sarwar et al., WWW 2001; with shrinkage as in Ferrari Dacrema et al., RecSys 2019.
    """

    def _fit(self, train: Ratings, validation: Ratings | None) -> None:
        self._rated = weighted(train, self.grades)
        self.similarity_ = cosine_neighbors(
            self._rated.T.tocsr(), self.n_neighbors, self.shrinkage
        ).T.tocsr()

    def _scores(self, user: int, items: np.ndarray | slice) -> np.ndarray:
        return (self._rated[[user]] @ self.similarity_).toarray()[0][items]


class UserKNN(_CosineKNN):
    """Scores Σ_n s_mn x_ni, with the cosine s_mn of two users' rows of the weighted ratings.

    Parameters and formula are those of `ItemKNN`, with users in place of items; a user is not
    their own neighbour.

    After `fit`: `similarity_` (n_users, n_users), sparse.

    Source: Resnick et al., CSCW 1994, for the idea; cosine and shrinkage as in `ItemKNN`.
    """

    def _fit(self, train: Ratings, validation: Ratings | None) -> None:
        self._rated = weighted(train, self.grades)
        self.similarity_ = cosine_neighbors(self._rated, self.n_neighbors, self.shrinkage)

    def _scores(self, user: int, items: np.ndarray | slice) -> np.ndarray:
        return (self.similarity_[[user]] @ self._rated).toarray()[0][items]


class RP3beta(Recommender):
    """A walk of three steps from user to item, user and item, that avoids popular items.

    With p_mi = x_mi / Σ_i x_mi and p_im = x_mi / Σ_m x_mi, s_ji = Σ_m p_jm^α p_mi^α / n_i^β,
    where n_i is the number of ratings of i. Of each j the `n_neighbors` largest s_ji are kept. The
    score is Σ_j x_mj s_ji.

    Parameters
    ----------
    n_neighbors : int >= 1.
    alpha : float > 0, the exponent of the transition probabilities.
    beta : float >= 0, how much popularity counts against an item.
    grades : the curve w of x_mi = w(y_mi), one of `grades.CURVES`.

    After `fit`: `similarity_` (n_items, n_items), sparse.

    Source: Paudel et al., ACM TiiS 7 (2017), 1; α as in Cooper et al., WWW 2014.
    """

    def __init__(
        self,
        n_neighbors: int = 80,
        alpha: float = 1.0,
        beta: float = 0.4,
        grades: str = "1",
    ):
        self.n_neighbors = check_count(n_neighbors, "n_neighbors")
        self.alpha = check_real(alpha, "alpha", low_open=True)
        self.beta = check_real(beta, "beta")
        self.grades = check_choice(grades, "grades", CURVES)

    def _fit(self, train: Ratings, validation: Ratings | None) -> None:
        self._rated = weighted(train, self.grades)
        to_item = _stochastic(self._rated).power(self.alpha)
        to_user = _stochastic(self._rated.T.tocsr()).power(self.alpha)
        popularity = np.bincount(train.indices, minlength=train.n_items)
        against = sparse.diags_array(np.maximum(popularity, 1.0) ** -self.beta)
        blocks = (
            to_user[first : first + ROWS_AT_ONCE] @ to_item @ against
            for first in range(0, train.n_items, ROWS_AT_ONCE)
        )
        largest = [
            keep_largest(without_self(block, k), self.n_neighbors)
            for k, block in enumerate(blocks)
        ]
        self.similarity_ = sparse.vstack(largest, format="csr")

    def _scores(self, user: int, items: np.ndarray | slice) -> np.ndarray:
        return (self._rated[[user]] @ self.similarity_).toarray()[0][items]


def weighted(train: Ratings, curve: str) -> sparse.csr_array:
    """x_mi = w(y_mi), (n_users, n_items), float64."""
    parts = (rating_weights(train, curve), train.indices, train.indptr)
    return sparse.csr_array(parts, shape=(train.n_users, train.n_items))


def cosine_neighbors(
    rows: sparse.csr_array, n_neighbors: int, shrinkage: float
) -> sparse.csr_array:
    """Of each row the `n_neighbors` others with the largest shrunken cosine, (n, n)."""
    norms = np.sqrt(rows.multiply(rows).sum(axis=1))
    kept = []
    for k, first in enumerate(range(0, rows.shape[0], ROWS_AT_ONCE)):
        block = (rows[first : first + ROWS_AT_ONCE] @ rows.T).tocoo()
        lengths = norms[first + block.row] * norms[block.col]
        cosine = sparse.csr_array(
            (block.data / (lengths + shrinkage), (block.row, block.col)), shape=block.shape
        )
        kept.append(keep_largest(without_self(cosine, k), n_neighbors))
    return sparse.vstack(kept, format="csr")


def without_self(block: sparse.csr_array, number: int) -> sparse.csr_array:
    """Block `number` of a square matrix, without what stands on its diagonal."""
    block = block.tocoo()
    other = block.row + number * ROWS_AT_ONCE != block.col
    parts = (block.data[other], (block.row[other], block.col[other]))
    return sparse.csr_array(parts, shape=block.shape)


def keep_largest(rows: sparse.csr_array, n: int) -> sparse.csr_array:
    """With the `n` largest values of each row alone; of equal ones those further left."""
    owner = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    order = np.lexsort((rows.indices, -rows.data, owner))
    kept = order[np.arange(order.size) - rows.indptr[owner] < n]
    parts = (rows.data[kept], (owner[kept], rows.indices[kept]))
    return sparse.csr_array(parts, shape=rows.shape)


def _stochastic(rows: sparse.csr_array) -> sparse.csr_array:
    """Each row divided by its sum."""
    total = rows.sum(axis=1)
    scale = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
    return (sparse.diags_array(scale) @ rows).tocsr()
