"""Measures related to consistent GAP, in plain NumPy: GR, GP and ERR with smooth ranks, and gradients.

The paper names GP@n and GR@n in Appendix D, but trains on neither. Exact values are in `metrics`;
each of these tends to its exact one as τ → 0 when no two scores are equal, and does not change
when a constant is added to all scores. `gap` has the
nearest ones, GAP and AP, and `ranks` the gradient that they all have in common.
"""

import numpy as np

from .._support.checks import check_count, check_grades, check_scores
from ..paper import logistic, pair_weights, thresholding_probabilities
from .ranks import consistent_rank, pair_gradient, pairwise_sigmoid

# ---------------------------------------------------------------- the first n ranks


def smooth_cutoff(rank, cutoff, tau):
    """A smooth I(R̂ <= n): χ(R̂) = g((log(n + ½) - log R̂) / τ) = 1 / (1 + (R̂ / (n + ½))^(1/τ)).

    Appendix D's g(f - c) compares a score with a grade. A rank it must be, and its logarithm: a
    logistic function of R̂ itself falls off like e^-R̂ and leaves items far down the list without
    a gradient, this one like R̂^(-1/τ). `cutoff` n, `tau` τ > 0; any shape of `rank` > 0.

    >>> from gapfm_teach.consistent.related_measures import smooth_cutoff
    >>> smooth_cutoff([1.0, 2.5, 10.0], cutoff=2, tau=1.0).round(3)  # 1 / (1 + R̂ / 2.5)
    array([0.714, 0.5  , 0.2  ])
    """
    return logistic((np.log(cutoff + 0.5) - np.log(rank)) / tau)


def consistent_graded_recall(scores, grades, delta, cutoff, tau=1.0, weights=None) -> float:
    """GR@n of Appendix D with a smooth cut-off: (1/Z) Σ_i Δ(y_i) χ(R̂_i), Z = Σ_i Δ(y_i).

    χ is `smooth_cutoff` with the same τ as R̂, `ranks.consistent_rank`. Parameters: scores f,
    (N,) finite; grades, (N,) whole numbers, 0 = unrated, which take up ranks; delta, (L,) weights
    of (5); cutoff n >= 1; tau > 0 in the scores' unit; weights, (N,), for how many items each
    stands. nan when nothing is rated. Raises ValueError for bad input, TypeError for a cutoff
    that is no whole number.

    >>> from gapfm_teach.consistent.related_measures import consistent_graded_recall
    >>> scores, stars, delta = [4, 3, 2, 1], [3, 1, 2, 2], [0.125, 0.375, 0.875]
    >>> round(consistent_graded_recall(scores, stars, delta, 2, tau=0.01), 3)  # 1.5 / 2.5
    0.6
    """
    gains = _gains(grades, delta)
    rated = gains.any()
    value = _within(scores, gains / gains.sum() if rated else gains, cutoff, tau, weights)
    return value if rated else float("nan")


def consistent_graded_recall_gradient(
    scores, grades, delta, cutoff, tau=1.0, weights=None
) -> np.ndarray:
    """∂/∂f of `consistent_graded_recall`, (N,): `pair_gradient` with a = 0, s_i = -Δ(y_i) χ'(R̂_i) / Z.

    χ' = -χ (1 - χ) / (τ R̂). Zeros when nothing is rated.

    A rated film and an unrated one with equal scores: R̂ = 1.5 = n + ½, so χ = ½ and χ' = -1/6,
    times g'(0) = 1/4.

    >>> from gapfm_teach.consistent.related_measures import consistent_graded_recall_gradient
    >>> consistent_graded_recall_gradient([0.0, 0.0], [1, 0], [1.0], 1).round(3)
    array([ 0.042, -0.042])
    """
    gains = _gains(grades, delta)
    gains = gains / gains.sum() if gains.any() else gains
    return _within_gradient(scores, gains, cutoff, tau, weights)


def consistent_graded_precision(
    scores, grades, delta, cutoff, tau=1.0, weights=None
) -> float:
    """GP@n of Appendix D with a smooth cut-off: (1/n) Σ_i ξ_i χ(R̂_i).

    ξ_i = min(Δ(y_i), Δ(c)) / Δ(c), where c is the user's n-th best grade, or the lowest where there
    are fewer. This is the appendix read to the letter, and c a constant; `metrics.graded_precision`
    takes the grade of the item *shown* at rank n, which jumps whenever two items change places
    there. The two agree where that grade is c. A soft cut-off lets in more than n items, so that
    the value passes 1 where τ is not small. 0 when nothing is rated. Arguments and errors as for
    `consistent_graded_recall`.

    >>> from gapfm_teach.consistent.related_measures import consistent_graded_precision
    >>> scores, stars, delta = [4, 3, 2, 1], [3, 1, 2, 2], [0.125, 0.375, 0.875]
    >>> round(consistent_graded_precision(scores, stars, delta, 3, tau=0.01), 3)  # (1 + 1/4 + 1)/3
    0.75
    """
    return _within(scores, _precision_gains(grades, delta, cutoff), cutoff, tau, weights)


def consistent_graded_precision_gradient(
    scores, grades, delta, cutoff, tau=1.0, weights=None
) -> np.ndarray:
    """∂/∂f of `consistent_graded_precision`, (N,): `pair_gradient` with a = 0, s_i = -ξ_i χ'(R̂_i) / n.

    >>> from gapfm_teach.consistent.related_measures import consistent_graded_precision_gradient
    >>> consistent_graded_precision_gradient([0.0, 0.0], [1, 0], [1.0], 1).round(3)  # 1/6 · 1/4
    array([ 0.042, -0.042])
    """
    gains = _precision_gains(grades, delta, cutoff)
    return _within_gradient(scores, gains, cutoff, tau, weights)


def _within(scores, gains: np.ndarray, cutoff, tau, weights) -> float:
    """Σ_i G_i χ(R̂_i)."""
    cutoff = check_count(cutoff, "cutoff")
    f = check_scores(scores, length=gains.shape[0], allow_complex=True)
    value = np.sum(gains * smooth_cutoff(consistent_rank(f, tau, weights), cutoff, tau))
    return value if np.iscomplexobj(f) else float(value)


def _within_gradient(scores, gains: np.ndarray, cutoff, tau, weights) -> np.ndarray:
    cutoff = check_count(cutoff, "cutoff")
    f = check_scores(scores, length=gains.shape[0])
    rank = consistent_rank(f, tau, weights)
    inside = smooth_cutoff(rank, cutoff, tau)
    outside = logistic((np.log(rank) - np.log(cutoff + 0.5)) / tau)  # 1 - χ, all digits
    cost = gains * inside * outside / (tau * rank)
    return pair_gradient(f, np.zeros((f.size, f.size)), cost, tau, weights)


def _gains(grades, delta) -> np.ndarray:
    """Δ(y_i), (N,); 0 for the unrated."""
    return np.diag(pair_weights(grades, delta))


def _precision_gains(grades, delta, cutoff) -> np.ndarray:
    """ξ_i / n, (N,)."""
    gains, cutoff = _gains(grades, delta), check_count(cutoff, "cutoff")
    best_first = np.sort(gains[gains > 0])[::-1]
    if not best_first.size:
        return gains
    enough = best_first[min(cutoff, best_first.size) - 1]
    return np.minimum(gains, enough) / (cutoff * enough)


# ---------------------------------------------------------------- the cascade


def stopping_probabilities(max_grade: int) -> np.ndarray:
    """p(y) = (2^y - 1) / 2^max_grade for y = 0..max_grade, (max_grade + 1,): as in ERR.

    The same numbers as δ of (5), but for max_grade = 1. Below 1 even where that rounds to 1.

    >>> from gapfm_teach.consistent.related_measures import stopping_probabilities
    >>> stopping_probabilities(2)
    array([0.  , 0.25, 0.75])
    """
    p = np.full(1, 0.5) if max_grade == 1 else thresholding_probabilities(max_grade)
    return np.append(0.0, np.minimum(p, np.nextafter(1.0, 0.0)))


def consistent_expected_reciprocal_rank(
    scores, grades, max_grade, tau=1.0, weights=None
) -> float:
    """ERR of Chapelle et al. (2009) with smooth ranks: Σ_i (p_i / R̂_i) Π_{j≠i} (1 - p_j t_ij).

    A reader stops at i with probability p_i = (2^{y_i} - 1) / 2^max_grade, if no item above has
    satisfied them: j is above i to the extent t_ij. xCLiMF (Shi et al., RecSys 2013) maximises a
    lower bound of another smooth ERR, with (7) for the rank. Among S items whose scores are within
    τ of each other nobody comes far, and value and gradient shrink geometrically with S: long
    lists need a small τ. Parameters: max_grade >= any grade, the top of the scale; the others and
    errors as for `consistent_graded_recall`. 0 when nothing is rated.

    >>> from gapfm_teach.consistent.related_measures import consistent_expected_reciprocal_rank
    >>> round(consistent_expected_reciprocal_rank([2, 1], [3, 1], 3, tau=0.05), 3)
    0.883
    >>> round(7 / 8 + 1 / 8 * 1 / 8 / 2, 3)
    0.883
    """
    stop, _, arrive, rank = _cascade(scores, grades, max_grade, tau, weights)
    value = np.sum(stop * arrive / rank)
    return value if np.iscomplexobj(value) else float(value)


def consistent_expected_reciprocal_rank_gradient(
    scores, grades, max_grade, tau=1.0, weights=None
) -> np.ndarray:
    """∂/∂f of `consistent_expected_reciprocal_rank`, (N,).

    `pair_gradient` with a_ij = -(p_i E_i / R̂_i) p_j / (1 - p_j t_ij), where E_i = Π_{j≠i} (1 - p_j t_ij),
    and s_i = p_i E_i / R̂_i².

    A rated film and an unrated one with equal scores: R̂ = 1.5 and p = ½, so s = ½ / 1.5², times
    g'(0) = 1/4.

    >>> from gapfm_teach.consistent.related_measures import consistent_expected_reciprocal_rank_gradient
    >>> consistent_expected_reciprocal_rank_gradient([0.0, 0.0], [1, 0], 1).round(3)
    array([ 0.056, -0.056])
    """
    stop, passed, arrive, rank = _cascade(scores, grades, max_grade, tau, weights)
    direct = -np.outer(stop * arrive / rank, stop) / passed
    return pair_gradient(scores, direct, stop * arrive / rank**2, tau, weights)


def _cascade(scores, grades, max_grade, tau, weights) -> tuple:
    """p_i, 1 - p_j t_ij (1 where i = j), E_i and R̂_i."""
    grades = check_grades(grades)
    highest = int(grades.max(initial=1))
    p = stopping_probabilities(check_count(max_grade, "max_grade", low=highest))
    f = check_scores(scores, length=grades.shape[0], allow_complex=True)
    rank = consistent_rank(f, tau, weights)
    t, stop = pairwise_sigmoid(f, tau), p[grades]
    passed = t.T + (1.0 - stop) * t  # 1 - p_j t_ij, written without a difference near 0
    np.fill_diagonal(passed, 1.0)
    return stop, passed, np.prod(passed, axis=1), rank
