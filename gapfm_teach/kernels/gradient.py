"""Compiled code of training: the objective (9) and its gradients. Twin of `smooth` and `selection`.

Shared layout, for ratings as the training loop arranges them: the rated items of user m are
`items[indptr[m]:indptr[m + 1]]`, in descending order of grade. `cumulative` is Δ, with
Δ[y] = δ_1 + ... + δ_y and Δ[0] = 0. `scores` and `coefficients` run parallel to `items`.
Algorithm 1 breaks its ties as the twin does, in the order in which `Ratings` has the row: hence
`row_grades`, the grades in that order, which say where in the layout each item of a row went.

For one user, with t_ij = g(f_j - f_i) and h = 1 - g, both (8) and its gradient hang on two sums,
P_i = Σ_j β_ij t_ij and Q_i = Σ_j β_ij h_j t_ij (2 t_ij - 1), because
(g(f_j) - g(f_i)) g'(f_j - f_i) = g_i h_j t_ij (2 t_ij - 1), where nothing cancels:
value = Σ_i g_i P_i and ∂F/∂f_i = g_i (h_i P_i + Q_i).

What is None is not compiled: the branches that ask for it are left out, and all that they call.
"""

import math

import numpy as np

from .jit import jit

# Of P and Q, each in units of the largest value it can have: see `chebyshev_sums`. A step of
# training has an error of this size in its direction, far below what one iteration changes.
TOLERANCE = 1e-8
# Exponentials centred at mid-range stay finite, and so do their products, up to this spread.
_WIDEST_CENTRED_RANGE = 1400.0
_FARTHEST_MIDDLE = 700.0  # beyond it exp(-middle) overflows, or underflows to 0
FEWEST_BY_NODES = 60  # interpolation is never worth it for as few items, or fewer
_PAD = 8  # numbers in the longest vector
_CHUNK = (
    512  # items whose polynomials are evaluated together: they stay in the nearest cache
)


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
    pull_0, pull_1 = weight_0 * g_0, weight_1 * g_1
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
        slope[j] -= pull_0 * product_0 + pull_1 * product_1
    return weight_0 * P_0, weight_1 * P_1, pull_0 * Q_0, pull_1 * Q_1


@jit()
def _pairs(e, g, h, weights, P, slope, coefficients):
    """Value and `coefficients` by the half-triangle of pairs; P and slope are scratch.

    e, h, P and slope begin with _PAD places for items that weigh nothing, e = h = 0, so that
    every row is a whole number of vectors: what is left over would be done one by one.
    """
    n = g.shape[0]
    for i in range(_PAD):
        e[i] = 0.0
        h[i] = 0.0
    for i in range(n):
        P[_PAD + i] = 0.5 * weights[i]  # j = i, where t = 1/2
        slope[_PAD + i] = 0.0
        coefficients[i] = 0.0
    for i in range(0, n, 2):
        a, b = _PAD + i, _PAD + i + 1
        last = (
            i + 1 == n
        )  # without a partner: it takes the row of an item that weighs nothing
        e_b, g_b, weight_b = (1.0, 0.0, 0.0) if last else (e[b], g[i + 1], weights[i + 1])
        if i > 0:
            part = slice(a - (i + _PAD - 1) // _PAD * _PAD, a)
            P_a, P_b, c_a, c_b = _two_rows(
                e[a],
                e_b,
                g[i],
                g_b,
                weights[i],
                weight_b,
                e[part],
                h[part],
                P[part],
                slope[part],
            )
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
        P_i = P[_PAD + i]
        value += g[i] * P_i
        coefficients[i] *= 2.0
        coefficients[i] += h[_PAD + i] * (2.0 * slope[_PAD + i] + g[i] * P_i)
    return value


@jit()
def _pairs_wide(scores, weights, coefficients):
    """`_pairs` for scores too far apart for shared exponentials: one exponential a pair."""
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
def _ends(scores):
    """The lowest and the highest score."""
    low = high = scores[0]
    for score in scores:
        low = min(low, score)
        high = max(high, score)
    return low, high


@jit()
def _exponentials(scores, middle, e, g, h):
    """exp(f - middle), g(f) and h(f) = g(-f), with one exponential an item."""
    zero = np.exp(-middle)  # where f = 0 stands on the scale of e
    for i in range(scores.shape[0]):
        e[i] = np.exp(scores[i] - middle)
        inverse = 1.0 / (zero + e[i])
        g[i] = e[i] * inverse
        h[i] = zero * inverse


@jit()
def chebyshev_nodes(spread, tolerance):
    """How many nodes `chebyshev_sums` needs for scores from -spread/2 to spread/2.

    As functions of x, g(f - x) and its kin have poles at f ± iπ, so the error of interpolation
    falls by ρ a node, with ρ the ellipse through them. The 60 covers what the poles' distance
    leaves open; `tests/kernels/test_fast_sum.py` measures it.
    """
    slope = 2.0 * math.pi / spread
    rho = slope + math.sqrt(1.0 + slope * slope)
    return 1 + max(0, math.ceil(math.log(60.0 / tolerance) / math.log(rho)))


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
def _classes(weights):
    """Where the items of each grade begin, and the end: (number of grades + 1,)."""
    n = 1
    for i in range(1, weights.shape[0]):
        n += weights[i] != weights[i - 1]
    begins = np.empty(n + 1, dtype=np.int64)
    begins[0] = 0
    begins[n] = weights.shape[0]
    n = 1
    for i in range(1, weights.shape[0]):
        if weights[i] != weights[i - 1]:
            begins[n] = i
            n += 1
    return begins


@jit()
def _tables(e, h, weights, begins, x):
    """P and Q as an item of each grade sees them at the nodes: (grades, 2, nodes).

    β is the weight of the lower grade: its own for the grades above, theirs for those below.
    """
    n_classes = begins.shape[0] - 1
    own = np.empty((n_classes, 2, x.shape[0]))  # sums over the items of one grade
    for c in range(n_classes):
        e_c, h_c = e[begins[c] : begins[c + 1]], h[begins[c] : begins[c + 1]]
        for k in range(x.shape[0]):
            own[c, 0, k], own[c, 1, k] = _sums_at(x[k], e_c, h_c)
    seen = np.empty((n_classes, 2, x.shape[0]))
    for which in range(2):
        for k in range(x.shape[0]):
            above = 0.0
            for c in range(n_classes):
                above += own[c, which, k]
                seen[c, which, k] = weights[begins[c]] * above
            below = 0.0
            for c in range(n_classes - 1, -1, -1):
                seen[c, which, k] += below
                below += weights[begins[c]] * own[c, which, k]
    return seen


@jit(fastmath={"reassoc", "contract"})
def _chebyshev_coefficients(values, nodes):
    """Coefficients of the interpolants through values (..., p) at the nodes; p, or p + 1 with a 0."""
    p = nodes.shape[0]
    out = np.zeros((values.shape[0], 2, p + p % 2))
    before, now = np.empty(p), np.empty(p)  # T_{k-1} and T_k at the nodes; T_{-1} = T_1
    for n in range(p):
        before[n] = nodes[n]
        now[n] = 1.0
    for k in range(p):
        for c in range(values.shape[0]):
            for which in range(2):
                total = 0.0
                for n in range(p):
                    total += values[c, which, n] * now[n]
                out[c, which, k] = total * (1.0 if k == 0 else 2.0) / p
        for n in range(p):
            after = 2.0 * nodes[n] * now[n] - before[n]
            before[n] = now[n]
            now[n] = after
    return out


@jit(fastmath={"reassoc", "contract"})
def _evaluate(s, series, P, Q, even, odd):
    """The two Chebyshev series at the places s in [-1, 1]; even and odd are scratch."""
    for i in range(s.shape[0]):
        even[i] = 1.0
        odd[i] = s[i]
        P[i] = series[0, 0] + series[0, 1] * s[i]
        Q[i] = series[1, 0] + series[1, 1] * s[i]
    for k in range(2, series.shape[1], 2):
        p_even, p_odd = series[0, k], series[0, k + 1]
        q_even, q_odd = series[1, k], series[1, k + 1]
        for i in range(s.shape[0]):
            twice = 2.0 * s[i]
            T_even = twice * odd[i] - even[i]
            T_odd = twice * T_even - odd[i]
            even[i] = T_even
            odd[i] = T_odd
            P[i] += p_even * T_even + p_odd * T_odd
            Q[i] += q_even * T_even + q_odd * T_odd


@jit()
def _interpolate(scores, middle, spread, n_nodes, e, g, h, weights, begins, coefficients):
    """Value and `coefficients` by way of P and Q at `n_nodes` Chebyshev nodes."""
    nodes, x = np.empty(n_nodes), np.empty(n_nodes)
    for k in range(n_nodes):
        nodes[k] = math.cos(math.pi / n_nodes * (k + 0.5))
        x[k] = math.exp(0.5 * spread * nodes[k])
    series = _chebyshev_coefficients(_tables(e, h, weights, begins, x), nodes)
    s, even, odd = np.empty(_CHUNK), np.empty(_CHUNK), np.empty(_CHUNK)
    P, Q = np.empty(_CHUNK), np.empty(_CHUNK)
    scale = 2.0 / spread if n_nodes > 1 else 0.0  # all scores equal: one node
    value = 0.0
    for c in range(begins.shape[0] - 1):
        for begin in range(begins[c], begins[c + 1], _CHUNK):
            n = min(_CHUNK, begins[c + 1] - begin)
            for k in range(n):
                s[k] = (scores[begin + k] - middle) * scale
            _evaluate(s[:n], series[c], P, Q, even, odd)
            for k in range(n):
                i = begin + k
                value += g[i] * P[k]
                coefficients[i] = g[i] * (h[i] * P[k] + Q[k])
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
    low, high = _ends(scores)
    middle, spread = 0.5 * (low + high), high - low
    if spread > _WIDEST_CENTRED_RANGE or abs(middle) > _FARTHEST_MIDDLE:
        return _pairs_wide(scores, weights, coefficients)
    own = slice(_PAD, _PAD + n)
    e, h, g = scratch[0, own], scratch[1, own], scratch[4, :n]
    _exponentials(scores, middle, e, g, h)
    if tolerance is not None and n > FEWEST_BY_NODES and spread <= _WIDEST_CENTRED_RANGE:
        n_nodes = chebyshev_nodes(spread, tolerance)  # the spread is not nan
        begins = _classes(weights)
        if _cheaper_by_nodes(n, begins.shape[0] - 1, n_nodes):
            return _interpolate(
                scores, middle, spread, n_nodes, e, g, h, weights, begins, coefficients
            )
    padded = slice(0, _PAD + n)
    return _pairs(
        scratch[0, padded], g, scratch[1, padded], weights, scratch[2, padded],
        scratch[3, padded], coefficients,
    )  # fmt: skip


@jit()
def pair_sums(scores, weights, coefficients):
    """`user_sums` pair by pair, whatever it costs."""
    scratch = np.empty((5, _PAD + scores.shape[0]))
    return user_sums(scores, weights, None, scratch, coefficients)


@jit()
def chebyshev_sums(scores, weights, tolerance, coefficients):
    """`user_sums` by interpolation, whatever it costs, for a score range of at most 1,400.

    The error of the value is at most tolerance · Σ_i g_i Σ_j β_ij, and that of coefficient i at
    most tolerance · max(g) max(h) Σ_j β_ij: what t, 2 t - 1 and h add up to at the most.
    """
    n = scores.shape[0]
    e, g, h = np.empty(n), np.empty(n), np.empty(n)
    low, high = _ends(scores)
    middle, spread = 0.5 * (low + high), high - low
    _exponentials(scores, middle, e, g, h)
    n_nodes = chebyshev_nodes(spread, tolerance)
    return _interpolate(
        scores, middle, spread, n_nodes, e, g, h, weights, _classes(weights), coefficients
    )


# --------------------------------------------------------------------------- all users
# These take the first of the users they are for, and the one after the last: see `threads`.


@jit()
def _places(grades, max_grade):
    """Where each item of a row goes in descending order of grade; equal grades keep their order."""
    following = np.zeros(max_grade + 1, dtype=np.int64)
    for grade in grades:
        following[grade] += 1
    begin = 0
    for grade in range(max_grade, 0, -1):
        following[grade], begin = begin, begin + following[grade]
    places = np.empty(grades.shape[0], dtype=np.int64)
    for k in range(grades.shape[0]):
        places[k] = following[grades[k]]
        following[grades[k]] += 1
    return places


@jit(nogil=True)
def arrange_by_grade(begin, end, indptr, items, grades, max_grade, items_out, grades_out):
    """Copy each user's ratings in descending order of grade; equal grades keep their order."""
    for m in range(begin, end):
        mine = slice(indptr[m], indptr[m + 1])
        places = _places(grades[mine], max_grade)
        for k in range(places.shape[0]):
            items_out[indptr[m] + places[k]] = items[indptr[m] + k]
            grades_out[indptr[m] + places[k]] = grades[indptr[m] + k]


@jit()
def _score(u, V, items, scores):
    for k in range(items.shape[0]):
        f = 0.0
        for d in range(u.shape[0]):
            f += u[d] * V[items[k], d]
        scores[k] = f


@jit()
def _from_the_highest(values, places):
    """A user's places from the highest value down; ties in the order of `places`."""
    return places[np.argsort(-values[places], kind="mergesort")]


@jit()
def _misranking(scores, places):
    """|r - r̂| of Algorithm 1 for one user's items, whose place is r, as `places` has them."""
    distance = np.empty(scores.shape[0])
    by_score = _from_the_highest(scores, places)
    for place in range(scores.shape[0]):
        distance[by_score[place]] = abs(by_score[place] - place)
    return distance


@jit()
def _mark_highest(priority, places, k, marks):
    """Mark the k highest priorities; ties go to the one that `places` has first."""
    marks[:] = False
    for place in _from_the_highest(priority, places)[:k]:
        marks[place] = True


@jit()
def _add_rows(coefficients, V, items, out):
    for k in range(items.shape[0]):
        c = coefficients[k]
        for d in range(out.shape[0]):
            out[d] += c * V[items[k], d]


@jit()
def _add_to_items(coefficients, u, items, out):
    for k in range(items.shape[0]):
        c = coefficients[k]
        if c != 0.0:  # those not selected
            for d in range(u.shape[0]):
                out[items[k], d] += c * u[d]


@jit()
def _sums_of_chosen(scores, weights, chosen, tolerance, scratch, coefficients):
    """`user_sums` as if the user had rated the chosen items alone; the others get 0."""
    n = 0
    for k in range(chosen.shape[0]):
        coefficients[k] = 0.0
        if chosen[k]:
            scores[n] = scores[k]
            weights[n] = weights[k]
            n += 1
    if n > 0:
        few = np.empty(n)
        user_sums(scores[:n], weights[:n], tolerance, scratch, few)
        n = 0
        for k in range(chosen.shape[0]):
            if chosen[k]:
                coefficients[k] = few[n]
                n += 1


@jit()
def _keep_selected(
    row, max_grade, selection, scores, weights, tolerance, scratch, coefficients
):
    """Put 0 for what an iteration does not select; without it in the inner sums, where it says so."""
    row_grades, marks, n_selected, inner_selected = selection
    n = scores.shape[0]
    if marks.shape[0] > 0:
        chosen = marks[row]
    elif n_selected < n:
        chosen = np.empty(n, dtype=np.bool_)
        places = _places(row_grades[row], max_grade)
        _mark_highest(_misranking(scores, places), places, n_selected, chosen)
    else:
        return
    if inner_selected:
        _sums_of_chosen(scores, weights, chosen, tolerance, scratch, coefficients)
    for k in range(n):
        coefficients[k] *= chosen[k]


@jit(nogil=True)
def gradients(
    begin, end, U, V, indptr, items, grades, cumulative, blocks, tolerance, selection,
    values, U_gradient, V_parts,
):  # fmt: skip
    """One pass over the users of blocks begin..end - 1: (8) of each, ∂F/∂U (10), and each block's
    part of ∂F/∂V (11), all without λ.

    Block b is the users blocks[b]..blocks[b + 1] - 1. `tolerance`: of `user_sums`. All ratings
    move V where `selection` is None; else it is (row_grades, marks, n_selected, inner_selected):
    those that `marks` (n_ratings,) marks move it or, where that is empty, the `n_selected` most
    misranked of each user; `inner_selected`: the inner sums of (11) run over these alone.
    """
    longest = 0
    for m in range(blocks[begin], blocks[end]):
        longest = max(longest, indptr[m + 1] - indptr[m])
    scratch = np.empty((8, _PAD + longest))
    for b in range(begin, end):
        V_part = V_parts[b]
        V_part[:] = 0.0
        for m in range(blocks[b], blocks[b + 1]):
            row = slice(indptr[m], indptr[m + 1])
            mine, u, n = items[row], U[m], indptr[m + 1] - indptr[m]
            values[m] = 0.0
            U_gradient[m, :] = 0.0
            if n == 0:
                continue
            scores, weights, coefficients = scratch[5, :n], scratch[6, :n], scratch[7, :n]
            _score(u, V, mine, scores)
            for k in range(n):
                weights[k] = cumulative[grades[row.start + k]]
            values[m] = user_sums(scores, weights, tolerance, scratch, coefficients)
            _add_rows(coefficients, V, mine, U_gradient[m])
            if selection is not None:
                _keep_selected(
                    row, cumulative.shape[0] - 1, selection, scores, weights, tolerance,
                    scratch, coefficients,
                )  # fmt: skip
            _add_to_items(coefficients, u, mine, V_part)


@jit(nogil=True)
def user_coefficients(
    begin, end, scores, indptr, grades, cumulative, tolerance, coefficients
):
    """∂F/∂f for every rating."""
    for m in range(begin, end):
        row = slice(indptr[m], indptr[m + 1])
        if row.start < row.stop:
            scratch = np.empty((5, _PAD + row.stop - row.start))
            weights = cumulative[grades[row]]
            user_sums(scores[row], weights, tolerance, scratch, coefficients[row])


@jit(nogil=True)
def misranking(begin, end, scores, indptr, row_grades, max_grade, out):
    """|r - r̂| of Algorithm 1 for every rating."""
    for m in range(begin, end):
        mine = slice(indptr[m], indptr[m + 1])
        out[mine] = _misranking(scores[mine], _places(row_grades[mine], max_grade))


@jit(nogil=True)
def select_highest(begin, end, priority, indptr, row_grades, max_grade, k, selected):
    """Mark the k highest priorities of each user; ties go to the one first in the row."""
    for m in range(begin, end):
        mine = slice(indptr[m], indptr[m + 1])
        places = _places(row_grades[mine], max_grade)
        _mark_highest(priority[mine], places, k, selected[mine])


@jit()
def update_items_in_turn(
    U, V, indptr, items, grades, cumulative, selected, inner_selected, reg, learning_rate
):
    """The V loop of Algorithm 2: user after user, each seeing the V that the last one left.

    λ V_i is subtracted at each visit, as (11) is printed for one user.
    """
    for m in range(indptr.shape[0] - 1):
        row = slice(indptr[m], indptr[m + 1])
        chosen = selected[row]
        inner = np.flatnonzero(chosen | (not inner_selected))
        if not chosen.any():
            continue
        mine = items[row][inner]
        scratch = np.empty((5, _PAD + inner.shape[0]))
        scores, coefficients = np.empty(inner.shape[0]), np.empty(inner.shape[0])
        _score(U[m], V, mine, scores)
        user_sums(scores, cumulative[grades[row][inner]], TOLERANCE, scratch, coefficients)
        for k in range(inner.shape[0]):
            if chosen[inner[k]]:
                for d in range(V.shape[1]):
                    step = coefficients[k] * U[m, d] - reg * V[mine[k], d]
                    V[mine[k], d] += learning_rate * step
