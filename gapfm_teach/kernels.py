"""All compiled code: arrays in, `out` arrays filled; no I/O, no random numbers, no checks.

Twin of `smooth`, `selection` and `metrics`, and tested against them. Everything compiled stands
in this one file, because the compiler's cache does not notice a change in another one.

Shared layout, for ratings as the training loop arranges them: the rated items of user m are
`items[indptr[m]:indptr[m + 1]]`, in descending order of grade. `cumulative` is Δ, with
Δ[y] = δ_1 + ... + δ_y and Δ[0] = 0. `scores` and `coefficients` run parallel to `items`.
"""

import warnings

import numba
import numpy as np
from numba import prange

# Exponentials centred at mid-range stay finite, and so do their products, up to this spread.
_WIDEST_CENTRED_RANGE = 1400.0
_FARTHEST_MIDDLE = 700.0  # beyond it exp(-middle) overflows, or underflows to 0


def _jit(**options):
    """numba.njit with its cache on, or without it where no folder can hold the cache.

    error_model="numpy": the test for division by zero would keep the pair loop scalar.
    """

    def decorate(function):
        try:
            return numba.njit(cache=True, error_model="numpy", **options)(function)
        except RuntimeError:  # "no locator available": neither this folder nor the user's
            global CACHE_ENABLED
            if CACHE_ENABLED:
                warnings.warn(
                    "compiled code cannot be kept: no writable folder for it, so every session "
                    "compiles anew; set NUMBA_CACHE_DIR to a folder you can write to",
                    stacklevel=2,
                )
            CACHE_ENABLED = False
            return numba.njit(error_model="numpy", **options)(function)

    return decorate


CACHE_ENABLED = True


# A sum may be reordered (else no vector instructions); NaN and infinities keep their meaning.
@_jit(fastmath={"reassoc", "contract"})
def _pair_row(e_i, scale_i, weight, e, h, above, slope):
    """The pairs (i, j) for all j in `e`, one division each; weight = β_ij is the same for all.

    e = exp(f - middle), h = g(-f), scale_i = exp(middle) h_i. The gain g(f_j) - g(f_i) is
    (e_j - e_i) scale_i h_j: unlike a difference of two g it does not cancel, at either end.
    Adds to `above[j]` and `slope[j]` what the pair gives j, the latter without its factor h_j;
    returns what it gives i.
    """
    above_i = 0.0
    slope_i = 0.0
    scale_i *= weight
    for j in range(e.shape[0]):
        inverse = 1.0 / (e_i + e[j])
        i_over_j = e_i * inverse  # g(f_i - f_j)
        j_over_i = e[j] * inverse  # g(f_j - f_i)
        gain = (e[j] - e_i) * (i_over_j * j_over_i)
        above_i += j_over_i
        slope_i += gain * h[j]
        above[j] += weight * i_over_j
        slope[j] -= scale_i * gain
    return weight * above_i, scale_i * slope_i


@_jit()
def pair_sums(scores, weights, coefficients):
    """Smoothed GAP (8) of one user, returned, and ∂F/∂f, filled into `coefficients`.

    scores f, (S,); weights Δ(y), (S,), descending, so that β_ij = weights[i] for all j < i.
    """
    middle = 0.5 * (scores.min() + scores.max())
    if (
        scores.max() - scores.min() > _WIDEST_CENTRED_RANGE
        or abs(middle) > _FARTHEST_MIDDLE
    ):
        return _pair_sums_wide(scores, weights, coefficients)
    e = np.exp(scores - middle)
    h = 1.0 / (1.0 + np.exp(scores))
    scale = 1.0 / (np.exp(-middle) + e)
    above = 0.5 * weights  # Σ_j β_ij g(f_j - f_i), begun with j = i, where g(0) = 1/2
    slope = np.zeros_like(e)
    for i in range(scores.shape[0]):
        to_above, coefficients[i] = _pair_row(
            e[i], scale[i], weights[i], e[:i], h[:i], above[:i], slope[:i]
        )
        above[i] += to_above
    value = 0.0
    for i in range(scores.shape[0]):
        g = 1.0 / (1.0 + np.exp(-scores[i]))
        value += g * above[i]
        coefficients[i] += h[i] * (slope[i] + g * above[i])
    return value


@_jit()
def _pair_sums_wide(scores, weights, coefficients):
    """`pair_sums` for scores too far apart for shared exponentials: one exponential a pair."""
    g = 1.0 / (1.0 + np.exp(-scores))
    h = 1.0 / (1.0 + np.exp(scores))
    value = 0.0
    for i in range(scores.shape[0]):
        above = 0.0
        slope = 0.0
        for j in range(scores.shape[0]):
            weight = min(weights[i], weights[j])
            small = np.exp(-abs(scores[j] - scores[i]))
            upper = 1.0 / (1.0 + small)
            above += weight * (upper if scores[j] >= scores[i] else small * upper)
            slope += weight * (g[j] * h[i] - g[i] * h[j]) * small * upper * upper
        value += g[i] * above
        coefficients[i] = g[i] * h[i] * above + slope
    return value


@_jit(parallel=True)
def score_rated(U, V, indptr, items, scores):
    """f_mi of (1) for every rating."""
    for m in prange(indptr.shape[0] - 1):
        for k in range(indptr[m], indptr[m + 1]):
            f = 0.0
            for d in range(U.shape[1]):
                f += U[m, d] * V[items[k], d]
            scores[k] = f


@_jit(parallel=True)
def user_coefficients(scores, indptr, grades, cumulative, coefficients, values):
    """`pair_sums` for every user: ∂F/∂f for every rating, (8) for every user in `values`."""
    for m in prange(indptr.shape[0] - 1):
        row = slice(indptr[m], indptr[m + 1])
        values[m] = 0.0
        if row.start < row.stop:
            values[m] = pair_sums(scores[row], cumulative[grades[row]], coefficients[row])


@_jit(parallel=True)
def selected_coefficients(scores, indptr, grades, cumulative, selected, coefficients):
    """∂F/∂f with the inner sums of (11) over the selected items only; 0 for the others."""
    for m in prange(indptr.shape[0] - 1):
        row = slice(indptr[m], indptr[m + 1])
        kept = np.flatnonzero(selected[row])
        coefficients[row] = 0.0
        if kept.shape[0] > 0:
            part = np.empty(kept.shape[0])
            pair_sums(scores[row][kept], cumulative[grades[row][kept]], part)
            coefficients[row][kept] = part


@_jit(parallel=True)
def user_gradients(U, V, indptr, items, coefficients, reg, out):
    """∂F/∂U_m of (10) for every user, from the coefficients ∂F/∂f."""
    for m in prange(indptr.shape[0] - 1):
        for d in range(U.shape[1]):
            out[m, d] = -reg * U[m, d]
        for k in range(indptr[m], indptr[m + 1]):
            for d in range(U.shape[1]):
                out[m, d] += coefficients[k] * V[items[k], d]


@_jit(parallel=True)
def item_gradients(U, V, item_indptr, raters, positions, coefficients, reg, out):
    """∂F/∂V_i of (11), summed over users, for every item; λ V_i is subtracted once.

    The ratings of item i are `positions[item_indptr[i]:item_indptr[i + 1]]`, given by `raters`;
    each item adds up its own in that order, so threads can neither collide nor reorder.
    """
    for i in prange(V.shape[0]):
        for d in range(V.shape[1]):
            out[i, d] = -reg * V[i, d]
        for k in range(item_indptr[i], item_indptr[i + 1]):
            for d in range(V.shape[1]):
                out[i, d] += coefficients[positions[k]] * U[raters[k], d]


@_jit()
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
        scores = np.empty(inner.shape[0])
        for k in range(inner.shape[0]):
            scores[k] = np.dot(V[mine[k]], U[m])
        coefficients = np.empty(inner.shape[0])
        pair_sums(scores, cumulative[grades[row][inner]], coefficients)
        for k in range(inner.shape[0]):
            if chosen[inner[k]]:
                for d in range(V.shape[1]):
                    step = coefficients[k] * U[m, d] - reg * V[mine[k], d]
                    V[mine[k], d] += learning_rate * step


@_jit(parallel=True)
def misranking(scores, indptr, out):
    """|r - r̂| of Algorithm 1 for every rating; rows are in descending order of grade."""
    for m in prange(indptr.shape[0] - 1):
        begin = indptr[m]
        order = np.argsort(-scores[begin : indptr[m + 1]], kind="mergesort")
        for place in range(order.shape[0]):
            out[begin + order[place]] = abs(order[place] - place)


@_jit(parallel=True)
def select_highest(priority, indptr, k, selected):
    """Mark the k highest priorities of each user; ties go to the rating that stands first."""
    for m in prange(indptr.shape[0] - 1):
        begin = indptr[m]
        order = np.argsort(-priority[begin : indptr[m + 1]], kind="mergesort")
        for place in range(order.shape[0]):
            selected[begin + order[place]] = place < k


# Loops of their own: inside the parallel one they come out scalar.
@_jit()
def _count_above(scores, score):
    count = 0
    for i in range(scores.shape[0]):
        count += scores[i] > score
    return count


@_jit()
def _count_equal(scores, score):
    count = 0
    for i in range(scores.shape[0]):
        count += scores[i] == score
    return count


@_jit()
def _scores_of_user(u, by_factor, scores):
    scores[:] = 0.0
    for d in range(u.shape[0]):
        for i in range(scores.shape[0]):
            scores[i] += u[d] * by_factor[d, i]


@_jit(parallel=True)
def held_out_ranks(U, V, seen_indptr, seen_items, indptr, items, ranks):
    """Rank of each held-out item among all items the user has not seen; ties go to item order."""
    by_factor = np.ascontiguousarray(V.T)  # so that the score loop runs along memory
    for m in prange(indptr.shape[0] - 1):
        scores = np.empty(V.shape[0])
        _scores_of_user(U[m], by_factor, scores)
        for k in range(seen_indptr[m], seen_indptr[m + 1]):
            scores[seen_items[k]] = -np.inf
        for k in range(indptr[m], indptr[m + 1]):
            item = items[k]
            score = scores[item]
            above = _count_above(scores, score)
            ranks[k] = 1 + above + _count_equal(scores[:item], score)


@_jit(parallel=True)
def gap_at_ranks(ranks, indptr, grades, delta, out):
    """GAP (2)-(4) of every user from the ranks of the rated items; nan without any."""
    for m in prange(indptr.shape[0] - 1):
        row = slice(indptr[m], indptr[m + 1])
        at_least = np.zeros(delta.shape[0])  # how many of the items so far have grade > l
        gain = 0.0
        normalizer = 0.0
        for k in np.argsort(ranks[row], kind="mergesort"):
            for level in range(grades[row][k]):
                at_least[level] += 1.0
                gain += delta[level] * at_least[level] / ranks[row][k]
                normalizer += delta[level]
        out[m] = gain / normalizer if normalizer > 0.0 else np.nan


# --------------------------------------------------------------------------- evaluation
#
# A batch of lists: list k belongs to user users[k] and fills the places
# list_indptr[k]..list_indptr[k + 1] of the flat arrays `items`, `grades` (0 = unrated), `scores`.


@_jit()
def draw_lists(
    users, train_indptr, train_items, test_indptr, test_items, test_grades,
    pool, draws, draw_indptr, list_indptr, items, grades,
):  # fmt: skip
    """Fill each list, in random order, with the user's test items and unrated items of `pool`.

    The places that the test items leave are filled by walking down a random permutation of
    `pool`, which holds every rated item, past what the user rated. `draws` are uniform in
    [0, 1): for list k at least (places + rated items of the user) of them from draw_indptr[k].
    `pool` stays permuted: the next user's walk is as random from there, and needs no copy.
    """
    rated = np.zeros(pool.max() + 1, dtype=np.bool_)
    for k in range(users.shape[0]):
        m = users[k]
        seen = train_items[train_indptr[m] : train_indptr[m + 1]]
        held_out = test_items[test_indptr[m] : test_indptr[m + 1]]
        rated[seen] = True
        rated[held_out] = True
        begin, draw, step = list_indptr[k], draw_indptr[k], 0
        place = begin
        while place < list_indptr[k + 1] - held_out.shape[0]:
            other = step + int(draws[draw] * (pool.shape[0] - step))
            pool[step], pool[other] = pool[other], pool[step]
            if not rated[pool[step]]:
                items[place] = pool[step]
                grades[place] = 0
                place += 1
            step += 1
            draw += 1
        for j in range(held_out.shape[0]):  # each takes a random place from who goes last
            other = begin + int(draws[draw] * (place + 1 - begin))
            items[place], grades[place] = items[other], grades[other]
            items[other], grades[other] = held_out[j], test_grades[test_indptr[m] + j]
            place += 1
            draw += 1
        rated[seen] = False
        rated[held_out] = False


@_jit(parallel=True)
def top_grades(scores, grades, list_indptr, out):
    """The grades at ranks 1..n of each list, out (n_lists, n); 0 beyond the end of a list.

    Equal scores keep the order in which they stand.
    """
    for k in prange(list_indptr.shape[0] - 1):
        best = np.full(out.shape[1], -np.inf)
        out[k] = 0
        for place in range(list_indptr[k], list_indptr[k + 1]):
            if scores[place] > best[-1]:
                rank = out.shape[1] - 1
                while rank > 0 and scores[place] > best[rank - 1]:
                    best[rank] = best[rank - 1]
                    out[k, rank] = out[k, rank - 1]
                    rank -= 1
                best[rank] = scores[place]
                out[k, rank] = grades[place]


@_jit(parallel=True)
def list_measures(top, users, test_indptr, test_grades, delta, at, out):
    """P, NDCG and GAP ("ideal", "all", "hits") at rank `at` of each list: out (n_lists, 5).

    top (n_lists, n): grades at ranks 1..n; fewer than `at` ranks mean shorter lists.
    """
    max_grade = delta.shape[0]
    n_ranks = min(at, top.shape[1])
    discount = 1.0 / np.log2(np.arange(n_ranks) + 2.0)
    gain = 2.0 ** np.arange(max_grade + 1.0) - 1.0
    weight = np.append(0.0, np.cumsum(delta))  # Δ
    for k in prange(users.shape[0]):
        count = np.zeros(max_grade + 1, dtype=np.int64)
        for place in range(test_indptr[users[k]], test_indptr[users[k] + 1]):
            count[test_grades[place]] += 1
        best_dcg = z_ideal = z_all = 0.0
        rank = 0
        for grade in range(max_grade, 0, -1):
            z_all += count[grade] * weight[grade]
            for _ in range(min(count[grade], n_ranks - rank)):
                best_dcg += gain[grade] * discount[rank]
                z_ideal += weight[grade]
                rank += 1
        dcg = z_hits = graded = 0.0
        at_least = np.zeros(max_grade)  # how many of the ranks so far have grade > l
        hits = 0
        for rank in range(n_ranks):
            grade = top[k, rank]
            hits += grade == max_grade
            dcg += gain[grade] * discount[rank]
            z_hits += weight[grade]
            for level in range(grade):
                at_least[level] += 1.0
                graded += delta[level] * at_least[level] / (rank + 1)
        out[k, 0] = hits / at
        out[k, 1] = dcg / best_dcg
        out[k, 2] = min(1.0, graded / z_ideal)
        out[k, 3] = min(1.0, graded / z_all)
        out[k, 4] = min(1.0, graded / z_hits) if z_hits > 0.0 else 0.0
