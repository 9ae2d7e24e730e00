"""Compiled code of the consistent objectives: value and gradients. Twin of `consistent`.

Layout as in `gradient`: a user's rated items stand in descending order of grade. The unrated items
that a pass sees are drawn here from uniform random numbers that the caller passes in.

All measures are one kernel with other weights. Let t_ij = g((f_j - f_i) / τ), d_ij = t_ij t_ji and
q_i = 1/R̂_i, where R̂_i = ½ + Σ_j t_ij + w Σ_l t_il, j over the rated items and l over the unrated
ones that were drawn, each of which stands for w. Where a_ij is what t_ij earns directly, and s_i
what one more item above i costs through R̂_i, the gradient is, but for the factor 1/τ,

    c_k = Σ_i d_ik ((a_ik - a_ki) - (s_i - s_k)) + s_k w Σ_l d_kl    for a rated item k,
    c_l = -w Σ_i s_i d_il                                            for an unrated item l.

With gains G_i, for each kind:

    pairs     Σ_i N_i q_i,  N_i = G_i + Σ_{j≠i} min(G_i, G_j) t_ij:
              a_ij = x_i min(G_i, G_j),  x_i = q_i,  s_i = N_i q_i²
    cut-off   Σ_i G_i h(R̂_i),  h(R̂) = 1 / (1 + (R̂ / (n + ½))^(1/τ)):
              a_ij = 0: as above with x_i = 0,  s_i = -G_i h'(R̂_i) = G_i h (1 - h) q_i / τ
    cascade   Σ_i N_i q_i,  N_i = G_i Π_{j≠i} (1 - G_j t_ij):
              a_ij = -x_i G_j / (1 - G_j t_ij),  x_i = N_i q_i,  s_i = N_i q_i²
"""

import numpy as np
from numba import prange

from .jit import jit

PAIRS, RECALL, PRECISION, CASCADE = range(4)  # recall and precision: a cut-off, other gains

# Exponentials centred at mid-range stay finite, and so do their sums, up to this spread.
_WIDEST_CENTRED_RANGE = 1400.0
_FARTHEST = 700.0  # of an exponential's argument


@jit()
def normalize_gains(kind, cutoff, gains):
    """Turn a user's gains, (S,) in descending order, in place into those whose sums are her value.

    Pairs and recall divide by Z = Σ gains. Precision counts in full what is as good as her n-th
    best item, or as her worst where she has fewer, and divides by n. The cascade's gains are
    probabilities and stay.
    """
    if kind == CASCADE:
        return
    enough, total = gains[0], gains.sum()
    if kind == PRECISION:
        enough = gains[min(cutoff, gains.shape[0]) - 1]
        total = cutoff * enough
    for i in range(gains.shape[0]):
        gains[i] = min(gains[i], enough) / total


# A sum may be reordered (else no vector instructions); NaN and infinities keep their meaning.
@jit(fastmath={"reassoc", "contract"})
def _count_above(e_i, e):
    """Σ_j t_ij over the items in `e`, one division each."""
    count = 0.0
    for j in range(e.shape[0]):
        count += e[j] / (e_i + e[j])
    return count


@jit(fastmath={"reassoc", "contract"})
def _pairs_above(e_i, e, gain_i, gains):
    """Σ_j t_ij and Σ_j min(G_i, G_j) t_ij."""
    count = pairs = 0.0
    for j in range(e.shape[0]):
        t = e[j] / (e_i + e[j])
        count += t
        pairs += min(gain_i, gains[j]) * t
    return count, pairs


@jit(fastmath={"reassoc", "contract"})
def _cascade_above(e_i, e, gains):
    """Σ_j t_ij and Π_j (1 - G_j t_ij), whose factors stay above 0."""
    count, passed = 0.0, 1.0
    for j in range(e.shape[0]):
        inverse = 1.0 / (e_i + e[j])
        t = e[j] * inverse
        count += t
        passed *= e_i * inverse + (1.0 - gains[j]) * t
    return count, passed


@jit(fastmath={"reassoc", "contract"})
def _pull_of_pairs(e_k, e, gain_k, gains, x_k, x, s_k, s):
    """Σ_i d_ik ((x_i - x_k) min(G_i, G_k) - (s_i - s_k)) over the rated items."""
    pull = 0.0
    for i in range(e.shape[0]):
        inverse = 1.0 / (e_k + e[i])
        d = (e_k * inverse) * (e[i] * inverse)
        pull += d * ((x[i] - x_k) * min(gain_k, gains[i]) - (s[i] - s_k))
    return pull


@jit(fastmath={"reassoc", "contract"})
def _pull_of_cascade(e_k, e, gain_k, gains, x_k, x, s_k, s):
    """Σ_i d_ik ((a_ik - a_ki) - (s_i - s_k)) over the rated items, a_ij = -x_i G_j / (...)."""
    pull = 0.0
    for i in range(e.shape[0]):
        inverse = 1.0 / (e_k + e[i])
        t, reverse = e_k * inverse, e[i] * inverse  # t_ik and t_ki
        down = x[i] * gain_k / (reverse + (1.0 - gain_k) * t)  # -a_ik
        up = x_k * gains[i] / (t + (1.0 - gains[i]) * reverse)  # -a_ki
        pull += t * reverse * (up - down - (s[i] - s_k))
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
def _earnings(kind, cutoff, tau, gain, q, pairs, passed):
    """What item i adds to the value, x_i, its factor in all a_ij, and s_i."""
    if kind == PAIRS:
        earned = pairs + 0.5 * gain  # j = i counts 1, and has been counted ½
        return earned * q, q, earned * q * q
    if kind == CASCADE:
        earned = gain * passed / (1.0 - 0.5 * gain)  # without j = i
        return earned * q, earned * q, earned * q * q
    z = (np.log(cutoff + 0.5) + np.log(q)) / tau
    small = np.exp(-abs(z))
    inside = (1.0 if z >= 0.0 else small) / (1.0 + small)
    return gain * inside, 0.0, gain * small / (1.0 + small) ** 2 * q / tau


@jit()
def consistent_sums(
    scores, gains, kind, cutoff, unrated_weight, tau, scratch, coefficients
):
    """Consistent measure of one user, returned, and ∂/∂f, filled into `coefficients`.

    scores f, (S + n,): the rated items, then the unrated ones; gains G, (S,), from
    `normalize_gains`; cutoff n of recall and precision; unrated_weight w: for how many items each
    unrated one stands; scratch (3, S + n or more).
    """
    n_rated = gains.shape[0]
    low, high = scores.min(), scores.max()
    wide = not high - low <= _WIDEST_CENTRED_RANGE * tau
    e, x, s = scratch[0, : scores.shape[0]], scratch[1, :n_rated], scratch[2, :n_rated]
    rated, unrated = e[:n_rated], e[n_rated:]
    if not wide:
        _exponentials(scores, 0.5 * (low + high), tau, e)
    value = 0.0
    for i in range(n_rated):
        if wide:  # no exponentials can be shared
            _exponentials(scores, scores[i], tau, e)
        pairs = passed = 0.0
        if kind == CASCADE:
            count, passed = _cascade_above(e[i], rated, gains)
        else:
            count, pairs = _pairs_above(e[i], rated, gains[i], gains)
        q = 1.0 / (0.5 + count + unrated_weight * _count_above(e[i], unrated))
        earned, x[i], s[i] = _earnings(kind, cutoff, tau, gains[i], q, pairs, passed)
        value += earned
    coefficients[n_rated:] = 0.0
    for k in range(n_rated):
        if wide:
            _exponentials(scores, scores[k], tau, e)
        if kind == CASCADE:
            pull = _pull_of_cascade(e[k], rated, gains[k], gains, x[k], x, s[k], s)
        else:
            pull = _pull_of_pairs(e[k], rated, gains[k], gains, x[k], x, s[k], s)
        push = s[k] * unrated_weight
        others = _pull_of_unrated(e[k], unrated, push / tau, coefficients[n_rated:])
        coefficients[k] = (pull + push * others) / tau
    return value


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
    begin, end, U, V, indptr, items, grades, gains, ascending, uniforms, kind, cutoff, tau,
    unrated_weight, values, U_gradient, V_part,
):  # fmt: skip
    """`consistent_gradients` for the users begin..end - 1."""
    V_part[:] = 0.0
    longest = 0
    for m in range(begin, end):
        longest = max(longest, indptr[m + 1] - indptr[m])
    longest += uniforms.shape[1]
    scratch, mine = np.empty((6, longest)), np.empty(longest, dtype=np.int64)
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
        scores, coefficients, hers = scratch[3, :n], scratch[4, :n], scratch[5, :n_rated]
        for k in range(n):
            f = 0.0
            for d in range(V.shape[1]):
                f += U[m, d] * V[mine[k], d]
            scores[k] = f
        hers[:] = gains[grades[row]]
        normalize_gains(kind, cutoff, hers)
        values[m] = consistent_sums(
            scores, hers, kind, cutoff, each, tau, scratch, coefficients
        )
        for k in range(n):
            for d in range(V.shape[1]):
                U_gradient[m, d] += coefficients[k] * V[mine[k], d]
                V_part[mine[k], d] += coefficients[k] * U[m, d]


@jit(parallel=True)
def consistent_gradients(
    U, V, indptr, items, grades, gains, ascending, uniforms, kind, cutoff, tau,
    unrated_weight, blocks,
    values, U_gradient, V_parts,
):  # fmt: skip
    """One pass over all users: the measure of each, ∂/∂U, and each block's part of ∂/∂V.

    All without λ. gains: G for each grade 0..max_grade, ascending; `items` with each user's in
    ascending order in `ascending`; uniforms (n_users, n) in [0, 1), from which n unrated items
    are drawn for each user, to stand for all of them; each counts `unrated_weight` in a rank,
    where a rated item counts 1. Block b is the users blocks[b]..blocks[b + 1] - 1. `add_blocks`
    sums the parts.
    """
    for b in prange(blocks.shape[0] - 1):
        _block(
            blocks[b], blocks[b + 1], U, V, indptr, items, grades, gains, ascending, uniforms,
            kind, cutoff, tau, unrated_weight, values, U_gradient, V_parts[b],
        )  # fmt: skip
