"""The sums of (8), and of its repair, without going over pairs: what makes "linear" true.

Section 4.2 calls a training linear in the number of ratings; it is quadratic in those of a user.
All sums over pairs are smooth functions of one score, and a few dozen points tell the whole of
such a function. `kernels` does the same, and takes the pairs where they are few.
"""

import math

import numpy as np
from numpy.polynomial import Chebyshev

from .._support.checks import check_delta, check_grades, check_real, check_scores
from ..paper import cumulative_weights, logistic, logistic_derivative
from .ranks import check_weights


def chebyshev_nodes(spread: float, tolerance: float) -> int:
    """How many Chebyshev nodes `interpolated_smoothed_gap` takes for a score range `spread`.

    g(f - x) as a function of x has its poles at f ± iπ. Interpolation at p nodes of an interval
    of that length then errs by about ρ^-p, ρ = s + √(1 + s²) with s = 2π / spread: ρ is the sum
    of the half-axes, in half-lengths of the interval, of the ellipse around it that reaches up
    to π. So p = 1 + log(60 / tolerance) / log ρ, rounded up; 60 was found by trying. Raises
    ValueError for spread < 0 or tolerance <= 0.

    >>> from gapfm_teach.consistent.fast_sums import chebyshev_nodes
    >>> [chebyshev_nodes(spread, 1e-8) for spread in (0, 1, 10, 100)]
    [1, 10, 39, 360]
    """
    spread = check_real(spread, "spread")
    tolerance = check_real(tolerance, "tolerance", low_open=True)
    if spread == 0.0:
        return 1
    s = 2.0 * math.pi / spread
    rho = s + math.hypot(1.0, s)
    return 1 + max(0, math.ceil(math.log(60.0 / tolerance) / math.log(rho)))


def interpolated_smoothed_gap(scores, grades, delta, *, tolerance=1e-8):
    """`smoothed_gap` and `smoothed_gap_gradient` in O(S p) operations instead of O(S²).

    With t = g(f_j - x) and h_j = g(-f_j), an item of grade y and score x needs two sums,
    P_y(x) = Σ_j β_ij t and Q_y(x) = Σ_j β_ij h_j t (2 t - 1): (8) is Σ_i g(f_i) P(f_i), and
    ∂F/∂f_i = g(f_i) (h_i P(f_i) + Q(f_i)), because (g(f_j) - g(f_i)) g'(f_j - f_i) equals
    g(f_i) h_j t (2 t - 1). Both are smooth functions of x alone, two for each grade: their
    values at p nodes (`chebyshev_nodes`) give them everywhere.

    Parameters as for `smoothed_gap`, but real scores; tolerance > 0. Returns the value, a float,
    and the gradient, (S,). The value errs by at most tolerance · Σ_i g(f_i) Σ_j β_ij, gradient i
    by at most tolerance · max g(f) · max g(-f) · Σ_j β_ij. Raises ValueError for bad input.

    >>> from gapfm_teach import smoothed_gap
    >>> from gapfm_teach.consistent.fast_sums import interpolated_smoothed_gap
    >>> scores, grades, delta = [0.3, -1.2, 2.0], [3, 1, 2], [0.125, 0.375, 0.875]
    >>> value, gradient = interpolated_smoothed_gap(scores, grades, delta)
    >>> abs(value - smoothed_gap(scores, grades, delta)) < 1e-8 * value
    True
    """
    grades = check_grades(grades, allow_unrated=False)
    f = check_scores(scores, length=grades.shape[0])
    Delta = cumulative_weights(check_delta(delta, grades.max(initial=0)))
    if f.size == 0:
        return 0.0, np.zeros(0)
    low, spread = f.min(), np.ptp(f)
    domain = [low, low + spread] if spread > 0 else [low - 1, low + 1]
    degree = chebyshev_nodes(spread, tolerance) - 1
    g, h, P, Q = logistic(f), logistic(-f), np.empty(f.size), np.empty(f.size)
    for grade in np.unique(grades):
        weights = Delta[np.minimum(grades, grade)]

        def smooth_count(x, weights=weights):
            return logistic(f - x[:, None]) @ weights

        def slope(x, weights=weights):
            t = logistic(f - x[:, None])
            return (t * (2 * t - 1)) @ (weights * h)

        same = grades == grade
        P[same] = Chebyshev.interpolate(smooth_count, degree, domain)(f[same])
        Q[same] = Chebyshev.interpolate(slope, degree, domain)(f[same])
    return float(g @ P), g * (h * P + Q)


def interpolated_consistent_gap(
    scores, grades, delta, tau=1.0, weights=None, *, tolerance=1e-8
) -> tuple[float, np.ndarray]:
    """`consistent_gap` and `consistent_gap_gradient` in O(N p) operations instead of O(N²).

    As in `interpolated_smoothed_gap`, all sums are smooth functions of one score x, some
    of them one for each grade y. With t = g((f_j - x) / τ), d = t (1 - t) and
    β_j = min(Δ(y), Δ(y_j)) an item needs

        R̂ = ½ + Σ_j w_j t,  N = Δ(y)/2 + Σ_j β_j t,  R' = Σ_j w_j d,  N' = Σ_j β_j d,

    and, once q_i = 1/R̂_i and s_i = N_i / R̂_i² are known, A = Σ_i q_i β_i d and S = Σ_i s_i d:
    the value is (1/Z) Σ_i N_i q_i, and c_k = (1/Zτ) (A_k - w_k S_k - q_k N'_k + s_k R'_k). Values
    at p nodes give each function everywhere. At the top of a list R̂ is near 1, although all
    W = Σ_j w_j items add to it; so p is `chebyshev_nodes` for tolerance · min(1, τ) / W.

    Parameters as for `consistent_gap`, but real scores; tolerance > 0. Returns the value, which
    errs by at most tolerance times itself, and the gradient, (N,), whose entry k errs, in terms of
    `ranks.pair_gradient`, by at most tolerance · (1/τ) Σ_i (d_ik + 1/W) (|m_ik| + |m_ki|).
    Rounding adds to the tolerance some 1e-14 · W / min(1, τ): of a W of millions, or a tiny τ,
    few digits are left, and the direct sums are better. nan and zeros when nothing is rated.
    Raises ValueError for bad input.

    >>> from gapfm_teach.consistent.fast_sums import interpolated_consistent_gap
    >>> value, gradient = interpolated_consistent_gap([0.0, 0.0], [1, 0], [1.0])
    >>> round(value, 3), gradient.round(3).tolist()  # 1/1.5, and 1/1.5² · 1/4
    (0.667, [0.111, -0.111])
    """
    grades = check_grades(grades)
    f = check_scores(scores, length=grades.shape[0])
    tau = check_real(tau, "tau", low_open=True)
    w = check_weights(np.ones(f.size) if weights is None else weights, f.size)
    gains = cumulative_weights(check_delta(delta, grades.max(initial=0)))[grades]
    normalizer = gains.sum()
    if normalizer == 0:
        return float("nan"), np.zeros(f.size)
    z = f / tau
    low, spread = z.min(), np.ptp(z)
    degree = chebyshev_nodes(spread, tolerance * min(1.0, tau) / w.sum()) - 1
    domain = [low, low + spread] if degree > 0 else [low - 1, low + 1]

    def summed(function, factors):
        """Σ_j factors_j · function((f_j - x) / τ), as a function of x / τ."""
        return Chebyshev.interpolate(
            lambda x: function(z - x[:, None]) @ factors, degree, domain
        )

    rank = 0.5 + summed(logistic, w)(z)
    numerator, numerator_slope, gradient = np.empty((3, f.size))
    of_grade = [(gains == gain, np.minimum(gains, gain)) for gain in np.unique(gains)]
    for same, pairs in of_grade:
        numerator[same] = summed(logistic, pairs)(z[same]) + gains[same] / 2
        numerator_slope[same] = summed(logistic_derivative, pairs)(z[same])
    cost = numerator / rank**2
    for same, pairs in of_grade:
        gradient[same] = summed(logistic_derivative, pairs / rank)(z[same])
    gradient -= w * summed(logistic_derivative, cost)(z) + numerator_slope / rank
    gradient += cost * summed(logistic_derivative, w)(z)
    return float(np.sum(numerator / rank) / normalizer), gradient / (normalizer * tau)
