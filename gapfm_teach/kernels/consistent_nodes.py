"""A measure with smooth ranks, and its gradient, for one user, by pairs or by Chebyshev nodes.

Each sum of `consistent_pairs`, but for the cascade's, is a smooth function of the score of i or of
k alone, or one such function for each gain.
"""

import numpy as np

from .chebyshev import (
    GROUP,
    add_up_classes,
    chebyshev_nodes,
    chebyshev_points,
    chebyshev_series,
    class_bounds,
    evaluate_series,
    place_scores,
)
from .consistent_pairs import (
    CASCADE,
    PAIRS,
    POWER,
    consistent_sums_by_pairs,
    item_terms,
    scaled_exponentials,
)
from .jit import jit
from .scores import WIDEST_CENTRED_RANGE, score_range

_FINEST = 1e-14  # error of a term; rounding leaves as much in a sum
FEWEST_TERMS = 20_000  # interpolation never pays for fewer in a sum over all pairs


@jit()
def _error_of_a_term(tolerance, tau, n_rated, n_unrated, unrated_weight):
    """How much each t may err so that 1/R̂ and R̂^(1/τ) keep the tolerance.

    R̂ is no more than 1 at the top of a list, although all items add to it.
    """
    return tolerance * min(1.0, tau) / (n_rated + unrated_weight * n_unrated)


@jit()
def node_count(spread, error):
    """`chebyshev_nodes`, in whole groups of terms."""
    return (chebyshev_nodes(spread, error) + GROUP - 1) // GROUP * GROUP


@jit(fastmath={"reassoc", "contract"})
def _sums_at(x, e):
    """Σ_j t and Σ_j d, with t = g((f_j - x) / τ) and d = t (1 - t), one division each."""
    count = slope = 0.0
    for j in range(e.shape[0]):
        t = e[j] / (x + e[j])
        count += t
        slope += t * (1.0 - t)
    return count, slope


@jit(fastmath={"reassoc", "contract"})
def _weighted_sums_at(x, e, a, b):
    """Σ_j a_j d and Σ_j b_j d."""
    first = second = 0.0
    for j in range(e.shape[0]):
        t = e[j] / (x + e[j])
        d = t * (1.0 - t)
        first += a[j] * d
        second += b[j] * d
    return first, second


@jit()
def _class_bounds(kind, gains):
    """Where the items of each gain begin, and the end; one class where no sum asks for G_j."""
    if kind in (PAIRS, POWER):
        return class_bounds(gains)
    return np.array([0, gains.shape[0]])


@jit()
def _ranks_at(at, e, gains, bounds, unrated_weight):
    """(2 + 2 classes, p): R̂, w Σ_j d, and for each class Σ_j min(G_i, G_j) of t, then of d."""
    n_classes = bounds.shape[0] - 1
    sums = np.empty((2, n_classes, at.shape[0]))
    out = np.empty((2 + 2 * n_classes, at.shape[0]))
    for k in range(at.shape[0]):
        count, slope = _sums_at(at[k], e[bounds[-1] :])
        rank, fall = 0.5 + unrated_weight * count, unrated_weight * slope
        for c in range(n_classes):
            count, slope = _sums_at(at[k], e[bounds[c] : bounds[c + 1]])
            sums[0, c, k], sums[1, c, k] = count, slope
            rank += count
            fall += slope
        out[0, k], out[1, k] = rank, fall
    add_up_classes(sums[0], gains, bounds, out[2 : 2 + n_classes])
    add_up_classes(sums[1], gains, bounds, out[2 + n_classes :])
    return out


@jit()
def _gradients_at(at, e, x, s, gains, bounds):
    """(classes + 1, p): Σ_i d (x_i min(G_i, G_k) - s_i) for k of each class, and of G_k = 0."""
    n_classes = bounds.shape[0] - 1
    sums, out = np.empty((n_classes, at.shape[0])), np.empty((n_classes + 1, at.shape[0]))
    costs = np.empty(at.shape[0])
    for k in range(at.shape[0]):
        costs[k] = 0.0
        for c in range(n_classes):
            items = slice(bounds[c], bounds[c + 1])
            sums[c, k], cost = _weighted_sums_at(at[k], e[items], x[items], s[items])
            costs[k] += cost
    add_up_classes(sums, gains, bounds, out)
    for k in range(at.shape[0]):
        for c in range(n_classes):
            out[c, k] -= costs[k]
        out[n_classes, k] = -costs[k]
    return out


@jit()
def _by_nodes(
    n_nodes, low, high, bounds, scores, gains, item_weights, kind, shape, unrated_weight, tau,
    scratch, coefficients,
):  # fmt: skip
    """`consistent_sums` by way of `n_nodes` Chebyshev nodes from the lowest to the highest score."""
    n_rated, n_classes = gains.shape[0], bounds.shape[0] - 1
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    e, x, s = scratch[0, : scores.shape[0]], scratch[1, :n_rated], scratch[2, :n_rated]
    scaled_exponentials(scores, middle, tau, e)
    places, found = place_scores(scores, middle, half), np.empty((4, scores.shape[0]))
    nodes, at = chebyshev_points(n_nodes, half / tau)
    chosen = np.empty(4, dtype=np.int64)
    series = chebyshev_series(_ranks_at(at, e, gains, bounds, unrated_weight), nodes)
    value = 0.0
    for c in range(n_classes):
        chosen[0], chosen[1], chosen[2], chosen[3] = 0, 1, 2 + c, 2 + n_classes + c
        evaluate_series(places[bounds[c] : bounds[c + 1]], series, chosen, found)
        for k in range(bounds[c], bounds[c + 1]):
            i = k - bounds[c]
            term, x[k], s[k] = item_terms(
                kind,
                shape,
                tau,
                gains[k],
                item_weights[k],
                1.0 / found[0, i],
                found[2, i],
                0.0,
            )
            value += term
            coefficients[k] = (s[k] * found[1, i] - x[k] * found[3, i]) / tau
    coefficients[n_rated:] = 0.0
    series = chebyshev_series(_gradients_at(at, e, x, s, gains, bounds), nodes)
    for c in range(n_classes + 1):
        begin = bounds[c]
        end = bounds[c + 1] if c < n_classes else scores.shape[0]
        chosen[0] = c
        evaluate_series(places[begin:end], series, chosen[:1], found)
        each = (1.0 if c < n_classes else unrated_weight) / tau
        for k in range(begin, end):
            coefficients[k] += each * found[0, k - begin]
    return value


@jit()
def _cheaper_by_nodes(n_rated, n_unrated, n_classes, n_nodes):
    """Whether interpolation takes fewer nanoseconds than the pairs do.

    Fitted to times of one processor, within 20%, which the pairs are given as a start: so no list
    takes longer than before. Others have much the same proportions.
    """
    pairs = 1200.0 + n_rated * (14.0 + 0.276 * (n_rated + n_unrated))
    at_items = n_rated * (13.0 + 0.53 * n_nodes) + n_unrated * (2.7 + 0.225 * n_nodes)
    at_nodes = n_nodes * (0.5 * n_nodes + n_classes * (38.0 + 0.12 * n_nodes))
    return 1.2 * (3100.0 + at_items + at_nodes) < pairs


@jit()
def consistent_sums(
    scores, gains, item_weights, kind, shape, unrated_weight, tau, tolerance, scratch, coefficients
):  # fmt: skip
    """Consistent measure of one user, returned, and ∂/∂f, filled into `coefficients`.

    scores f, (S + n,): the rated items, then the unrated ones; gains G, (S,), from
    `normalize_gains`; item_weights v, (S,), of the power mean; shape: p of the power mean, the
    cut-off n of recall and precision; unrated_weight w: how many items each unrated one stands for;
    scratch (3, S + n or more). By interpolation where that is cheaper, with the error of
    `consistent_chebyshev_sums`, unless `tolerance` is None.
    """
    low, high = score_range(scores)
    if tolerance is not None:
        n_rated, n_unrated = gains.shape[0], scores.shape[0] - gains.shape[0]
        spread = (high - low) / tau
        error = _error_of_a_term(tolerance, tau, n_rated, n_unrated, unrated_weight)
        many = n_rated * scores.shape[0] > FEWEST_TERMS
        if kind != CASCADE and many and error > _FINEST and spread <= WIDEST_CENTRED_RANGE:
            n_nodes = node_count(spread, error)
            bounds = _class_bounds(kind, gains)
            if _cheaper_by_nodes(n_rated, n_unrated, bounds.shape[0] - 1, n_nodes):
                return _by_nodes(
                    n_nodes, low, high, bounds, scores, gains, item_weights, kind, shape,
                    unrated_weight, tau, scratch, coefficients,
                )  # fmt: skip
    return consistent_sums_by_pairs(
        low, high, scores, gains, item_weights, kind, shape, unrated_weight, tau, scratch,
        coefficients,
    )  # fmt: skip


@jit()
def consistent_chebyshev_sums(
    scores, gains, item_weights, kind, shape, unrated_weight, tau, tolerance, scratch, coefficients
):  # fmt: skip
    """`consistent_sums` by interpolation, whatever it costs; not for the cascade.

    For a score range of at most 1,400 τ. The value errs by at most `tolerance` times itself (the
    power mean's: times Σ_i v_i P_i^p, as a logarithm may be near 0), and
    coefficient k, c_k = (1/τ) Σ_i d_ik (m_ik - m_ki) with m_ij = a_ij - w_j s_i, by at most
    tolerance · (1/τ) Σ_i (d_ik + 1/W) (|m_ik| + |m_ki|), where W = Σ_j w_j. Rounding adds to
    the tolerance some 1e-14 · W / min(1, τ).
    """
    low, high = score_range(scores)
    n_unrated = scores.shape[0] - gains.shape[0]
    error = _error_of_a_term(tolerance, tau, gains.shape[0], n_unrated, unrated_weight)
    n_nodes = node_count((high - low) / tau, error)
    return _by_nodes(
        n_nodes, low, high, _class_bounds(kind, gains), scores, gains, item_weights, kind, shape,
        unrated_weight, tau, scratch, coefficients,
    )  # fmt: skip
