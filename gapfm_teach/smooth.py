"""Equations (6)-(11) in plain NumPy, and the consistent rank that repairs (7).

This is the version to read; `kernels` computes the same numbers fast. All functions take the
rated items of one user, S of them, and accept complex scores, so that complex-step
differentiation can judge the gradients. The gradient of the repair is in `consistent`.
"""

import math

import numpy as np
from numpy.polynomial import Chebyshev

from .checks import check_delta, check_grades, check_real, check_scores
from .metrics import thresholding_probabilities


def logistic(x):
    """The logistic function g(x) = 1 / (1 + e^-x) of (6) and (7), for any shape; never overflows."""
    x = np.asarray(x)
    positive = x.real >= 0
    e = np.exp(np.where(positive, -x, x))
    return np.where(positive, 1.0, e) / (1.0 + e)


def logistic_derivative(x):
    """g'(x) = g(x) g(-x), the form that keeps its digits where g is near 1."""
    return logistic(x) * logistic(-np.asarray(x))


def beta(grades, delta) -> np.ndarray:
    """Pair weights β_ij of (4), (S, S): the accumulated δ of the lower of two grades.

    With Δ(y) = δ_1 + ... + δ_y, increasing in y, (4) is min(Δ(y_i), Δ(y_j)). A pair with an
    unrated item (grade 0) weighs 0. Raises ValueError for bad grades or too few `delta`.
    """
    grades = check_grades(grades)
    cumulative = _cumulative(delta, grades)
    return np.minimum.outer(cumulative[grades], cumulative[grades])


def smoothed_gap(scores, grades, delta):
    """Smoothed GAP (8) of one user: Σ_i g(f_i) Σ_j β_ij g(f_j - f_i), without 1/Z.

    Parameters: scores f, (S,) finite; grades, (S,) whole numbers >= 1; delta, (L,) weights of
    (5) for grades 1..L. Returns a float in [0, Σ_ij β_ij] (complex for complex scores); 0.0 when
    S = 0. Raises ValueError for bad scores, grades or delta.
    """
    f, weights = _rated(scores, grades, delta)
    value = np.sum(
        logistic(f) * np.sum(weights * logistic(f[None, :] - f[:, None]), axis=1)
    )
    return value if np.iscomplexobj(f) else float(value)


def smoothed_gap_gradient(scores, grades, delta) -> np.ndarray:
    """∂F/∂f of (8), (S,): the vector c that (10) and (11) share.

    c_i = g'(f_i) Σ_j β_ij g(f_j - f_i) + Σ_j β_ij (g(f_j) - g(f_i)) g'(f_j - f_i).
    Arguments and errors as for `smoothed_gap`.
    """
    f, weights = _rated(scores, grades, delta)
    apart = f[None, :] - f[:, None]
    # g(f_j) - g(f_i), written as g(f_j) g(-f_i) - g(f_i) g(-f_j): the difference itself loses all
    # its digits where both are near 1.
    g, h = logistic(f), logistic(-f)
    gain = np.outer(h, g) - np.outer(g, h)
    first = logistic_derivative(f) * np.sum(weights * logistic(apart), axis=1)
    return first + np.sum(weights * gain * logistic_derivative(apart), axis=1)


def chebyshev_nodes(spread: float, tolerance: float) -> int:
    """How many Chebyshev nodes `interpolated_smoothed_gap` takes for a score range `spread`.

    g(f - x) as a function of x has its poles at f ± iπ. Interpolation at p nodes of an interval
    of that length then errs by about ρ^-p, ρ = s + √(1 + s²) with s = 2π / spread: ρ is the sum
    of the half-axes, in half-lengths of the interval, of the ellipse around it that reaches up
    to π. So p = 1 + log(60 / tolerance) / log ρ, rounded up; 60 was found by trying. Raises
    ValueError for spread < 0 or tolerance <= 0.
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
    """
    grades = check_grades(grades, allow_unrated=False)
    f = check_scores(scores, length=grades.shape[0])
    cumulative = _cumulative(delta, grades)
    if f.size == 0:
        return 0.0, np.zeros(0)
    low, spread = f.min(), np.ptp(f)
    domain = [low, low + spread] if spread > 0 else [low - 1, low + 1]
    degree = chebyshev_nodes(spread, tolerance) - 1
    g, h, P, Q = logistic(f), logistic(-f), np.empty(f.size), np.empty(f.size)
    for grade in np.unique(grades):
        weights = cumulative[np.minimum(grades, grade)]

        def above(x, weights=weights):
            return logistic(f - x[:, None]) @ weights

        def slope(x, weights=weights):
            t = logistic(f - x[:, None])
            return (t * (2 * t - 1)) @ (weights * h)

        mine = grades == grade
        P[mine] = Chebyshev.interpolate(above, degree, domain)(f[mine])
        Q[mine] = Chebyshev.interpolate(slope, degree, domain)(f[mine])
    return float(g @ P), g * (h * P + Q)


def objective(user_factors, item_factors, ratings, *, delta=None, reg) -> float:
    """The objective F(U, V) of (9), without the constant 1/M.

    Parameters: user_factors U, (n_users, D); item_factors V, (n_items, D); ratings, a `Ratings`;
    delta defaults to (5) for `ratings.max_grade`; reg is λ >= 0, counted once for the whole of U
    and V. Returns Σ_m (8) - λ/2 (‖U‖² + ‖V‖²). Raises ValueError when shapes disagree.
    """
    U, V = np.asarray(user_factors), np.asarray(item_factors)
    if U.ndim != 2 or V.ndim != 2 or U.shape[1] != V.shape[1]:
        raise ValueError(
            f"user_factors {U.shape} and item_factors {V.shape} must be two-dimensional "
            "with the same number of columns"
        )
    if U.shape[0] != ratings.n_users or V.shape[0] != ratings.n_items:
        raise ValueError(
            f"factors are for {U.shape[0]} users and {V.shape[0]} items but the ratings have "
            f"{ratings.n_users} and {ratings.n_items}; pass the ratings the model was fitted to"
        )
    reg = check_real(reg, "reg")
    delta = thresholding_probabilities(ratings.max_grade) if delta is None else delta
    total = 0.0
    for user in range(ratings.n_users):
        items, grades = ratings.row(user)
        total += smoothed_gap(V[items] @ U[user], grades, delta)
    return total - reg / 2 * float(np.sum(U**2) + np.sum(V**2))


def user_gradient(u, V, grades, *, delta, reg) -> np.ndarray:
    """∂F/∂U_m of (10), (D,): Vᵀc - λ u, with c = ∂F/∂f.

    Parameters: u, (D,); V, (S, D), the factors of the user's rated items; grades, (S,); delta as
    in `smoothed_gap`; reg λ >= 0. Raises ValueError for bad shapes or values.
    """
    u, V, reg = _factors(u, V, reg)
    return V.T @ smoothed_gap_gradient(V @ u, grades, delta) - reg * u


def item_gradients(u, V, grades, *, delta, reg) -> np.ndarray:
    """∂F/∂V_i of (11) for this user's rated items, (S, D): row i is c_i u - λ V_i.

    Parameters and errors as for `user_gradient`. What other users add to an item's gradient,
    and λ's place in that sum, is the training loop's affair.
    """
    u, V, reg = _factors(u, V, reg)
    return np.outer(smoothed_gap_gradient(V @ u, grades, delta), u) - reg * V


def consistent_rank(scores, tau=1.0, weights=None) -> np.ndarray:
    """A smooth rank that tends to the rank as τ → 0: R̂_i = ½ + Σ_j w_j g((f_j - f_i) / τ), (N,).

    The term j = i is ½, so the sum counts every item above i as nearly 1, below as nearly 0.
    Unlike (7) it depends on score differences only. Not in the paper: the repair of (7), with
    (6) applied to every term of R_i = 1 + Σ_{j≠i} I(f_j > f_i). `tau` τ > 0 has the scores'
    unit. `weights` w >= 0, (N,): how many items each one stands for, where the list is a sample
    of a longer one; 1 each by default. Raises ValueError for bad scores, tau or weights.
    """
    f = check_scores(scores, allow_complex=True)
    tau = check_real(tau, "tau", low_open=True)
    above = logistic((f[None, :] - f[:, None]) / tau)
    if weights is not None:
        above = above * check_weights(weights, f.shape[0])
    return 0.5 + np.sum(above, axis=1)


def consistent_gap(scores, grades, delta, tau=1.0, weights=None) -> float:
    """GAP (2) with `consistent_rank` for R_i and (6) at temperature τ for I(R_j <= R_i).

    (1/Z) Σ_i (1/R̂_i) (Δ(y_i) + Σ_{j≠i} β_ij g((f_j - f_i) / τ)); lists may hold unrated items
    (grade 0), which take up ranks. Tends to exact GAP as τ → 0 when no two scores are equal;
    adding a constant to all scores changes nothing. nan when nothing is rated. `weights` as
    for `consistent_rank`; rated items weigh 1. Errors as above.
    """
    grades = check_grades(grades)
    f = check_scores(scores, length=grades.shape[0], allow_complex=True)
    pairs = beta(grades, delta)
    rank = consistent_rank(f, tau, weights)
    above = logistic((f[None, :] - f[:, None]) / tau)
    np.fill_diagonal(above, 1.0)
    normalizer = np.trace(pairs)
    if normalizer == 0:
        return float("nan")
    value = np.sum(np.sum(pairs * above, axis=1) / rank) / normalizer
    return value if np.iscomplexobj(f) else float(value)


def check_weights(weights, length: int) -> np.ndarray:
    """The `weights` of `consistent_rank` as floats, (length,); ValueError where they are none."""
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (length,) or not (np.isfinite(array).all() and (array >= 0).all()):
        raise ValueError(
            f"weights must be {length} finite numbers of at least 0, one for each score, got "
            f"{weights!r}"
        )
    return array


def _cumulative(delta, grades: np.ndarray) -> np.ndarray:
    """Δ(0), Δ(1), ..., with Δ(0) = 0."""
    return np.concatenate([[0.0], np.cumsum(check_delta(delta, grades.max(initial=0)))])


def _rated(scores, grades, delta) -> tuple[np.ndarray, np.ndarray]:
    grades = check_grades(grades, allow_unrated=False)
    f = check_scores(scores, length=grades.shape[0], allow_complex=True)
    return f, beta(grades, delta)


def _factors(u, V, reg) -> tuple[np.ndarray, np.ndarray, float]:
    u, V = np.asarray(u), np.asarray(V)
    if u.ndim != 1 or V.ndim != 2 or V.shape[1] != u.shape[0]:
        raise ValueError(
            f"u has shape {u.shape} and V {V.shape}; pass u as (D,) and V as (S, D), the rows of "
            "the user's rated items"
        )
    return u, V, check_real(reg, "reg")
