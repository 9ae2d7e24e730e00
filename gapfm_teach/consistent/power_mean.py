"""GAP as one of the power means of graded precisions; the geometric one gives no film up.

With smooth ranks the precision at a rated film i is

    P̂_i = N_i / (Δ(y_i) R̂_i),  N_i = Δ(y_i) + Σ_{j≠i} β_ij t_ij,

above 0 and at most 1: consistent GAP is Σ_i Δ(y_i) P̂_i / Z, their arithmetic mean. The pull on a
film far down goes there as 1/R̂². A logarithm makes it 1/R̂. Not in the paper.
"""

import numpy as np

from .._support.checks import check_grades, check_real, check_scores
from ..paper import pair_weights
from .ranks import numerators_and_ranks, pair_gradient


def graded_precisions(scores, grades, delta, tau=1.0, weights=None) -> np.ndarray:
    """P̂_i of every rated item, (N,); nan for the unrated, which take up ranks.

    Parameters: scores f, (N,) finite; grades, (N,) whole numbers, 0 = unrated; delta, (L,) weights
    of (5); tau > 0 in the scores' unit; weights, (N,), for how many items each stands, 1 for the
    rated. Raises ValueError for bad input.

    Four films well apart, Δ(y) = y. Two stars at rank 3 find 2 + 1 + 2 of 2 · 3 stars above or
    beside them, those at rank 4 two more of 2 · 4:

    >>> from gapfm_teach.consistent.power_mean import graded_precisions
    >>> graded_precisions([4, 3, 2, 1], [3, 1, 2, 2], [1, 1, 1], tau=0.05).round(3)
    array([1.   , 1.   , 0.833, 0.875])
    """
    grades = check_grades(grades)
    f = check_scores(scores, length=grades.shape[0], allow_complex=True)
    pairs = pair_weights(grades, delta)
    numerator, rank = numerators_and_ranks(f, pairs, tau, weights)
    with np.errstate(invalid="ignore"):  # 0 / 0 for the unrated
        return numerator / (np.diag(pairs) * rank)


def consistent_power_mean(
    scores, grades, delta, exponent=0.0, tau=1.0, weights=None
) -> float:
    """Σ_i v_i (P̂_i^p - 1) / p over the rated items; p = 0: Σ_i v_i log P̂_i. v_i = y_i / L.

    It grows with the power mean M_p = (Σ_i v_i P̂_i^p / Σ_i v_i)^(1/p), of which p = 1 is the
    arithmetic and p = 0 the geometric one: it is (M_p^p - 1) Σ_i v_i / p, and log M_0 Σ_i v_i.
    A sum over items, not divided for each user: one with more ratings counts for more, and so the
    λ that suits does not depend on how many ratings users have. At most 0, which the best list
    tends to.

    `exponent` p >= -1. Grades go up to L, the length of `delta`; other arguments and errors as in
    `graded_precisions`. 0 when nothing is rated.

    >>> from math import log
    >>> from gapfm_teach.consistent.power_mean import consistent_power_mean
    >>> films = [4, 3, 2, 1], [3, 1, 2, 2], [1, 1, 1]
    >>> round(consistent_power_mean(*films, tau=0.05), 3)
    -0.211
    >>> round(2 / 3 * log(5 / 6) + 2 / 3 * log(7 / 8), 3)
    -0.211
    """
    grades = check_grades(grades)
    p = check_real(exponent, "exponent", low=-1.0)
    rated = grades > 0
    precision = graded_precisions(scores, grades, delta, tau, weights)[rated]
    log = np.log(precision)
    terms = log if p == 0 else np.expm1(p * log) / p
    value = np.sum(grades[rated] / len(delta) * terms)
    return value if np.iscomplexobj(value) else float(value)


def consistent_power_mean_gradient(
    scores, grades, delta, exponent=0.0, tau=1.0, weights=None
) -> np.ndarray:
    """∂/∂f of `consistent_power_mean`, (N,).

    P̂_i depends on t_ij through N_i and R̂_i alone, and d(P^p / p) = P^p d log P. So

        ∂(value)/∂t_ij = v_i P̂_i^p (β_ij / N_i - w_j / R̂_i);

    `ranks.pair_gradient` makes ∂/∂f of it. With p = 1 and v_i = Δ(y_i) / Z this is the gradient
    of GAP. Zeros when nothing is rated.

    A rated film and an unrated one with equal scores: R̂ = 1.5, and one rank costs 1/1.5, times
    g'(0) = 1/4.

    >>> from gapfm_teach.consistent.power_mean import consistent_power_mean_gradient
    >>> consistent_power_mean_gradient([0.0, 0.0], [1, 0], [1.0]).round(3)
    array([ 0.167, -0.167])
    """
    grades = check_grades(grades)
    f = check_scores(scores, length=grades.shape[0], allow_complex=True)
    p, pairs = check_real(exponent, "exponent", low=-1.0), pair_weights(grades, delta)
    numerator, rank = numerators_and_ranks(f, pairs, tau, weights)
    rated = grades > 0
    each = np.zeros_like(numerator)  # v_i P̂_i^p
    precision = numerator[rated] / (np.diag(pairs)[rated] * rank[rated])
    each[rated] = grades[rated] / len(delta) * precision**p
    direct = pairs * (each / np.where(rated, numerator, 1.0))[:, None]
    return pair_gradient(f, direct, each / rank, tau, weights)
