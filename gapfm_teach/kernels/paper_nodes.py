"""The smoothed GAP (8) of one user and its gradient, by pairs or by Chebyshev nodes.

P and Q of `paper_pairs` are smooth functions of the score of i, two for each grade.
"""

import numpy as np

from .chebyshev import (
    add_up_classes,
    chebyshev_nodes,
    chebyshev_points,
    chebyshev_series,
    class_bounds,
    evaluate_series,
    place_scores,
)
from .jit import jit
from .paper_pairs import PAD, exponentials, sums_by_far_pairs, sums_by_pairs
from .scores import WIDEST_CENTRED_RANGE, score_range

# Of P and Q, each in units of the largest value it can have: see `chebyshev_sums`. A step of
# training has an error of this size in its direction, far below what one iteration changes.
TOLERANCE = 1e-8
_FARTHEST_MIDDLE = 700.0  # beyond it exp(-middle) overflows, or underflows to 0
FEWEST_BY_NODES = 60  # interpolation never pays for so few items, or fewer


@jit(fastmath={"reassoc", "contract"})
def _sums_at(x, e, h):
    """Σ_j t and Σ_j h_j t (2 t - 1) with t = g(f_j - x), at x = exp(x - middle)."""
    P = 0.0
    Q = 0.0
    for j in range(e.shape[0]):
        t = e[j] / (x + e[j])
        P += t
        Q += h[j] * (t * (2.0 * t - 1.0))
    return P, Q


@jit()
def _values_at(at, e, h, weights, bounds):
    """(2 classes, p): P, then Q, as an item of each class has them at the nodes."""
    n_classes = bounds.shape[0] - 1
    sums = np.empty((2, n_classes, at.shape[0]))  # over the items of one class
    out = np.empty((2 * n_classes, at.shape[0]))
    for c in range(n_classes):
        e_c, h_c = e[bounds[c] : bounds[c + 1]], h[bounds[c] : bounds[c + 1]]
        for k in range(at.shape[0]):
            sums[0, c, k], sums[1, c, k] = _sums_at(at[k], e_c, h_c)
    add_up_classes(sums[0], weights, bounds, out[:n_classes])
    add_up_classes(sums[1], weights, bounds, out[n_classes:])
    return out


@jit()
def _interpolate(scores, middle, spread, n_nodes, e, g, h, weights, coefficients):
    """Value and `coefficients` by way of P and Q at `n_nodes` Chebyshev nodes."""
    half, bounds = 0.5 * spread, class_bounds(weights)
    n_classes = bounds.shape[0] - 1
    nodes, at = chebyshev_points(n_nodes, half)
    series = chebyshev_series(_values_at(at, e, h, weights, bounds), nodes)
    places, found = place_scores(scores, middle, half), np.empty((2, scores.shape[0]))
    chosen = np.empty(2, dtype=np.int64)
    value = 0.0
    for c in range(n_classes):
        begin, end = bounds[c], bounds[c + 1]
        chosen[0], chosen[1] = c, n_classes + c
        evaluate_series(places[begin:end], series, chosen, found)
        for i in range(begin, end):
            P, Q = found[0, i - begin], found[1, i - begin]
            value += g[i] * P
            coefficients[i] = g[i] * (h[i] * P + Q)
    return value


@jit()
def _cheaper_by_nodes(n_items, n_classes, n_nodes):
    """Whether interpolation takes fewer nanoseconds than the pairs do.

    Fitted to times of one processor, within 20%; others have much the same proportions.
    """
    pairs = 400.0 + n_items * (24.0 + 0.077 * n_items)
    to_and_from_nodes = n_items * (5.5 + 0.25 * n_nodes)
    at_nodes = n_classes * n_nodes * (18.0 + 0.08 * n_nodes)
    return 1300.0 + to_and_from_nodes + at_nodes < pairs


@jit()
def user_sums(scores, weights, tolerance, scratch, coefficients):
    """Smoothed GAP (8) of one user, returned, and ∂F/∂f, filled into `coefficients`.

    scores f, (S,); weights Δ(y), (S,), descending, so that β_ij = weights[i] for all j < i;
    scratch (5, S + 8 or more). By interpolation where that is cheaper, unless `tolerance` is None.
    """
    n = scores.shape[0]
    low, high = score_range(scores)
    middle, spread = 0.5 * (low + high), high - low
    if spread > WIDEST_CENTRED_RANGE or abs(middle) > _FARTHEST_MIDDLE:
        return sums_by_far_pairs(scores, weights, coefficients)
    own = slice(PAD, PAD + n)
    e, h, g = scratch[0, own], scratch[1, own], scratch[4, :n]
    exponentials(scores, middle, e, g, h)
    if tolerance is not None and n > FEWEST_BY_NODES and spread <= WIDEST_CENTRED_RANGE:
        n_nodes = chebyshev_nodes(spread, tolerance)  # the spread is not nan
        if _cheaper_by_nodes(n, class_bounds(weights).shape[0] - 1, n_nodes):
            return _interpolate(
                scores, middle, spread, n_nodes, e, g, h, weights, coefficients
            )
    padded = slice(0, PAD + n)
    return sums_by_pairs(
        scratch[0, padded], g, scratch[1, padded], weights, scratch[2, padded],
        scratch[3, padded], coefficients,
    )  # fmt: skip


@jit()
def pair_sums(scores, weights, coefficients):
    """`user_sums` pair by pair, whatever it costs."""
    scratch = np.empty((5, PAD + scores.shape[0]))
    return user_sums(scores, weights, None, scratch, coefficients)


@jit()
def chebyshev_sums(scores, weights, tolerance, coefficients):
    """`user_sums` by interpolation, whatever it costs, for a score range of at most 1,400.

    The error of the value is at most tolerance · Σ_i g_i Σ_j β_ij, and that of coefficient i at
    most tolerance · max(g) max(h) Σ_j β_ij: what t, 2 t - 1 and h add up to at the most.
    """
    n = scores.shape[0]
    e, g, h = np.empty(n), np.empty(n), np.empty(n)
    low, high = score_range(scores)
    middle, spread = 0.5 * (low + high), high - low
    exponentials(scores, middle, e, g, h)
    n_nodes = chebyshev_nodes(spread, tolerance)
    return _interpolate(scores, middle, spread, n_nodes, e, g, h, weights, coefficients)
