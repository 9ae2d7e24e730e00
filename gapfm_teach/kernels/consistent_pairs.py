"""A measure with smooth ranks, and its gradient, for one user, pair by pair. Twin of `consistent`.

A user's rated items are in descending order of grade, then come unrated ones.

All measures are one kernel with different weights. Let t_ij = g((f_j - f_i) / τ), d_ij = t_ij t_ji
and q_i = 1/R̂_i, where R̂_i = ½ + Σ_j t_ij + w Σ_l t_il, with j over the rated items and l over the
unrated ones that were drawn, each of which stands for w. Where a_ij is what t_ij adds directly, and
s_i what one more item above i costs through R̂_i, the gradient is, but for the factor 1/τ,

    c_k = Σ_i d_ik ((a_ik - a_ki) - (s_i - s_k)) + s_k w Σ_l d_kl    for a rated item k,
    c_l = -w Σ_i s_i d_il                                            for an unrated item l.

With gains G_i, for each kind:

    pairs     Σ_i N_i q_i,  N_i = G_i + Σ_{j≠i} min(G_i, G_j) t_ij:
              a_ij = x_i min(G_i, G_j),  x_i = q_i,  s_i = N_i q_i²
    cut-off   Σ_i G_i h(R̂_i),  h(R̂) = 1 / (1 + (R̂ / (n + ½))^(1/τ)):
              a_ij = 0: as above with x_i = 0,  s_i = -G_i h'(R̂_i) = G_i h (1 - h) q_i / τ
    cascade   Σ_i N_i q_i,  N_i = G_i Π_{j≠i} (1 - G_j t_ij):
              a_ij = -x_i G_j / (1 - G_j t_ij),  x_i = N_i q_i,  s_i = N_i q_i²
    power     Σ_i v_i (P_i^p - 1) / p, or Σ_i v_i log P_i for p = 0, with P_i = N_i q_i / G_i and
              N_i as for pairs: a_ij as there,  x_i = v_i P_i^p / N_i,  s_i = v_i P_i^p q_i

Loops are used where an array expression would do, because those take a second each to compile.
"""

import numpy as np

from .jit import jit
from .scores import WIDEST_CENTRED_RANGE, score_range

PAIRS, RECALL, PRECISION, CASCADE, POWER = range(5)
_FARTHEST = 700.0  # of an exponential's argument


@jit()
def normalize_gains(kind, shape, gains):
    """Turn a user's gains, (S,) in descending order, in place into those whose sums are the value.

    Pairs and recall divide by Z = Σ gains. Precision counts in full what is as good as the n-th
    best item, or as the worst where there are fewer, and divides by n. The cascade's gains are
    probabilities and stay, as do those of the power mean, which cancel. `shape` is n.
    """
    if kind in (CASCADE, POWER):
        return
    enough, total = gains[0], 0.0
    for gain in gains:
        total += gain
    if kind == PRECISION:
        enough = gains[int(min(shape, gains.shape[0])) - 1]
        total = shape * enough
    for i in range(gains.shape[0]):
        gains[i] = min(gains[i], enough) / total


# A sum may be reordered (else no vector instructions); NaN and infinities keep their meaning.
@jit(fastmath={"reassoc", "contract"})
def _count(e_i, e):
    """Σ_j t_ij over the items in `e`, one division each."""
    count = 0.0
    for j in range(e.shape[0]):
        count += e[j] / (e_i + e[j])
    return count


@jit(fastmath={"reassoc", "contract"})
def _count_and_pairs(e_i, e, gain_i, gains):
    """Σ_j t_ij and Σ_j min(G_i, G_j) t_ij."""
    count = pairs = 0.0
    for j in range(e.shape[0]):
        t = e[j] / (e_i + e[j])
        count += t
        pairs += min(gain_i, gains[j]) * t
    return count, pairs


@jit(fastmath={"reassoc", "contract"})
def _count_and_cascade(e_i, e, gains):
    """Σ_j t_ij and Π_j (1 - G_j t_ij), whose factors stay above 0."""
    count, passed = 0.0, 1.0
    for j in range(e.shape[0]):
        inverse = 1.0 / (e_i + e[j])
        t = e[j] * inverse
        count += t
        passed *= e_i * inverse + (1.0 - gains[j]) * t
    return count, passed


@jit(fastmath={"reassoc", "contract"})
def _pair_gradient(e_k, e, gain_k, gains, x_k, x, s_k, s):
    """Σ_i d_ik ((x_i - x_k) min(G_i, G_k) - (s_i - s_k)) over the rated items."""
    total = 0.0
    for i in range(e.shape[0]):
        inverse = 1.0 / (e_k + e[i])
        d = (e_k * inverse) * (e[i] * inverse)
        total += d * ((x[i] - x_k) * min(gain_k, gains[i]) - (s[i] - s_k))
    return total


@jit(fastmath={"reassoc", "contract"})
def _cascade_gradient(e_k, e, gain_k, gains, x_k, x, s_k, s):
    """Σ_i d_ik ((a_ik - a_ki) - (s_i - s_k)) over the rated items, a_ij = -x_i G_j / (...)."""
    total = 0.0
    for i in range(e.shape[0]):
        inverse = 1.0 / (e_k + e[i])
        t, reverse = e_k * inverse, e[i] * inverse  # t_ik and t_ki
        down = x[i] * gain_k / (reverse + (1.0 - gain_k) * t)  # -a_ik
        up = x_k * gains[i] / (t + (1.0 - gains[i]) * reverse)  # -a_ki
        total += t * reverse * (up - down - (s[i] - s_k))
    return total


@jit(fastmath={"reassoc", "contract"})
def _unrated_gradient(e_k, e, cost, out):
    """Σ_l d_kl over the unrated items; subtracts cost · d_kl from the gradient of each."""
    total = 0.0
    for j in range(e.shape[0]):
        inverse = 1.0 / (e_k + e[j])
        d = (e_k * inverse) * (e[j] * inverse)
        total += d
        out[j] -= cost * d
    return total


@jit()
def scaled_exponentials(scores, middle, tau, e):
    for j in range(scores.shape[0]):
        e[j] = np.exp(min((scores[j] - middle) / tau, _FARTHEST))


@jit()
def _power(exponent, precision):
    """P^p, and (P^p - 1) / p, which is log P for p = 0."""
    log = np.log(precision)
    if exponent == 0.0:
        return 1.0, log
    return np.exp(exponent * log), np.expm1(exponent * log) / exponent


@jit()
def item_terms(kind, shape, tau, gain, item_weight, q, pairs, passed):
    """What item i adds to the value, x_i, its factor in all a_ij, and s_i."""
    if kind == POWER:
        numerator = pairs + 0.5 * gain
        power, value = _power(shape, numerator * q / gain)
        return item_weight * value, item_weight * power / numerator, item_weight * power * q
    if kind == PAIRS:
        numerator = pairs + 0.5 * gain  # j = i counts 1, and has been counted ½
        return numerator * q, q, numerator * q * q
    if kind == CASCADE:
        numerator = gain * passed / (1.0 - 0.5 * gain)  # without j = i
        return numerator * q, numerator * q, numerator * q * q
    z = (np.log(shape + 0.5) + np.log(q)) / tau
    small = np.exp(-abs(z))
    inside = (1.0 if z >= 0.0 else small) / (1.0 + small)
    return gain * inside, 0.0, gain * small / (1.0 + small) ** 2 * q / tau


@jit()
def consistent_sums_by_pairs(
    low, high, scores, gains, item_weights, kind, shape, unrated_weight, tau, scratch, coefficients
):  # fmt: skip
    """`consistent_sums` pair by pair; `low` and `high` are the lowest and the highest score."""
    n_rated = gains.shape[0]
    wide = not high - low <= WIDEST_CENTRED_RANGE * tau
    e, x, s = scratch[0, : scores.shape[0]], scratch[1, :n_rated], scratch[2, :n_rated]
    rated, unrated = e[:n_rated], e[n_rated:]
    if not wide:
        scaled_exponentials(scores, 0.5 * (low + high), tau, e)
    value = 0.0
    for i in range(n_rated):
        if wide:  # no exponentials can be shared
            scaled_exponentials(scores, scores[i], tau, e)
        pairs = passed = 0.0
        if kind == CASCADE:
            count, passed = _count_and_cascade(e[i], rated, gains)
        else:
            count, pairs = _count_and_pairs(e[i], rated, gains[i], gains)
        q = 1.0 / (0.5 + count + unrated_weight * _count(e[i], unrated))
        term, x[i], s[i] = item_terms(
            kind, shape, tau, gains[i], item_weights[i], q, pairs, passed
        )
        value += term
    coefficients[n_rated:] = 0.0
    for k in range(n_rated):
        if wide:
            scaled_exponentials(scores, scores[k], tau, e)
        if kind == CASCADE:
            total = _cascade_gradient(e[k], rated, gains[k], gains, x[k], x, s[k], s)
        else:
            total = _pair_gradient(e[k], rated, gains[k], gains, x[k], x, s[k], s)
        cost = s[k] * unrated_weight
        others = _unrated_gradient(e[k], unrated, cost / tau, coefficients[n_rated:])
        coefficients[k] = (total + cost * others) / tau
    return value


@jit()
def consistent_pair_sums(
    scores, gains, item_weights, kind, shape, unrated_weight, tau, scratch, coefficients
):
    """`consistent_sums` pair by pair, whatever it costs."""
    low, high = score_range(scores)
    return consistent_sums_by_pairs(
        low, high, scores, gains, item_weights, kind, shape, unrated_weight, tau,
        scratch, coefficients,
    )  # fmt: skip
