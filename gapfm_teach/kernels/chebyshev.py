"""Sums over a user's items as functions of one score, interpolated at Chebyshev nodes.

Twin of `consistent.fast_sums`. A sum of logistic functions of f_j - x is a smooth function of x, so
its values at a few dozen nodes give it everywhere. Items whose weight Δ is equal form a class, and
need one such function; the items are in descending order of their weights.
"""

import math

import numpy as np

from .jit import jit

GROUP = 4  # terms of a series that are added at a time
_CHUNK = 512  # items whose series are evaluated together: they stay in the nearest cache


@jit()
def chebyshev_nodes(spread, tolerance):
    """How many nodes interpolation needs for scores from -spread/2 to spread/2.

    As functions of x, g(f - x) and its derivatives have poles at f ± iπ, so the error of
    interpolation falls by ρ a node, with ρ the ellipse through them. The 60 covers what the
    distance of the poles leaves open; `tests/kernels/test_fast_sum.py` measures it.
    """
    slope = 2.0 * math.pi / spread
    rho = slope + math.sqrt(1.0 + slope * slope)
    return 1 + max(0, math.ceil(math.log(60.0 / tolerance) / math.log(rho)))


@jit()
def chebyshev_points(n_nodes, half):
    """The nodes in [-1, 1], and exp(`half` · node): each (n_nodes,)."""
    nodes, exponentials = np.empty(n_nodes), np.empty(n_nodes)
    for k in range(n_nodes):
        nodes[k] = math.cos(math.pi / n_nodes * (k + 0.5))
        exponentials[k] = math.exp(half * nodes[k])
    return nodes, exponentials


@jit()
def class_bounds(weights):
    """Where the items of each weight begin, and the end: (number of classes + 1,)."""
    bounds = np.empty(weights.shape[0] + 1, dtype=np.int64)
    bounds[0], n = 0, 1
    for i in range(1, weights.shape[0]):
        if weights[i] != weights[i - 1]:
            bounds[n] = i
            n += 1
    bounds[n] = weights.shape[0]
    return bounds[: n + 1]


@jit()
def add_up_classes(sums, weights, bounds, out):
    """Σ_j min(Δ_i, Δ_j) (...) for an i of each class, (classes, p), from the sums over each class.

    The weight of i counts for the classes above it and its own, theirs for those below.
    """
    for k in range(sums.shape[1]):
        above = below = 0.0
        for c in range(sums.shape[0]):
            above += sums[c, k]
            out[c, k] = weights[bounds[c]] * above
        for c in range(sums.shape[0] - 1, -1, -1):
            out[c, k] += below
            below += weights[bounds[c]] * sums[c, k]


# A sum may be reordered (else no vector instructions); NaN and infinities keep their meaning.
@jit(fastmath={"reassoc", "contract"})
def chebyshev_series(values, nodes):
    """Coefficients of the interpolants through values (q, p) at the nodes (p,), in whole groups."""
    p = nodes.shape[0]
    out = np.zeros((values.shape[0], (p + GROUP - 1) // GROUP * GROUP))
    before, now = np.empty(p), np.empty(p)  # T_{k-1} and T_k at the nodes; T_{-1} = T_1
    for n in range(p):
        before[n] = nodes[n]
        now[n] = 1.0
    for k in range(p):
        for q in range(values.shape[0]):
            total, row = 0.0, values[q]
            for n in range(p):
                total += row[n] * now[n]
            out[q, k] = total * (1.0 if k == 0 else 2.0) / p
        for n in range(p):
            after = 2.0 * nodes[n] * now[n] - before[n]
            before[n] = now[n]
            now[n] = after
    return out


@jit(fastmath={"reassoc", "contract"})
def _next_group(s, T_0, T_1, T_2, T_3):
    """The Chebyshev polynomials of the next four degrees at s, from the last two."""
    for i in range(s.shape[0]):
        twice = 2.0 * s[i]
        a = twice * T_3[i] - T_2[i]
        b = twice * a - T_3[i]
        c = twice * b - a
        T_0[i], T_1[i], T_2[i], T_3[i] = a, b, c, twice * c - b


@jit(fastmath={"reassoc", "contract"})
def _add_group(series, T_0, T_1, T_2, T_3, out):
    """Their terms in a series; four at a time, because loading `out` costs as much as a term."""
    a, b, c, d = series[0], series[1], series[2], series[3]
    for i in range(out.shape[0]):
        out[i] += a * T_0[i] + b * T_1[i] + c * T_2[i] + d * T_3[i]


@jit()
def evaluate_series(places, series, chosen, out):
    """The `chosen` ones of the series (q, p) at places in [-1, 1], (n,); out (chosen, n)."""
    T = np.empty((GROUP, _CHUNK))
    for begin in range(0, places.shape[0], _CHUNK):
        s = places[begin : begin + _CHUNK]
        end, n = begin + s.shape[0], s.shape[0]
        T_0, T_1, T_2, T_3 = T[0, :n], T[1, :n], T[2, :n], T[3, :n]
        for i in range(n):
            T_2[i], T_3[i] = 2.0 * s[i] * s[i] - 1.0, s[i]  # of degrees -2 and -1
        for row in range(chosen.shape[0]):
            out[row, begin:end] = 0.0
        for k in range(0, series.shape[1], GROUP):
            _next_group(s, T_0, T_1, T_2, T_3)
            for row in range(chosen.shape[0]):
                terms = series[chosen[row], k : k + GROUP]
                _add_group(terms, T_0, T_1, T_2, T_3, out[row, begin:end])


@jit()
def place_scores(scores, middle, half):
    """Where the scores are in [-1, 1] when middle ± half is; 0 where all are equal."""
    places = np.empty(scores.shape[0])
    for k in range(scores.shape[0]):
        places[k] = (scores[k] - middle) / half if half > 0.0 else 0.0
    return places
