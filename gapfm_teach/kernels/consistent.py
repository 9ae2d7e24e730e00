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
    power     Σ_i v_i (P_i^p - 1) / p, or Σ_i v_i log P_i for p = 0, with P_i = N_i q_i / G_i and
              N_i as for pairs: a_ij as there,  x_i = v_i P_i^p / N_i,  s_i = v_i P_i^p q_i

Each of these sums, but for the cascade's, is a smooth function of the score of i or of k alone,
or one such function for each gain. Where a list is long, sums at some nodes give them everywhere.

Loops stand where an array expression would do: those take a second each to compile. As in
`gradient`, what asks for a `tolerance` is not compiled where that is None.
"""

import math

import numpy as np

from .jit import jit

PAIRS, RECALL, PRECISION, CASCADE, POWER = range(5)

# Exponentials centred at mid-range stay finite, and so do their sums, up to this spread.
_WIDEST_CENTRED_RANGE = 1400.0
_FARTHEST = 700.0  # of an exponential's argument
_FINEST = 1e-14  # error of a term; rounding leaves as much in a sum
FEWEST_TERMS = 20_000  # interpolation is never worth it for fewer in a sum over all pairs
_CHUNK = 512  # items whose series are evaluated together: they stay in the nearest cache


@jit()
def normalize_gains(kind, shape, gains):
    """Turn a user's gains, (S,) in descending order, in place into those whose sums are her value.

    Pairs and recall divide by Z = Σ gains. Precision counts in full what is as good as her n-th
    best item, or as her worst where she has fewer, and divides by n. The cascade's gains are
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
def _power(exponent, precision):
    """P^p, and (P^p - 1) / p, which is log P for p = 0."""
    log = np.log(precision)
    if exponent == 0.0:
        return 1.0, log
    return np.exp(exponent * log), np.expm1(exponent * log) / exponent


@jit()
def _earnings(kind, shape, tau, gain, share, q, pairs, passed):
    """What item i adds to the value, x_i, its factor in all a_ij, and s_i."""
    if kind == POWER:
        earned = pairs + 0.5 * gain
        power, value = _power(shape, earned * q / gain)
        return share * value, share * power / earned, share * power * q
    if kind == PAIRS:
        earned = pairs + 0.5 * gain  # j = i counts 1, and has been counted ½
        return earned * q, q, earned * q * q
    if kind == CASCADE:
        earned = gain * passed / (1.0 - 0.5 * gain)  # without j = i
        return earned * q, earned * q, earned * q * q
    z = (np.log(shape + 0.5) + np.log(q)) / tau
    small = np.exp(-abs(z))
    inside = (1.0 if z >= 0.0 else small) / (1.0 + small)
    return gain * inside, 0.0, gain * small / (1.0 + small) ** 2 * q / tau


@jit()
def _ends(scores):
    """The lowest and the highest score."""
    low = high = scores[0]
    for score in scores:
        low = min(low, score)
        high = max(high, score)
    return low, high


@jit()
def _by_pairs(
    low, high, scores, gains, shares, kind, shape, unrated_weight, tau, scratch, coefficients
):  # fmt: skip
    """`consistent_sums` pair by pair; `low` and `high` are the lowest and the highest score."""
    n_rated = gains.shape[0]
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
        earned, x[i], s[i] = _earnings(
            kind, shape, tau, gains[i], shares[i], q, pairs, passed
        )
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


# ------------------------------------------------------------------- by interpolation


@jit()
def _error_of_a_term(tolerance, tau, n_rated, n_unrated, unrated_weight):
    """What each t may err so that 1/R̂ and R̂^(1/τ) keep the tolerance.

    R̂ is no more than 1 at the top of a list, although all items add to it.
    """
    return tolerance * min(1.0, tau) / (n_rated + unrated_weight * n_unrated)


@jit()
def _n_nodes(spread, error):
    """How many nodes: as `chebyshev_nodes` of `gradient`, in whole groups for `_evaluate`."""
    slope = 2.0 * math.pi / spread
    log_rho = math.log(slope + math.sqrt(1.0 + slope * slope))
    return 4 * max(1, math.ceil((1.0 + math.log(60.0 / error) / log_rho) / 4.0))


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
def _classes(kind, gains):
    """Where the items of each gain begin, and the end; one class where no sum asks for G_j."""
    begins = np.empty(gains.shape[0] + 1, dtype=np.int64)
    begins[0], n = 0, 1
    if kind in (PAIRS, POWER):
        for i in range(1, gains.shape[0]):
            if gains[i] != gains[i - 1]:
                begins[n] = i
                n += 1
    begins[n] = gains.shape[0]
    return begins[: n + 1]


@jit()
def _lower_gain(own, gains, begins, out):
    """Σ_j min(G_i, G_j) (...) for an i of each class, (classes, p), from the sums over each class.

    The gain of i counts for the classes above it and its own, theirs for those below.
    """
    for k in range(own.shape[1]):
        above = below = 0.0
        for c in range(own.shape[0]):
            above += own[c, k]
            out[c, k] = gains[begins[c]] * above
        for c in range(own.shape[0] - 1, -1, -1):
            out[c, k] += below
            below += gains[begins[c]] * own[c, k]


@jit()
def _ranks_at(at, e, gains, begins, unrated_weight):
    """(2 + 2 classes, p): R̂, w Σ_j d, and for each class Σ_j min(G_i, G_j) of t, then of d."""
    n_classes = begins.shape[0] - 1
    own = np.empty((2, n_classes, at.shape[0]))
    out = np.empty((2 + 2 * n_classes, at.shape[0]))
    for k in range(at.shape[0]):
        count, slope = _sums_at(at[k], e[begins[-1] :])
        rank, fall = 0.5 + unrated_weight * count, unrated_weight * slope
        for c in range(n_classes):
            count, slope = _sums_at(at[k], e[begins[c] : begins[c + 1]])
            own[0, c, k], own[1, c, k] = count, slope
            rank += count
            fall += slope
        out[0, k], out[1, k] = rank, fall
    _lower_gain(own[0], gains, begins, out[2 : 2 + n_classes])
    _lower_gain(own[1], gains, begins, out[2 + n_classes :])
    return out


@jit()
def _pulls_at(at, e, x, s, gains, begins):
    """(classes + 1, p): Σ_i d (x_i min(G_i, G_k) - s_i) for k of each class, and of G_k = 0."""
    n_classes = begins.shape[0] - 1
    own, out = np.empty((n_classes, at.shape[0])), np.empty((n_classes + 1, at.shape[0]))
    pushes = np.empty(at.shape[0])
    for k in range(at.shape[0]):
        pushes[k] = 0.0
        for c in range(n_classes):
            mine = slice(begins[c], begins[c + 1])
            own[c, k], push = _weighted_sums_at(at[k], e[mine], x[mine], s[mine])
            pushes[k] += push
    _lower_gain(own, gains, begins, out)
    for k in range(at.shape[0]):
        for c in range(n_classes):
            out[c, k] -= pushes[k]
        out[n_classes, k] = -pushes[k]
    return out


@jit(fastmath={"reassoc", "contract"})
def _series(values, nodes):
    """Chebyshev coefficients of the interpolants through values (q, p) at the nodes (p,)."""
    p, out = nodes.shape[0], np.empty(values.shape)
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
def _next_four(s, T_0, T_1, T_2, T_3):
    """The Chebyshev polynomials of the next four degrees at s, from the last two."""
    for i in range(s.shape[0]):
        twice = 2.0 * s[i]
        a = twice * T_3[i] - T_2[i]
        b = twice * a - T_3[i]
        c = twice * b - a
        T_0[i], T_1[i], T_2[i], T_3[i] = a, b, c, twice * c - b


@jit(fastmath={"reassoc", "contract"})
def _add_four(series, T_0, T_1, T_2, T_3, out):
    """Their terms in a series; four at a time, because loading `out` costs as much as a term."""
    a, b, c, d = series[0], series[1], series[2], series[3]
    for i in range(out.shape[0]):
        out[i] += a * T_0[i] + b * T_1[i] + c * T_2[i] + d * T_3[i]


@jit()
def _evaluate(places, series, chosen, out):
    """The `chosen` ones of the series (q, p) at places in [-1, 1], (n,); out (chosen, n)."""
    T = np.empty((4, _CHUNK))
    for begin in range(0, places.shape[0], _CHUNK):
        s = places[begin : begin + _CHUNK]
        end, n = begin + s.shape[0], s.shape[0]
        T_0, T_1, T_2, T_3 = T[0, :n], T[1, :n], T[2, :n], T[3, :n]
        for i in range(n):
            T_2[i], T_3[i] = 2.0 * s[i] * s[i] - 1.0, s[i]  # of degrees -2 and -1
        for row in range(chosen.shape[0]):
            out[row, begin:end] = 0.0
        for k in range(0, series.shape[1], 4):
            _next_four(s, T_0, T_1, T_2, T_3)
            for row in range(chosen.shape[0]):
                four = series[chosen[row], k : k + 4]
                _add_four(four, T_0, T_1, T_2, T_3, out[row, begin:end])


@jit()
def _by_nodes(
    n_nodes, low, high, begins, scores, gains, shares, kind, shape, unrated_weight, tau,
    scratch, coefficients,
):  # fmt: skip
    """`consistent_sums` by way of `n_nodes` Chebyshev nodes from the lowest to the highest score."""
    n_rated, n_classes = gains.shape[0], begins.shape[0] - 1
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    e, x, s = scratch[0, : scores.shape[0]], scratch[1, :n_rated], scratch[2, :n_rated]
    _exponentials(scores, middle, tau, e)
    places, found = np.empty(scores.shape[0]), np.empty((4, scores.shape[0]))
    for k in range(scores.shape[0]):
        places[k] = (scores[k] - middle) / half if half > 0.0 else 0.0
    nodes, at = np.empty(n_nodes), np.empty(n_nodes)
    for k in range(n_nodes):
        nodes[k] = math.cos(math.pi / n_nodes * (k + 0.5))
        at[k] = math.exp(half / tau * nodes[k])
    chosen = np.empty(4, dtype=np.int64)
    series = _series(_ranks_at(at, e, gains, begins, unrated_weight), nodes)
    value = 0.0
    for c in range(n_classes):
        chosen[0], chosen[1], chosen[2], chosen[3] = 0, 1, 2 + c, 2 + n_classes + c
        _evaluate(places[begins[c] : begins[c + 1]], series, chosen, found)
        for k in range(begins[c], begins[c + 1]):
            i = k - begins[c]
            earned, x[k], s[k] = _earnings(
                kind, shape, tau, gains[k], shares[k], 1.0 / found[0, i], found[2, i], 0.0
            )
            value += earned
            coefficients[k] = (s[k] * found[1, i] - x[k] * found[3, i]) / tau
    coefficients[n_rated:] = 0.0
    series = _series(_pulls_at(at, e, x, s, gains, begins), nodes)
    for c in range(n_classes + 1):
        begin = begins[c]
        end = begins[c + 1] if c < n_classes else scores.shape[0]
        chosen[0] = c
        _evaluate(places[begin:end], series, chosen[:1], found)
        each = (1.0 if c < n_classes else unrated_weight) / tau
        for k in range(begin, end):
            coefficients[k] += each * found[0, k - begin]
    return value


@jit()
def consistent_chebyshev_sums(
    scores, gains, shares, kind, shape, unrated_weight, tau, tolerance, scratch, coefficients
):  # fmt: skip
    """`consistent_sums` by interpolation, whatever it costs; not for the cascade.

    For a score range of at most 1,400 τ. The value errs by at most `tolerance` times itself (the
    power mean's: times Σ_i v_i P_i^p, as a logarithm may be near 0), and
    coefficient k, c_k = (1/τ) Σ_i d_ik (m_ik - m_ki) with m_ij = a_ij - w_j s_i, by at most
    tolerance · (1/τ) Σ_i (d_ik + 1/W) (|m_ik| + |m_ki|), where W = Σ_j w_j. Rounding adds to
    the tolerance some 1e-14 · W / min(1, τ).
    """
    low, high = _ends(scores)
    n_unrated = scores.shape[0] - gains.shape[0]
    error = _error_of_a_term(tolerance, tau, gains.shape[0], n_unrated, unrated_weight)
    n_nodes = _n_nodes((high - low) / tau, error)
    return _by_nodes(
        n_nodes, low, high, _classes(kind, gains), scores, gains, shares, kind, shape,
        unrated_weight, tau, scratch, coefficients,
    )  # fmt: skip


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
    scores,
    gains,
    shares,
    kind,
    shape,
    unrated_weight,
    tau,
    tolerance,
    scratch,
    coefficients,
):
    """Consistent measure of one user, returned, and ∂/∂f, filled into `coefficients`.

    scores f, (S + n,): the rated items, then the unrated ones; gains G, (S,), from
    `normalize_gains`; shares v, (S,), and shape p of the power mean, which others do not look
    at but for the cut-off n of recall and precision, their `shape`; unrated_weight w: for how many
    items each unrated one stands; scratch (3, S + n or more). By interpolation where that is
    cheaper, with the error of `consistent_chebyshev_sums`, unless `tolerance` is None.
    """
    low, high = _ends(scores)
    if tolerance is not None:
        n_rated, n_unrated = gains.shape[0], scores.shape[0] - gains.shape[0]
        spread = (high - low) / tau
        error = _error_of_a_term(tolerance, tau, n_rated, n_unrated, unrated_weight)
        many = n_rated * scores.shape[0] > FEWEST_TERMS
        if kind != CASCADE and many and error > _FINEST and spread <= _WIDEST_CENTRED_RANGE:
            n_nodes = _n_nodes(spread, error)
            begins = _classes(kind, gains)
            if _cheaper_by_nodes(n_rated, n_unrated, begins.shape[0] - 1, n_nodes):
                return _by_nodes(
                    n_nodes, low, high, begins, scores, gains, shares, kind, shape,
                    unrated_weight, tau, scratch, coefficients,
                )  # fmt: skip
    return _by_pairs(
        low, high, scores, gains, shares, kind, shape, unrated_weight, tau, scratch,
        coefficients,
    )  # fmt: skip


@jit()
def consistent_pair_sums(
    scores, gains, shares, kind, shape, unrated_weight, tau, scratch, coefficients
):
    """`consistent_sums` pair by pair, whatever it costs."""
    low, high = _ends(scores)
    return _by_pairs(
        low, high, scores, gains, shares, kind, shape, unrated_weight, tau,
        scratch, coefficients,
    )  # fmt: skip


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
def _score_listed(u, V, items, scores):
    for k in range(items.shape[0]):
        f = 0.0
        for d in range(u.shape[0]):
            f += u[d] * V[items[k], d]
        scores[k] = f


@jit()
def _add_listed(coefficients, u, V, items, u_gradient, V_part):
    """Add Σ_k c_k V_k to the user's gradient, and c_k u to that of each of the items."""
    for k in range(items.shape[0]):
        for d in range(u.shape[0]):
            u_gradient[d] += coefficients[k] * V[items[k], d]
            V_part[items[k], d] += coefficients[k] * u[d]


@jit(nogil=True)
def consistent_gradients(
    begin, end, U, V, indptr, items, grades, gains, shares, ascending, uniforms, kind, shape,
    tau, unrated_weight, tolerance, blocks, values, U_gradient, V_parts,
):  # fmt: skip
    """One pass over the users of blocks begin..end - 1: the measure of each, ∂/∂U, and each block's
    part of ∂/∂V, all without λ.

    gains, shares: G and v for each grade 0..max_grade, ascending; `items` with each user's in
    ascending order in `ascending`; uniforms (n_users, n) in [0, 1), from which n unrated items
    are drawn for each user, to stand for all of them; each counts `unrated_weight` in a rank,
    where a rated item counts 1; tolerance: of `consistent_sums`. Block b is the users
    blocks[b]..blocks[b + 1] - 1.
    """
    longest = 0
    for m in range(blocks[begin], blocks[end]):
        longest = max(longest, indptr[m + 1] - indptr[m])
    longest += uniforms.shape[1]
    scratch, mine = np.empty((7, longest)), np.empty(longest, dtype=np.int64)
    for b in range(begin, end):
        V_part = V_parts[b]
        V_part[:] = 0.0
        for m in range(blocks[b], blocks[b + 1]):
            values[m] = 0.0
            U_gradient[m, :] = 0.0
            row = slice(indptr[m], indptr[m + 1])
            n_rated = row.stop - row.start
            if n_rated == 0:
                continue
            n_drawn = draw_unrated(ascending[row], uniforms[m], V.shape[0], mine[n_rated:])
            n = n_rated + n_drawn
            each = unrated_weight * (V.shape[0] - n_rated) / max(1, n_drawn)
            scores, coefficients = scratch[3, :n], scratch[4, :n]
            hers, share = scratch[5, :n_rated], scratch[6, :n_rated]
            for k in range(n_rated):
                mine[k] = items[row.start + k]
                hers[k] = gains[grades[row.start + k]]
                share[k] = shares[grades[row.start + k]]
            _score_listed(U[m], V, mine[:n], scores)
            normalize_gains(kind, shape, hers)
            values[m] = consistent_sums(
                scores,
                hers,
                share,
                kind,
                shape,
                each,
                tau,
                tolerance,
                scratch,
                coefficients,
            )
            _add_listed(coefficients, U[m], V, mine[:n], U_gradient[m], V_part)
