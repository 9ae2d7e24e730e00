"""Compiled code of the consistent objective: its value and gradients. Twin of `consistent`.

Layout as in `gradient`: a user's rated items stand in descending order of grade. The unrated items
that a pass sees are drawn here from uniform random numbers that the caller passes in.

For one user, with t_ij = g((f_j - f_i) / τ), d_ij = t_ij t_ji, q_i = 1/R̂_i and p_i = N_i q_i²,
where N_i = Δ_i + Σ_{j≠i} β_ij t_ij, the gradient is, but for the factor 1/(Zτ),

    c_k = Σ_i d_ik ((q_i - q_k) β_ik - (p_i - p_k)) + p_k w Σ_l d_kl    for a rated item k,
    c_l = -w Σ_i p_i d_il                                               for an unrated item l,

i over the rated items, l over the unrated ones that were drawn, each of which stands for w.
"""

import numpy as np
from numba import prange

from .jit import jit

# Exponentials centred at mid-range stay finite, and so do their sums, up to this spread.
_WIDEST_CENTRED_RANGE = 1400.0
_FARTHEST = 700.0  # of an exponential's argument


# A sum may be reordered (else no vector instructions); NaN and infinities keep their meaning.
@jit(fastmath={"reassoc", "contract"})
def _above(e_i, e, weight_i, weights):
    """Σ_j t_ij and Σ_j β_ij t_ij over the items in `e`, one division each."""
    count = pairs = 0.0
    for j in range(e.shape[0]):
        t = e[j] / (e_i + e[j])
        count += t
        pairs += min(weight_i, weights[j]) * t
    return count, pairs


@jit(fastmath={"reassoc", "contract"})
def _count_above(e_i, e):
    """Σ_l t_il."""
    count = 0.0
    for j in range(e.shape[0]):
        count += e[j] / (e_i + e[j])
    return count


@jit(fastmath={"reassoc", "contract"})
def _pull_of_rated(e_k, e, weight_k, weights, q_k, q, p_k, p):
    """Σ_i d_ik ((q_i - q_k) β_ik - (p_i - p_k)) over the rated items."""
    pull = 0.0
    for i in range(e.shape[0]):
        inverse = 1.0 / (e_k + e[i])
        d = (e_k * inverse) * (e[i] * inverse)
        pull += d * ((q[i] - q_k) * min(weight_k, weights[i]) - (p[i] - p_k))
    return pull


@jit(fastmath={"reassoc", "contract"})
def _pull_of_unrated(e_k, e, push, out):
    """Σ_l d_kl over the unrated items; subtracts from each its share, push · d_kl."""
    pull = 0.0
    for j in range(e.shape[0]):
        inverse = 1.0 / (e_k + e[j])
        d = (e_k * inverse) * (e[j] * inverse)
        pull += d
        out[j] -= push * d
    return pull


@jit()
def _exponentials(scores, middle, tau, e):
    for j in range(scores.shape[0]):
        e[j] = np.exp(min((scores[j] - middle) / tau, _FARTHEST))


@jit()
def consistent_sums(scores, weights, unrated_weight, tau, scratch, coefficients):
    """Consistent GAP of one user, returned, and ∂/∂f, filled into `coefficients`.

    scores f, (S + n,): the rated items, then the unrated ones; weights Δ(y), (S,), in descending
    order; unrated_weight w: for how many items each unrated one stands; scratch (3, S + n or more).
    """
    n_rated = weights.shape[0]
    low, high = scores.min(), scores.max()
    wide = not high - low <= _WIDEST_CENTRED_RANGE * tau
    e, q, p = scratch[0, : scores.shape[0]], scratch[1, :n_rated], scratch[2, :n_rated]
    rated, unrated = e[:n_rated], e[n_rated:]
    if not wide:
        _exponentials(scores, 0.5 * (low + high), tau, e)
    value = normalizer = 0.0
    for i in range(n_rated):
        if wide:  # no exponentials can be shared
            _exponentials(scores, scores[i], tau, e)
        count, pairs = _above(e[i], rated, weights[i], weights)
        rank = 0.5 + count + unrated_weight * _count_above(e[i], unrated)
        gain = pairs + 0.5 * weights[i]  # j = i counts 1, and has been counted ½
        q[i] = 1.0 / rank
        p[i] = gain * q[i] * q[i]
        value += gain * q[i]
        normalizer += weights[i]
    coefficients[n_rated:] = 0.0
    scale = 1.0 / (normalizer * tau)
    for k in range(n_rated):
        if wide:
            _exponentials(scores, scores[k], tau, e)
        pull = _pull_of_rated(e[k], rated, weights[k], weights, q[k], q, p[k], p)
        push = p[k] * unrated_weight
        others = _pull_of_unrated(e[k], unrated, push * scale, coefficients[n_rated:])
        coefficients[k] = (pull + push * others) * scale
    return value / normalizer


@jit()
def draw_unrated(rated, uniforms, n_items, out):
    """Draw some of the items that are not in `rated`; returns how many, filled into `out`.

    rated, (S,): positions in ascending order; uniforms, (n,) in [0, 1). The unrated items, in
    order, are cut into n equal parts, and one is drawn from each: every item is as likely as
    every other. Where there are n or fewer all of them are taken.
    """
    left = n_items - rated.shape[0]
    n = min(uniforms.shape[0], left)
    passed = 0
    for k in range(n):
        place = k
        if n < left:
            place = min(left - 1, int((k + uniforms[k]) * (left / n)))
        while passed < rated.shape[0] and rated[passed] <= place + passed:
            passed += 1
        out[k] = place + passed
    return n


@jit()
def _block(
    begin, end, U, V, indptr, items, grades, cumulative, ascending, uniforms, tau, unrated_weight,
    values, U_gradient, V_part,
):  # fmt: skip
    """`consistent_gradients` for the users begin..end - 1."""
    V_part[:] = 0.0
    longest = 0
    for m in range(begin, end):
        longest = max(longest, indptr[m + 1] - indptr[m])
    longest += uniforms.shape[1]
    scratch, mine = np.empty((5, longest)), np.empty(longest, dtype=np.int64)
    for m in range(begin, end):
        values[m] = 0.0
        U_gradient[m, :] = 0.0
        row = slice(indptr[m], indptr[m + 1])
        n_rated = row.stop - row.start
        if n_rated == 0:
            continue
        mine[:n_rated] = items[row]
        n_drawn = draw_unrated(ascending[row], uniforms[m], V.shape[0], mine[n_rated:])
        n = n_rated + n_drawn
        each = unrated_weight * (V.shape[0] - n_rated) / max(1, n_drawn)
        scores, coefficients = scratch[3, :n], scratch[4, :n]
        for k in range(n):
            f = 0.0
            for d in range(V.shape[1]):
                f += U[m, d] * V[mine[k], d]
            scores[k] = f
        values[m] = consistent_sums(
            scores, cumulative[grades[row]], each, tau, scratch, coefficients
        )
        for k in range(n):
            for d in range(V.shape[1]):
                U_gradient[m, d] += coefficients[k] * V[mine[k], d]
                V_part[mine[k], d] += coefficients[k] * U[m, d]


@jit(parallel=True)
def consistent_gradients(
    U, V, indptr, items, grades, cumulative, ascending, uniforms, tau,
    unrated_weight, blocks,
    values, U_gradient, V_parts,
):  # fmt: skip
    """One pass over all users: consistent GAP of each, ∂/∂U, and each block's part of ∂/∂V.

    All without λ. ascending: `items` with each user's in ascending order; uniforms (n_users, n)
    in [0, 1), from which n unrated items are drawn for each user, to stand for all of them; each
    counts `unrated_weight` in a rank, where a rated item counts 1. Block b is the users
    blocks[b]..blocks[b + 1] - 1. `add_blocks` sums the parts.
    """
    for b in prange(blocks.shape[0] - 1):
        _block(
            blocks[b], blocks[b + 1], U, V, indptr, items, grades, cumulative,
            ascending, uniforms, tau, unrated_weight, values, U_gradient, V_parts[b],
        )  # fmt: skip
