"""Figure 1, the step γ, and the directions in which small factors grow."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import sparse

from gapfm_teach.model import GAPfm
from gapfm_teach.paper import pair_weights, thresholding_probabilities
from gapfm_teach.ratings import Ratings

from .common import LEARNING_RATES, held_out_gap, split_three, tidy, trace


def effectiveness(
    ratings: Ratings, n_given: Sequence[int] = (10, 20, 30), random_states=range(5), *,
    learning_rates=LEARNING_RATES, n_iter: int = 60, every: int = 2, **options,
) -> pd.DataFrame:  # fmt: skip
    """Figure 1: held-out GAP along the iterations, for each Given-N and seed.

    The seed draws split and start; `learning_rates` maps N to γ; `options` go to GAPfm.
    Columns n_given, random_state, iteration, objective, held_out_gap.
    """
    runs = []
    for n in n_given:
        for seed in random_states:
            train, validation, _ = split_three(ratings, n, random_state=seed)
            search = learning_rate_search(
                train, validation, [learning_rates[n]], n_iter=n_iter, every=every,
                random_state=seed, **options,
            )  # fmt: skip
            run = search.drop(columns="learning_rate")
            runs.append(run.assign(n_given=n, random_state=seed))
    return tidy(runs, ["n_given", "random_state"])


def learning_rate_search(
    train: Ratings, validation: Ratings, learning_rates: Sequence[float], *, n_iter: int = 60,
    every: int = 2, random_state=0, **options,
) -> pd.DataFrame:  # fmt: skip
    """Held-out GAP along the iterations for each step γ, from the same start.

    `options` go to GAPfm. Columns learning_rate, iteration, objective, held_out_gap.
    """
    runs = []
    for rate in learning_rates:
        model = GAPfm(
            learning_rate=rate, n_iter=n_iter, random_state=random_state, **options,
        )  # fmt: skip
        run = trace(
            model,
            train,
            lambda m: {"held_out_gap": held_out_gap(m, validation)},
            every=every,
        )
        runs.append(run.assign(learning_rate=rate))
    return tidy(runs, ["learning_rate"])


def escape_matrix(train: Ratings) -> sparse.csr_array:
    """C, (n_users, n_items), with C_mi = ⅛ Σ_j β_mij over the rated items j, else 0.

    Near f = 0, ∂F/∂f_mi is C_mi, so the gradients (10) and (11) are C V and Cᵀ U: small factors
    grow along C's first singular vectors by 1 + γ σ_max(C) an iteration.
    """
    delta = thresholding_probabilities(train.max_grade)
    pulls = [
        pair_weights(train.row(m)[1], delta).sum(axis=1) / 8 for m in range(train.n_users)
    ]
    parts = (np.concatenate(pulls), train.indices.copy(), train.indptr.copy())
    return sparse.csr_array(parts, shape=(train.n_users, train.n_items))


def top_direction(C: sparse.csr_array) -> tuple[float, np.ndarray, np.ndarray]:
    """σ_max of C and its singular vectors, (n_users,) and (n_items,), with sums >= 0."""
    # A fixed first vector: the solver's own is random.
    left, sigma, right = sparse.linalg.svds(C, k=1, v0=np.ones(min(C.shape)))
    sign = 1.0 if left.sum() >= 0 else -1.0
    return float(sigma[0]), sign * left[:, 0], sign * right[0]
