"""The degenerate optimum of (8) on real data: what rises, what falls, what becomes of the lists."""

import numpy as np
import pandas as pd

from ...metrics import graded_average_precision
from ...model import GAPfm
from ...paper import pair_weights, ranks, thresholding_probabilities
from ...ratings import Ratings
from .common import held_out_gap, trace


def supremum(train: Ratings) -> float:
    """½ Σ_m Σ_ij β_mij: the least upper bound of (9) without 1/M at λ = 0, for any order."""
    delta = thresholding_probabilities(train.max_grade)
    rows = (train.row(m)[1] for m in range(train.n_users))
    return float(sum(pair_weights(grades, delta).sum() / 2 for grades in rows))


def degeneration(
    train: Ratings, validation: Ratings, *, reg: float, learning_rate: float, n_iter: int,
    every: int, random_state=0,
) -> pd.DataFrame:  # fmt: skip
    """What a training improves and what it does not, along the iterations.

    Columns reg, iteration, objective; share_of_supremum; training_gap, exact GAP of the training
    lists by themselves; held_out_gap; top_share and agreement as in `personality`.
    """
    top = supremum(train)

    def measure(model: GAPfm) -> dict[str, float]:
        return {
            "share_of_supremum": model.history_["objective"].iloc[-1] / top,
            "training_gap": _gap_of_lists(model, train),
            "held_out_gap": held_out_gap(model, validation),
        } | personality(model)

    model = GAPfm(
        reg=reg, learning_rate=learning_rate, n_iter=n_iter, random_state=random_state,
    )  # fmt: skip
    run = trace(model, train, measure, every=every)
    run.insert(0, "reg", reg)
    return run


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


def _gap_of_lists(model: GAPfm, ratings: Ratings) -> float:
    rows = (ratings.row(m) for m in range(ratings.n_users))
    values = [
        graded_average_precision(grades, model.predict(m, items))
        for m, (items, grades) in enumerate(rows)
    ]
    return float(np.mean(values))


def _centred_ranks(scores: np.ndarray) -> np.ndarray:
    return ranks(scores) - (scores.shape[0] + 1) / 2
