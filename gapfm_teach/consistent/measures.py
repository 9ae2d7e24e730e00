"""What `GAPfm` maximises with smooth ranks: the table of measures, the sample of unrated items
that training takes, and the objective of all users.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from .._support.checks import (
    check_array,
    check_choice,
    check_count,
    check_penalty,
    check_positions,
    check_real,
)
from ..paper import thresholding_probabilities
from . import power_mean, related_measures
from .gap import (
    consistent_average_precision,
    consistent_average_precision_gradient,
    consistent_gap,
    consistent_gap_gradient,
)


def consistent_measure(
    objective: str, max_grade: int, cutoff: int = 5, exponent: float = 0.0
) -> tuple[Callable[..., float], Callable[..., np.ndarray]]:
    """What `GAPfm(objective=...)` maximises for a user: (value, gradient), two functions.

    Both take (scores, grades, *, tau=1.0, weights=None). `objective`: "consistent" for GAP,
    "geometric" for the power mean with `exponent`, the others as their exact versions in
    `metrics`, namely "average_precision", "graded_precision", "graded_recall",
    "expected_reciprocal_rank"; max_grade, the top of the scale; cutoff n of the two that have
    one. Raises ValueError for another name.

    >>> from gapfm_teach.consistent.measures import consistent_measure
    >>> value, gradient = consistent_measure("average_precision", max_grade=5)
    >>> round(value([4, 3, 2, 1], [5, 0, 3, 4], tau=0.05), 3)  # (1/1 + 2/3 + 3/4) / 3
    0.806
    """
    delta = thresholding_probabilities(max_grade)
    at_n = {"delta": delta, "cutoff": check_count(cutoff, "cutoff")}
    table: dict[str, tuple[Callable, Callable, dict]] = {
        "consistent": (consistent_gap, consistent_gap_gradient, {"delta": delta}),
        "geometric": (
            power_mean.consistent_power_mean, power_mean.consistent_power_mean_gradient,
            {"delta": delta, "exponent": exponent},
        ),
        "average_precision": (
            consistent_average_precision, consistent_average_precision_gradient, {},
        ),
        "graded_precision": (
            related_measures.consistent_graded_precision,
            related_measures.consistent_graded_precision_gradient, at_n,
        ),
        "graded_recall": (
            related_measures.consistent_graded_recall,
            related_measures.consistent_graded_recall_gradient, at_n,
        ),
        "expected_reciprocal_rank": (
            related_measures.consistent_expected_reciprocal_rank,
            related_measures.consistent_expected_reciprocal_rank_gradient, {"max_grade": max_grade},
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

    Items 1, 3 | 4, 5 are left; one of each part is drawn, and stands for two:

    >>> from gapfm_teach.consistent.measures import sample_unrated
    >>> sample_unrated([0, 2], [0.5, 0.5], n_items=6)
    (array([3, 5]), 2.0)
    """
    left = np.setdiff1d(np.arange(n_items), check_positions(rated, "rated", n_items))
    uniforms = check_array(uniforms, "uniforms", finite=False)
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
    uniforms=None, objective="consistent", cutoff=5, exponent=0.0,
) -> float:  # fmt: skip
    """What `GAPfm(objective="consistent")` maximises: Σ_m GAP̂_m - λ/2 (‖U‖² + ‖V‖² + ‖b‖²).

    Scores are f_mi = <U_m, V_i> + b_i. GAP̂_m is `consistent_gap` of the whole catalogue, or,
    with `uniforms` (n_users, n), of the rated items and `sample_unrated` of the others. An
    unrated item counts `unrated_weight` in a rank where a rated one counts 1. A sample gives
    R̂ right in the mean, and so, 1/R̂ being convex, GAP̂ somewhat too high; less so the larger.
    Parameters: U, (n_users, D); V, (n_items, D); b, (n_items,); ratings, a `Ratings`; reg λ >= 0;
    objective, cutoff and exponent as in `consistent_measure`: which measure stands for GAP̂.
    Raises ValueError when shapes disagree, for factors that are not finite or so large that the
    value would not be, and as `consistent_measure` and `sample_unrated` do.

    One user, a rated film and an unrated one with equal scores: R̂ = 1.5, and nothing to regularise.

    >>> from gapfm_teach import Ratings
    >>> from gapfm_teach.consistent.measures import consistent_objective
    >>> ratings = Ratings([0, 1], [0], [1], n_items=2)
    >>> round(consistent_objective([[0.0]], [[0.0], [0.0]], [0.0, 0.0], ratings, reg=0.1), 3)
    0.667
    """
    U = check_array(user_factors, "user_factors")
    V, b = check_array(item_factors, "item_factors"), check_array(item_bias, "item_bias")
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
    measure, _ = consistent_measure(objective, ratings.max_grade, cutoff, exponent)
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
    return total - check_penalty(check_real(reg, "reg"), U, V, b)
