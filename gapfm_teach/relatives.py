"""Relatives of consistent GAP in plain NumPy: GR, GP and ERR with smooth ranks, and gradients.

The paper names GP@n and GR@n in Appendix D, but trains on neither. Exact values are in `metrics`;
each of these tends to its exact one as τ → 0 when no two scores are equal, and does not change
when a constant is added to all scores. `consistent` has the nearest ones, GAP and AP.

All share one gradient. A score acts through t_ij = g((f_j - f_i) / τ) alone, hence through the
rank R̂_i = ½ + Σ_j w_j t_ij; what tells the measures apart is ∂(value)/∂t_ij = a_ij - w_j s_i:
a_ij, what it earns directly that j stands above i, and s_i, what it costs i to lose a rank.
"""

import numpy as np

from .checks import check_count, check_grades, check_scores
from .metrics import thresholding_probabilities
from .smooth import beta, consistent_rank, logistic


def pair_gradient(scores, direct, cost, tau, weights=None) -> np.ndarray:
    """∂(value)/∂f, (N,), from `direct` a, (N, N), and `cost` s, (N,): the gradient that all share.

    ∂t_ij/∂f_j = d_ij / τ and ∂t_ij/∂f_i = -d_ij / τ, where d_ij = t_ij (1 - t_ij) = d_ji. f_k is
    in t_ik, which it lifts, for all i, and in t_kj, which it lowers, for all j. So, with
    m_ij = a_ij - w_j s_i,

        c_k = (1/τ) Σ_i d_ik (m_ik - m_ki).

    The terms i = k cancel. So do the two of each pair when all c_k are summed: the gradient sums
    to 0, as adding a constant to all scores changes nothing.
    """
    t = above(scores, tau)
    d = t * t.T  # 1 - t_ij = t_ji, and no digits are lost where t is near 1
    stand_for = np.ones(len(cost)) if weights is None else np.asarray(weights, float)
    m = direct - np.outer(cost, stand_for)
    return np.sum(d * (m - m.T), axis=0) / tau


def above(scores, tau) -> np.ndarray:
    """t_ij = g((f_j - f_i) / τ), (N, N): how much j stands above i."""
    f = np.asarray(scores)
    return logistic((f[None, :] - f[:, None]) / tau)


# ---------------------------------------------------------------- the first n ranks


def smooth_cutoff(rank, cutoff, tau):
    """A smooth I(R̂ <= n): h(R̂) = g((log(n + ½) - log R̂) / τ) = 1 / (1 + (R̂ / (n + ½))^(1/τ)).

    Appendix D's g(f - c) compares a score with a grade. A rank it must be, and its logarithm: a
    logistic function of R̂ itself falls off like e^-R̂ and leaves items far down the list without
    a gradient, this one like R̂^(-1/τ). `cutoff` n, `tau` τ > 0; any shape of `rank` > 0.
    """
    return logistic((np.log(cutoff + 0.5) - np.log(rank)) / tau)


def consistent_graded_recall(scores, grades, delta, cutoff, tau=1.0, weights=None) -> float:
    """GR@n of Appendix D with a smooth cut-off: (1/Z) Σ_i Δ(y_i) h(R̂_i), Z = Σ_i Δ(y_i).

    h is `smooth_cutoff` with the same τ as R̂, `smooth.consistent_rank`. Parameters: scores f,
    (N,) finite; grades, (N,) whole numbers, 0 = unrated, which take up ranks; delta, (L,) weights
    of (5); cutoff n >= 1; tau > 0 in the scores' unit; weights, (N,), for how many items each
    stands. nan when nothing is rated. Raises ValueError for bad input, TypeError for a cutoff
    that is no whole number.
    """
    gains = _gains(grades, delta)
    rated = gains.any()
    value = _within(scores, gains / gains.sum() if rated else gains, cutoff, tau, weights)
    return value if rated else float("nan")


def consistent_graded_recall_gradient(
    scores, grades, delta, cutoff, tau=1.0, weights=None
) -> np.ndarray:
    """∂/∂f of `consistent_graded_recall`, (N,): `pair_gradient` with a = 0, s_i = -Δ(y_i) h'(R̂_i) / Z.

    h' = -h (1 - h) / (τ R̂). Zeros when nothing is rated.
    """
    gains = _gains(grades, delta)
    share = gains / gains.sum() if gains.any() else gains
    return _within_gradient(scores, share, cutoff, tau, weights)


def consistent_graded_precision(
    scores, grades, delta, cutoff, tau=1.0, weights=None
) -> float:
    """GP@n of Appendix D with a smooth cut-off: (1/n) Σ_i ξ_i h(R̂_i).

    ξ_i = min(Δ(y_i), Δ(c)) / Δ(c), where c is the user's n-th best grade, or her lowest where she
    has fewer. This is the appendix read to the letter, and c a constant; `metrics.graded_precision`
    takes the grade of the item *shown* at rank n, which jumps whenever two items change places
    there. The two agree where that grade is c. A soft cut-off lets in more than n items, so that
    the value passes 1 where τ is not small. 0 when nothing is rated. Arguments and errors as for
    `consistent_graded_recall`.
    """
    return _within(scores, _precision_gains(grades, delta, cutoff), cutoff, tau, weights)


def consistent_graded_precision_gradient(
    scores, grades, delta, cutoff, tau=1.0, weights=None
) -> np.ndarray:
    """∂/∂f of `consistent_graded_precision`, (N,): `pair_gradient` with a = 0, s_i = -ξ_i h'(R̂_i) / n."""
    gains = _precision_gains(grades, delta, cutoff)
    return _within_gradient(scores, gains, cutoff, tau, weights)


def _within(scores, gains: np.ndarray, cutoff, tau, weights) -> float:
    """Σ_i G_i h(R̂_i)."""
    cutoff = check_count(cutoff, "cutoff")
    f = check_scores(scores, length=gains.shape[0], allow_complex=True)
    value = np.sum(gains * smooth_cutoff(consistent_rank(f, tau, weights), cutoff, tau))
    return value if np.iscomplexobj(f) else float(value)


def _within_gradient(scores, gains: np.ndarray, cutoff, tau, weights) -> np.ndarray:
    cutoff = check_count(cutoff, "cutoff")
    f = check_scores(scores, length=gains.shape[0])
    rank = consistent_rank(f, tau, weights)
    inside = smooth_cutoff(rank, cutoff, tau)
    outside = logistic((np.log(rank) - np.log(cutoff + 0.5)) / tau)  # 1 - h, all digits
    cost = gains * inside * outside / (tau * rank)
    return pair_gradient(f, np.zeros((f.size, f.size)), cost, tau, weights)


def _gains(grades, delta) -> np.ndarray:
    """Δ(y_i), (N,); 0 for the unrated."""
    return np.diag(beta(grades, delta))


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
    """
    p = np.full(1, 0.5) if max_grade == 1 else thresholding_probabilities(max_grade)
    return np.append(0.0, np.minimum(p, np.nextafter(1.0, 0.0)))


def consistent_expected_reciprocal_rank(
    scores, grades, max_grade, tau=1.0, weights=None
) -> float:
    """ERR of Chapelle et al. (2009) with smooth ranks: Σ_i (p_i / R̂_i) Π_{j≠i} (1 - p_j t_ij).

    A reader stops at i with probability p_i = (2^{y_i} - 1) / 2^max_grade, if no item above has
    satisfied her: j is above i to the extent t_ij. xCLiMF (Shi et al., RecSys 2013) maximises a
    lower bound of another smooth ERR, with (7) for the rank. Among S items whose scores are within
    τ of each other nobody comes far, and value and gradient shrink geometrically with S: long
    lists need a small τ. Parameters: max_grade >= any grade, the top of the scale; the others and
    errors as for `consistent_graded_recall`. 0 when nothing is rated.
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
    t, stop = above(f, tau), p[grades]
    passed = t.T + (1.0 - stop) * t  # 1 - p_j t_ij, written without a difference near 0
    np.fill_diagonal(passed, 1.0)
    return stop, passed, np.prod(passed, axis=1), rank
