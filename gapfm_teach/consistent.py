"""The consistent objectives in plain NumPy: measures with smooth ranks that really are ranks.

Not in the paper: the repair of (7) and (8). `smooth.consistent_gap` is GAP's value for one user;
here are its gradient and AP's, the table of all measures that `GAPfm` can maximise this way
(`relatives` has the others), the sample of unrated items that training takes, and the objective
of all users. `kernels` computes the same numbers fast.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.polynomial import Chebyshev

from . import relatives
from .checks import (
    check_choice,
    check_count,
    check_delta,
    check_grades,
    check_positions,
    check_real,
    check_scores,
)
from .metrics import thresholding_probabilities
from .smooth import (
    beta,
    chebyshev_nodes,
    check_weights,
    consistent_gap,
    consistent_rank,
    logistic,
    logistic_derivative,
)


def consistent_gap_gradient(scores, grades, delta, tau=1.0, weights=None) -> np.ndarray:
    """∂/∂f of `smooth.consistent_gap`, (N,).

    With t_ij = g((f_j - f_i) / τ), R̂_i = ½ + Σ_j w_j t_ij and N_i = Δ(y_i) + Σ_{j≠i} β_ij t_ij,
    the value is (1/Z) Σ_i N_i / R̂_i. Only t_ij depends on f, and by the quotient rule

        ∂(value)/∂t_ij = (β_ij / R̂_i - w_j N_i / R̂_i²) / Z;

    `relatives.pair_gradient` makes ∂/∂f of it. Where all gaps are wide the gradient goes to 0 in
    any order, as GAP itself is flat there; but each order then has its own exact GAP for a value,
    and not one and the same.

    Arguments and errors as for `consistent_gap`; zeros when nothing is rated.
    """
    grades = check_grades(grades)
    f = check_scores(scores, length=grades.shape[0], allow_complex=True)
    pairs = beta(grades, delta)
    rank = consistent_rank(f, tau, weights)
    normalizer = np.trace(pairs)
    if normalizer == 0:
        return np.zeros_like(f)
    t = relatives.above(f, tau)
    np.fill_diagonal(t, 1.0)
    gain = np.sum(pairs * t, axis=1) / normalizer
    direct = pairs / (normalizer * rank[:, None])
    return relatives.pair_gradient(f, direct, gain / rank**2, tau, weights)


def interpolated_consistent_gap(
    scores, grades, delta, tau=1.0, weights=None, *, tolerance=1e-8
) -> tuple[float, np.ndarray]:
    """`consistent_gap` and `consistent_gap_gradient` in O(N p) operations instead of O(N²).

    As in `smooth.interpolated_smoothed_gap`, all sums are smooth functions of one score x, some
    of them one for each grade y. With t = g((f_j - x) / τ), d = t (1 - t) and
    β_j = min(Δ(y), Δ(y_j)) an item needs

        R̂ = ½ + Σ_j w_j t,  N = Δ(y)/2 + Σ_j β_j t,  R' = Σ_j w_j d,  N' = Σ_j β_j d,

    and, once q_i = 1/R̂_i and s_i = N_i / R̂_i² are known, A = Σ_i q_i β_i d and S = Σ_i s_i d:
    the value is (1/Z) Σ_i N_i q_i, and c_k = (1/Zτ) (A_k - w_k S_k - q_k N'_k + s_k R'_k). Values
    at p nodes give each function everywhere. At the top of a list R̂ is near 1, although all
    W = Σ_j w_j items add to it; so p is `chebyshev_nodes` for tolerance · min(1, τ) / W.

    Parameters as for `consistent_gap`, but real scores; tolerance > 0. Returns the value, which
    errs by at most tolerance times itself, and the gradient, (N,), whose entry k errs, in terms of
    `relatives.pair_gradient`, by at most tolerance · (1/τ) Σ_i (d_ik + 1/W) (|m_ik| + |m_ki|).
    Rounding adds to the tolerance some 1e-14 · W / min(1, τ): of a W of millions, or a tiny τ,
    few digits are left, and the direct sums are better. nan and zeros when nothing is rated. Raises ValueError for bad input.
    """
    grades = check_grades(grades)
    f = check_scores(scores, length=grades.shape[0])
    tau = check_real(tau, "tau", low_open=True)
    w = check_weights(np.ones(f.size) if weights is None else weights, f.size)
    gains = np.append(0.0, np.cumsum(check_delta(delta, grades.max(initial=0))))[grades]
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
    earned, earned_slope, pull = np.empty(f.size), np.empty(f.size), np.empty(f.size)
    of_grade = [(gains == gain, np.minimum(gains, gain)) for gain in np.unique(gains)]
    for mine, pairs in of_grade:
        earned[mine] = summed(logistic, pairs)(z[mine]) + gains[mine] / 2
        earned_slope[mine] = summed(logistic_derivative, pairs)(z[mine])
    cost = earned / rank**2
    for mine, pairs in of_grade:
        pull[mine] = summed(logistic_derivative, pairs / rank)(z[mine])
    pull -= w * summed(logistic_derivative, cost)(z) + earned_slope / rank
    pull += cost * summed(logistic_derivative, w)(z)
    return float(np.sum(earned / rank) / normalizer), pull / (normalizer * tau)


def consistent_average_precision(scores, grades, tau=1.0, weights=None) -> float:
    """AP with smooth ranks, all that is rated being relevant: `consistent_gap` with Δ(y) = 1.

    (1/S) Σ_i (1/R̂_i) (1 + Σ_{j≠i} g((f_j - f_i) / τ)) over the S rated i and j: Appendix D's
    y_max = 1. Arguments and errors as for `consistent_gap`.
    """
    return consistent_gap(scores, np.sign(check_grades(grades)), [1.0], tau, weights)


def consistent_average_precision_gradient(
    scores, grades, tau=1.0, weights=None
) -> np.ndarray:
    """∂/∂f of `consistent_average_precision`, (N,)."""
    relevant = np.sign(check_grades(grades))
    return consistent_gap_gradient(scores, relevant, [1.0], tau, weights)


def consistent_measure(
    objective: str, max_grade: int, cutoff: int = 5
) -> tuple[Callable[..., float], Callable[..., np.ndarray]]:
    """What `GAPfm(objective=...)` maximises for a user: (value, gradient), two functions.

    Both take (scores, grades, *, tau=1.0, weights=None). `objective`: "consistent" for GAP, the
    others as their exact versions in `metrics`, namely "average_precision", "graded_precision",
    "graded_recall", "expected_reciprocal_rank"; max_grade, the top of the scale; cutoff n of the
    two that have one. Raises ValueError for another name.
    """
    delta = thresholding_probabilities(max_grade)
    at_n = {"delta": delta, "cutoff": check_count(cutoff, "cutoff")}
    table: dict[str, tuple[Callable, Callable, dict]] = {
        "consistent": (consistent_gap, consistent_gap_gradient, {"delta": delta}),
        "average_precision": (
            consistent_average_precision, consistent_average_precision_gradient, {},
        ),
        "graded_precision": (
            relatives.consistent_graded_precision,
            relatives.consistent_graded_precision_gradient, at_n,
        ),
        "graded_recall": (
            relatives.consistent_graded_recall,
            relatives.consistent_graded_recall_gradient, at_n,
        ),
        "expected_reciprocal_rank": (
            relatives.consistent_expected_reciprocal_rank,
            relatives.consistent_expected_reciprocal_rank_gradient, {"max_grade": max_grade},
        ),
    }  # fmt: skip
    value, gradient, fixed = table[check_choice(objective, "objective", tuple(table))]
    return partial(value, **fixed), partial(gradient, **fixed)


def sample_unrated(rated, uniforms, n_items: int) -> tuple[np.ndarray, float]:
    """Some items that are not in `rated`, and how many unrated items each stands for.

    rated, (S,): distinct positions; uniforms, (n,) numbers in [0, 1). The n_items - S unrated
    items, in the order of their positions, are cut into n equal parts, and one is drawn from
    each. So each is as likely as every other, and (n_items - S)/n times the sum of any quantity
    over the sample is right in the mean. An item on a border may come twice; where there are no
    more than n, all of them come, once. Returns positions, (min(n, n_items - S),), and the
    factor, 0.0 without any. Raises ValueError for positions that are none, and for uniforms
    outside [0, 1).
    """
    left = np.setdiff1d(np.arange(n_items), check_positions(rated, "rated", n_items))
    uniforms = np.asarray(uniforms, dtype=float)
    if uniforms.ndim != 1 or not ((uniforms >= 0) & (uniforms < 1)).all():
        raise ValueError(
            f"uniforms must be a row of numbers from 0 to below 1, got {uniforms!r}; draw them "
            "with rng.random(n)"
        )
    n = min(uniforms.size, left.size)
    if n == left.size or n == 0:
        return left[:n], float(n > 0)
    places = ((np.arange(n) + uniforms) * (left.size / n)).astype(np.int64)
    return left[np.minimum(places, left.size - 1)], left.size / n


def consistent_objective(
    user_factors, item_factors, item_bias, ratings, *, tau=1.0, unrated_weight=1.0, reg,
    uniforms=None, objective="consistent", cutoff=5,
) -> float:  # fmt: skip
    """What `GAPfm(objective="consistent")` maximises: Σ_m GAP̂_m - λ/2 (‖U‖² + ‖V‖² + ‖b‖²).

    Scores are f_mi = <U_m, V_i> + b_i. GAP̂_m is `consistent_gap` of the whole catalogue, or,
    with `uniforms` (n_users, n), of the rated items and `sample_unrated` of the others. An
    unrated item counts `unrated_weight` in a rank where a rated one counts 1. A sample gives
    R̂ right in the mean, and so, 1/R̂ being convex, GAP̂ somewhat too high; less so the larger.
    Parameters: U, (n_users, D); V, (n_items, D); b, (n_items,); ratings, a `Ratings`; reg λ >= 0;
    objective and cutoff as in `consistent_measure`: which measure stands for GAP̂.
    Raises ValueError when shapes disagree, and as `consistent_measure` and `sample_unrated` do.
    """
    U, V, b = (np.asarray(x) for x in (user_factors, item_factors, item_bias))
    due = ((ratings.n_users, U.shape[-1]), (ratings.n_items, U.shape[-1]))
    if (U.shape, V.shape) != due or b.shape != due[1][:1]:
        raise ValueError(
            f"user_factors {U.shape}, item_factors {V.shape} and item_bias {b.shape} do not "
            f"belong to {ratings.n_users} users and {ratings.n_items} items"
        )
    if uniforms is not None and np.shape(uniforms)[:1] != due[0][:1]:
        raise ValueError(
            f"uniforms has shape {np.shape(uniforms)}; pass a row for each of the "
            f"{ratings.n_users} users, rng.random(({ratings.n_users}, n))"
        )
    measure, _ = consistent_measure(objective, ratings.max_grade, cutoff)
    unrated_weight = check_real(unrated_weight, "unrated_weight")
    total = 0.0
    for user in range(ratings.n_users):
        rated, grades = ratings.row(user)
        if not rated.size:
            continue
        draw = np.zeros(ratings.n_items) if uniforms is None else uniforms[user]
        others, weight = sample_unrated(rated, draw, ratings.n_items)
        items = np.concatenate([rated, others])
        total += measure(
            V[items] @ U[user] + b[items],
            np.concatenate([grades, np.zeros(others.size, dtype=np.int64)]),
            tau=tau,
            weights=np.repeat([1.0, unrated_weight * weight], [rated.size, others.size]),
        )
    size = np.sum(U**2) + np.sum(V**2) + np.sum(b**2)
    return total - check_real(reg, "reg") / 2 * float(size)
