"""How far the lists of a model's users differ."""

import numpy as np

from gapfm_teach.model import GAPfm
from gapfm_teach.paper import ranks


def personality(model: GAPfm) -> dict[str, float]:
    """How far the users' lists differ: `top_share` and `agreement`.

    top_share: the first squared singular value of the scores as a share of their sum. agreement:
    the median over users of Spearman's correlation of their scores with the average user's.
    """
    U, V = _rows(model)
    scores = U @ V.T
    average = _centred_ranks(scores.mean(axis=0))
    spearman = [
        mine @ average / np.linalg.norm(mine) / np.linalg.norm(average)
        for mine in map(_centred_ranks, scores)
    ]
    squares = singular_directions(model)[1] ** 2
    return {
        "top_share": float(squares[0] / squares.sum()),
        "agreement": float(np.median(spearman)),
    }


def singular_directions(model: GAPfm) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A (n_users, D), σ (D,) descending and B (n_items, D) with scores A diag(σ) Bᵀ.

    A's and B's columns have length 1, and each column of B a sum >= 0. D + 1 for D where there
    are item biases.
    """
    U, V = _rows(model)
    q_users, r_users = np.linalg.qr(U)
    q_items, r_items = np.linalg.qr(V)
    left, sigma, right = np.linalg.svd(r_users @ r_items.T)
    A, B = q_users @ left, q_items @ right.T
    sign = np.where(B.sum(axis=0) < 0, -1.0, 1.0)
    return A * sign, sigma, B * sign


def _rows(model: GAPfm) -> tuple[np.ndarray, np.ndarray]:
    """U and V, or (U, 1) and (V, b) where there are item biases: all scores are U Vᵀ."""
    if model.objective == "paper":
        return model.user_factors_, model.item_factors_
    ones = np.ones(model.user_factors_.shape[0])
    return (
        np.column_stack([model.user_factors_, ones]),
        np.column_stack([model.item_factors_, model.item_bias_]),
    )


def _centred_ranks(scores: np.ndarray) -> np.ndarray:
    return ranks(scores) - (scores.shape[0] + 1) / 2
