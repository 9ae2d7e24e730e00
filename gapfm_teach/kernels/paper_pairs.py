"""The smoothed GAP (8) of one user and its gradient, pair by pair. Twin of `paper.smoothed_gap`.

With t_ij = g(f_j - f_i) and h = 1 - g, both (8) and its gradient depend on two sums,
P_i = Σ_j β_ij t_ij and Q_i = Σ_j β_ij h_j t_ij (2 t_ij - 1), because
(g(f_j) - g(f_i)) g'(f_j - f_i) = g_i h_j t_ij (2 t_ij - 1), where nothing cancels:
value = Σ_i g_i P_i and ∂F/∂f_i = g_i (h_i P_i + Q_i).
"""

import numpy as np

from .jit import jit

PAD = 8  # numbers in the longest vector


# A sum may be reordered (else no vector instructions); NaN and infinities keep their meaning.
@jit(fastmath={"reassoc", "contract"})
def _two_rows(e_0, e_1, g_0, g_1, weight_0, weight_1, e, h, P, slope):
    """The pairs of two items with all j in `e`, one division each; a row's β is its own weight.

    Adds to `P[j]` what P_j gets, and to `slope[j]` half of what Q_j gets, but for its factor
    h_j; returns what the P of the two get, and half of what their ∂F/∂f get. Two at a time,
    because loading and storing what belongs to j costs as much as a division.
    """
    P_0 = P_1 = Q_0 = Q_1 = 0.0
    from_0, from_1 = weight_0 * e_0, weight_1 * e_1
    weighted_g_0, weighted_g_1 = weight_0 * g_0, weight_1 * g_1
    for j in range(e.shape[0]):
        inverse_0 = 1.0 / (e_0 + e[j])
        inverse_1 = 1.0 / (e_1 + e[j])
        t_0 = e[j] * inverse_0
        t_1 = e[j] * inverse_1
        product_0 = t_0 * (t_0 - 0.5)
        product_1 = t_1 * (t_1 - 0.5)
        P_0 += t_0
        P_1 += t_1
        Q_0 += product_0 * h[j]
        Q_1 += product_1 * h[j]
        P[j] += from_0 * inverse_0 + from_1 * inverse_1
        slope[j] -= weighted_g_0 * product_0 + weighted_g_1 * product_1
    return weight_0 * P_0, weight_1 * P_1, weighted_g_0 * Q_0, weighted_g_1 * Q_1


@jit()
def sums_by_pairs(e, g, h, weights, P, slope, coefficients):
    """Value and `coefficients` by the half-triangle of pairs; P and slope are scratch.

    e, h, P and slope begin with PAD places for items that weigh nothing, e = h = 0, so that
    every row is a whole number of vectors: what is left over would be done one by one.
    """
    n = g.shape[0]
    for i in range(PAD):
        e[i] = 0.0
        h[i] = 0.0
    for i in range(n):
        P[PAD + i] = 0.5 * weights[i]  # j = i, where t = 1/2
        slope[PAD + i] = 0.0
        coefficients[i] = 0.0
    for i in range(0, n, 2):
        a, b = PAD + i, PAD + i + 1
        last = i + 1 == n  # without a partner: it gets one that weighs nothing
        e_b, g_b, weight_b = (1.0, 0.0, 0.0) if last else (e[b], g[i + 1], weights[i + 1])
        if i > 0:
            part = slice(a - (i + PAD - 1) // PAD * PAD, a)
            P_a, P_b, c_a, c_b = _two_rows(
                e[a], e_b, g[i], g_b, weights[i], weight_b,
                e[part], h[part], P[part], slope[part],
            )  # fmt: skip
            P[a] += P_a
            coefficients[i] = c_a
            if not last:
                P[b] += P_b
                coefficients[i + 1] = c_b
        if not last:  # the pair of the two
            inverse = 1.0 / (e_b + e[a])
            t = e[a] * inverse
            product = t * (t - 0.5)
            P[a] += weight_b * e_b * inverse
            P[b] += weight_b * t
            slope[a] -= weight_b * g_b * product
            coefficients[i + 1] += weight_b * g_b * product * h[a]
    value = 0.0
    for i in range(n):
        P_i = P[PAD + i]
        value += g[i] * P_i
        coefficients[i] *= 2.0
        coefficients[i] += h[PAD + i] * (2.0 * slope[PAD + i] + g[i] * P_i)
    return value


@jit()
def sums_by_far_pairs(scores, weights, coefficients):
    """`sums_by_pairs` for scores too far apart for shared exponentials: one exponential a pair."""
    g = 1.0 / (1.0 + np.exp(-scores))
    h = 1.0 / (1.0 + np.exp(scores))
    value = 0.0
    for i in range(scores.shape[0]):
        P = 0.0
        slope = 0.0
        for j in range(scores.shape[0]):
            weight = min(weights[i], weights[j])
            small = np.exp(-abs(scores[j] - scores[i]))
            upper = 1.0 / (1.0 + small)
            P += weight * (upper if scores[j] >= scores[i] else small * upper)
            slope += weight * (g[j] * h[i] - g[i] * h[j]) * small * upper * upper
        value += g[i] * P
        coefficients[i] = g[i] * h[i] * P + slope
    return value


@jit()
def exponentials(scores, middle, e, g, h):
    """exp(f - middle), g(f) and h(f) = g(-f), with one exponential an item."""
    zero = np.exp(-middle)  # of f = 0, on the scale of e
    for i in range(scores.shape[0]):
        e[i] = np.exp(scores[i] - middle)
        inverse = 1.0 / (zero + e[i])
        g[i] = e[i] * inverse
        h[i] = zero * inverse
