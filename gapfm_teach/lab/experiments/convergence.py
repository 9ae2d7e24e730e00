"""Figure 1, the step γ, and the readings of Algorithm 2."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import sparse

from ...model import GAPfm
from ...paper import pair_weights, thresholding_probabilities
from ...ratings import Ratings
from ...training.data import TrainingData
from .common import (
    LEARNING_RATES,
    ascend,
    held_out_gap,
    small_start,
    split_three,
    tidy,
    trace,
)


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


def stopped_early(
    train: Ratings, validation: Ratings, *, n_iter: int = 100, **options
) -> GAPfm:
    """GAPfm trained for as many iterations as give the highest held-out GAP, at most `n_iter`.

    `options` go to GAPfm. Trained twice: once to find the iteration, once to stop there; with an
    int as `random_state` (0 by default) both trainings are the same.
    """
    options = {"random_state": 0} | options
    history = GAPfm(n_iter=n_iter, **options).fit(train, validation).history_
    best = history["iteration"].iloc[history["validation_gap"].argmax()]
    return GAPfm(n_iter=int(best), **options).fit(train)


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


def escape(
    train: Ratings, *, learning_rate: float, n_iter: int, random_state=0, **options
) -> pd.DataFrame:
    """The length of the growing part of U and V, measured in training and as C predicts it.

    The growing part is uᵀU + vᵀV, with u and v the first singular vectors of `escape_matrix`.
    Columns iteration, measured, predicted: the prediction starts from the first iteration.
    """
    sigma, u, v = top_direction(escape_matrix(train))
    model = GAPfm(
        learning_rate=learning_rate, n_iter=n_iter, random_state=random_state, **options,
    )  # fmt: skip

    def part(m: GAPfm) -> dict:
        return {
            "measured": float(np.linalg.norm(u @ m.user_factors_ + v @ m.item_factors_))
        }

    run = trace(model, train, part)
    growth = (1 + learning_rate * sigma) ** (run["iteration"] - 1)
    return run.assign(predicted=run["measured"].iloc[0] * growth).drop(columns="objective")


def algorithm_readings(
    train: Ratings, validation: Ratings, *, learning_rate: float, regs: Sequence[float],
    n_iter: int = 60, random_state=0,
) -> pd.DataFrame:  # fmt: skip
    """Algorithm 2's V update in three readings, for each λ, from the same start.

    "sum over users": all users pull on an item, λ once (`update="batch"`); "in turn": user after
    user in place, λ at each visit ("sequential"); "last user only": V^(t+1) overwritten at each
    visit, as printed. Columns reading, reg, iteration, objective, held_out_gap.
    """
    runs = []
    for reg in regs:
        for name, update in {"sum over users": "batch", "in turn": "sequential"}.items():
            model = GAPfm(
                reg=reg, learning_rate=learning_rate, n_iter=n_iter, update=update,
                random_state=random_state,
            )  # fmt: skip
            run = trace(
                model,
                train,
                lambda m: {"held_out_gap": held_out_gap(m, validation)},
                every=2,
            )
            runs.append(run.assign(reading=name, reg=reg))
        last = ascend(
            train, validation, small_start(train, random_state), learning_rate=learning_rate, reg=reg, n_iter=n_iter, select=_last_visits,
        )  # fmt: skip
        runs.append(last.assign(reading="last user only", reg=reg))
    return tidy(runs, ["reading", "reg"])


def _last_visits(problem: TrainingData, scores: np.ndarray) -> np.ndarray:
    """Marks, for each item, the rating of the last user who has it."""
    marks = np.zeros(problem.items.shape[0], dtype=bool)
    _, from_the_end = np.unique(problem.items[::-1], return_index=True)
    marks[-1 - from_the_end] = True
    return marks
