"""Compiled code of the systems that compare two items at a time: `BPR` and `PairwiseLogistic`.

As in `kernels`: arrays in, `out` arrays filled, random numbers through arguments. The twins in
plain NumPy stand in the tests.
"""

import numpy as np

from gapfm_teach.kernels.jit import jit

_NEARLY_TOO_LARGE = 1e150  # of a product that is to take another factor


@jit()
def nth_unrated(rated, n):
    """Position of the unrated item that n unrated ones precede; `rated`, (S,), ascends."""
    low, high = 0, rated.shape[0]
    while low < high:  # rated[k] - k unrated items stand before rated[k]
        middle = (low + high) // 2
        if rated[middle] - middle <= n:
            low = middle + 1
        else:
            high = middle
    return n + low


@jit()
def step_pairs(U, V, b, users, items, indptr, drawn, uniforms, learning_rate, reg):
    """For each draw, in turn, one step up ln g(f_ui - f_uj) - λ/2 ‖U_u, V_i, V_j, b_i, b_j‖².

    U (n_users, D), V (n_items, D), b (n_items,) are changed in place. Rating r is of item items[r]
    by user users[r], each user's in ascending order from indptr[u] on. `drawn`: which ratings;
    `uniforms`, as many in [0, 1): which of the user's unrated items is j. Without any, no step.
    """
    for k in range(drawn.shape[0]):
        u, i = users[drawn[k]], items[drawn[k]]
        rated = items[indptr[u] : indptr[u + 1]]
        n_unrated = V.shape[0] - rated.shape[0]
        if n_unrated == 0:
            continue
        j = nth_unrated(rated, min(n_unrated - 1, int(uniforms[k] * n_unrated)))
        ahead = b[i] - b[j]
        for d in range(U.shape[1]):
            ahead += U[u, d] * (V[i, d] - V[j, d])
        slope = 1.0 / (1.0 + np.exp(ahead))  # of ln g
        b[i] += learning_rate * (slope - reg * b[i])
        b[j] += learning_rate * (-slope - reg * b[j])
        for d in range(U.shape[1]):
            hers, better, worse = U[u, d], V[i, d], V[j, d]
            U[u, d] += learning_rate * (slope * (better - worse) - reg * hers)
            V[i, d] += learning_rate * (slope * hers - reg * better)
            V[j, d] += learning_rate * (-slope * hers - reg * worse)


@jit()
def _count_above(e_i, e, weight, coefficients):
    """Σ_j g(f_j - f_i) and Σ_j ln(1 + e^(f_j - f_i)), e = e^f; subtracts weight · g from each.

    The logarithm of a product is quicker than a sum of logarithms.
    """
    above, loss, product, inverse = 0.0, 0.0, 1.0, 1.0 / e_i
    for j in range(e.shape[0]):
        odds = e[j] * inverse
        g = odds / (1.0 + odds)
        above += g
        coefficients[j] -= weight * g
        product *= 1.0 + odds
        if product > _NEARLY_TOO_LARGE:
            loss += np.log(product)
            product = 1.0
    return above, loss + np.log(product)


@jit()
def pairwise_sums(scores, grades, worth, unrated_weight, e, coefficients):
    """The grade-weighted pairwise logistic loss of one user, returned, and -∂/∂f as coefficients.

        Σ_i v_i [Σ_j ln(1 + e^(f_j - f_i)) + w Σ_l ln(1 + e^(f_l - f_i))]

    j over the rated items of lower grade than i, l over the unrated ones. scores f, (S + n,):
    rated items in descending order of their `grades`, (S,), then unrated ones; worth: v for each
    grade; e: scratch, (S + n,). Scores more than 345 apart count as a divergence: inf or nan.
    """
    n_rated, n = grades.shape[0], scores.shape[0]
    middle = (scores.min() + scores.max()) / 2
    for k in range(n):
        e[k] = np.exp(scores[k] - middle)
        coefficients[k] = 0.0
    loss, lower = 0.0, 0
    for i in range(n_rated):
        while lower < n_rated and grades[lower] >= grades[i]:
            lower += 1
        v, w = worth[grades[i]], unrated_weight
        above, lost = _count_above(e[i], e[lower:n_rated], v, coefficients[lower:n_rated])
        unrated_above, unrated_lost = _count_above(
            e[i], e[n_rated:n], v * w, coefficients[n_rated:n]
        )
        coefficients[i] += v * (above + w * unrated_above)
        loss += v * (lost + w * unrated_lost)
    return loss


@jit()
def pairwise_gradients(
    U, V, indptr, items, grades, worth, ascending, uniforms, unrated_weight,
    U_gradient, V_gradient,
):  # fmt: skip
    """One pass over all users: the sum of their losses, returned; -∂/∂U and -∂/∂V, without λ.

    `items` of each user in descending order of their `grades`, in ascending order in `ascending`;
    uniforms (n_users, n) in [0, 1): the unrated items, in order, are cut into n equal parts, one
    is drawn from each, and all stand for all; where there are n or fewer, all come.
    """
    loss = 0.0
    U_gradient[:] = 0.0
    V_gradient[:] = 0.0
    most = V.shape[0] + uniforms.shape[1]
    mine, scratch = np.empty(most, dtype=np.int64), np.empty((3, most))
    for m in range(U.shape[0]):
        row = slice(indptr[m], indptr[m + 1])
        n_rated, n_unrated = row.stop - row.start, V.shape[0] - (row.stop - row.start)
        n_drawn = min(uniforms.shape[1], n_unrated)
        n, stands_for = n_rated + n_drawn, n_unrated / max(1, n_drawn)
        if n_rated == 0:
            continue
        mine[:n_rated] = items[row]
        for k in range(n_drawn):
            place = int((k + uniforms[m, k]) * stands_for) if n_drawn < n_unrated else k
            mine[n_rated + k] = nth_unrated(ascending[row], min(place, n_unrated - 1))
        scores, e, coefficients = scratch[0, :n], scratch[1, :n], scratch[2, :n]
        for k in range(n):
            scores[k] = 0.0
            for d in range(V.shape[1]):
                scores[k] += U[m, d] * V[mine[k], d]
        loss += pairwise_sums(
            scores, grades[row], worth, unrated_weight * stands_for, e, coefficients
        )
        for k in range(n):
            for d in range(V.shape[1]):
                U_gradient[m, d] += coefficients[k] * V[mine[k], d]
                V_gradient[mine[k], d] += coefficients[k] * U[m, d]
    return loss
