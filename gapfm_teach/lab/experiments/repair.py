"""Notebook 09: the consistent objective beside the printed one, in training and in its parts."""

import numpy as np
import pandas as pd

from ...metrics import ranks, thresholding_probabilities
from ...model import GAPfm
from ...ratings import Ratings
from ...repaired.gap import consistent_gap_gradient
from ...repaired.ranks import consistent_rank
from ...smooth import beta, logistic, smoothed_gap_gradient
from . import exponents

# ------------------------------------------------------------------ one film


def watch(
    model: GAPfm, user: int, item: int, objective: str, *, unrated_weight: float = 1.0
) -> dict[str, float]:
    """What an objective makes of a film that `user` rated, where `model` stands.

    user, item : positions; the item is one of the user's in training. objective : "paper", or one
    with smooth ranks, at τ = 1. Returns rank, among all items; believed, the rank the objective
    takes it for: 1/g(f) of (7), or R̂; pull, ∂/∂f of its score, as many times the mean upward pull
    on all ratings of training.
    """
    f, rated = model.predict(user), model.train_.row(user)[0]
    weights = np.full(f.size, unrated_weight)
    weights[rated] = 1.0
    if objective == "paper":
        believed = 1 / logistic(f[item])
    else:
        believed = consistent_rank(f, 1.0, weights)[item]
    table = exponents.pulls(model, objective=objective, unrated_weight=unrated_weight)
    mine = table[(table["user"] == user) & (table["item"] == item)]
    pull = mine["pull"].item() / table["pull"].clip(lower=0.0).mean()
    return {"rank": int(ranks(f)[item]), "believed": float(believed), "pull": float(pull)}


# ------------------------------------------------------------------ who decides


def pulls(ratings: Ratings) -> pd.DataFrame:
    """How hard each user pulls at the scores where all are 0: the length of ∂/∂f over rated items.

    A row a user; columns n_rated; printed, of (8); divided, of (8) by the user's Z; consistent, of
    `consistent_gap` at τ = 1 with all unrated items.
    """
    delta, rows = thresholding_probabilities(ratings.max_grade), []
    for user in range(ratings.n_users):
        grades = ratings.row(user)[1].astype(np.int64)
        printed = np.linalg.norm(smoothed_gap_gradient(0.0 * grades, grades, delta))
        # At 0 all unrated items are alike: one that stands for all of them does for them.
        listed = np.append(grades, 0)
        weights = np.append(np.ones(grades.size), ratings.n_items - grades.size)
        slope = consistent_gap_gradient(0.0 * listed, listed, delta, 1.0, weights)
        rows.append({
            "n_rated": grades.size,
            "printed": printed,
            "divided": printed / np.trace(beta(grades, delta)),
            "consistent": np.linalg.norm(slope[:-1]),
        })  # fmt: skip
    return pd.DataFrame(rows)
