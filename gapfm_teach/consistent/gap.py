"""GAP and AP with smooth ranks that really are ranks, and their gradients, for one user.

Not in the paper: the repair of (7) and (8). `kernels` computes the same numbers fast.
"""

import numpy as np

from .._support.checks import check_grades, check_scores
from ..paper import pair_weights
from .ranks import numerators_and_ranks, pair_gradient


def consistent_gap(scores, grades, delta, tau=1.0, weights=None) -> float:
    """GAP (2) with `consistent_rank` for R_i and (6) at temperature τ for I(R_j <= R_i).

    (1/Z) Σ_i (1/R̂_i) (Δ(y_i) + Σ_{j≠i} β_ij g((f_j - f_i) / τ)); lists may hold unrated items
    (grade 0), which take up ranks. Tends to exact GAP as τ → 0 when no two scores are equal;
    adding a constant to all scores changes nothing. nan when nothing is rated. `weights` as
    for `consistent_rank`; rated items weigh 1. Errors as above.

    With scores far apart, the films of `graded_average_precision` have its value at any level:

    >>> from gapfm_teach.consistent.gap import consistent_gap
    >>> round(consistent_gap([4, 3, 2, 1], [3, 1, 2, 2], [1, 1, 1], tau=0.05), 3)
    0.927
    >>> round(consistent_gap([104, 103, 102, 101], [3, 1, 2, 2], [1, 1, 1], tau=0.05), 3)
    0.927
    """
    grades = check_grades(grades)
    f = check_scores(scores, length=grades.shape[0], allow_complex=True)
    pairs = pair_weights(grades, delta)
    numerator, rank = numerators_and_ranks(f, pairs, tau, weights)
    normalizer = np.trace(pairs)
    if normalizer == 0:
        return float("nan")
    value = np.sum(numerator / rank) / normalizer
    return value if np.iscomplexobj(f) else float(value)


def consistent_gap_gradient(scores, grades, delta, tau=1.0, weights=None) -> np.ndarray:
    """∂/∂f of `consistent_gap`, (N,).

    With t_ij = g((f_j - f_i) / τ), R̂_i = ½ + Σ_j w_j t_ij and N_i = Δ(y_i) + Σ_{j≠i} β_ij t_ij,
    the value is (1/Z) Σ_i N_i / R̂_i. Only t_ij depends on f, and by the quotient rule

        ∂(value)/∂t_ij = (β_ij / R̂_i - w_j N_i / R̂_i²) / Z;

    `ranks.pair_gradient` makes ∂/∂f of it. Where all gaps are wide the gradient goes to 0 in
    any order, as GAP itself is flat there; but each order then has its own exact GAP for a value,
    and not one and the same.

    Arguments and errors as for `consistent_gap`; zeros when nothing is rated.

    A rated film and an unrated one with equal scores. R̂ is 1.5, and the value 1/1.5; the slope is
    1/1.5² times g'(0) = 1/4, and down for the other as much as up for the one:

    >>> from gapfm_teach.consistent.gap import consistent_gap_gradient
    >>> consistent_gap_gradient([0.0, 0.0], [1, 0], [1.0]).round(3)
    array([ 0.111, -0.111])
    """
    grades = check_grades(grades)
    f = check_scores(scores, length=grades.shape[0], allow_complex=True)
    pairs = pair_weights(grades, delta)
    numerator, rank = numerators_and_ranks(f, pairs, tau, weights)
    normalizer = np.trace(pairs)
    if normalizer == 0:
        return np.zeros_like(f)
    direct = pairs / (normalizer * rank[:, None])
    return pair_gradient(f, direct, numerator / (normalizer * rank**2), tau, weights)


def consistent_average_precision(scores, grades, tau=1.0, weights=None) -> float:
    """AP with smooth ranks, all that is rated being relevant: `consistent_gap` with Δ(y) = 1.

    (1/S) Σ_i (1/R̂_i) (1 + Σ_{j≠i} g((f_j - f_i) / τ)) over the S rated i and j: Appendix D's
    y_max = 1. Arguments and errors as for `consistent_gap`.

    >>> from gapfm_teach.consistent.gap import consistent_average_precision
    >>> scores, stars = [4, 3, 2, 1], [5, 0, 3, 4]
    >>> round(consistent_average_precision(scores, stars, tau=0.05), 3)  # (1/1 + 2/3 + 3/4) / 3
    0.806
    """
    return consistent_gap(scores, np.sign(check_grades(grades)), [1.0], tau, weights)


def consistent_average_precision_gradient(
    scores, grades, tau=1.0, weights=None
) -> np.ndarray:
    """∂/∂f of `consistent_average_precision`, (N,).

    >>> from gapfm_teach.consistent.gap import consistent_average_precision_gradient
    >>> consistent_average_precision_gradient([0.0, 0.0], [5, 0]).round(3)  # 1/1.5² · 1/4
    array([ 0.111, -0.111])
    """
    relevant = np.sign(check_grades(grades))
    return consistent_gap_gradient(scores, relevant, [1.0], tau, weights)
