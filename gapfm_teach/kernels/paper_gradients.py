"""One pass over the users for the objective (9): values and gradients, or V user by user.

The rated items of user m are `items[indptr[m]:indptr[m + 1]]`, in descending order of grade.
`cumulative_weights` is Δ(0), ..., Δ(L). `scores` and `coefficients` run parallel to `items`.

A branch is not compiled where the argument that it asks for is None, nor is what it calls. Kernels
take the first of the users, or blocks, they are for, and the one after the last: see `threads`.
"""

import numpy as np

from .jit import jit
from .paper_nodes import TOLERANCE, user_sums
from .paper_pairs import PAD
from .scores import add_to_items, add_to_user, score_items
from .selection import mark_highest, misranking_of_user, places_by_grade


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
    """Put 0 for what an iteration does not select, and leave it out of the inner sums if so told."""
    row_grades, marks, n_selected, inner_selected = selection
    n = scores.shape[0]
    if marks.shape[0] > 0:
        chosen = marks[row]
    elif n_selected < n:
        chosen = np.empty(n, dtype=np.bool_)
        places = places_by_grade(row_grades[row], max_grade)
        mark_highest(misranking_of_user(scores, places), places, n_selected, chosen)
    else:
        return
    if inner_selected:
        _sums_of_chosen(scores, weights, chosen, tolerance, scratch, coefficients)
    for k in range(n):
        coefficients[k] *= chosen[k]


@jit(nogil=True)
def gradients(
    begin, end, U, V, indptr, items, grades, cumulative_weights, blocks, tolerance, selection,
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
    scratch = np.empty((8, PAD + longest))
    for b in range(begin, end):
        V_part = V_parts[b]
        V_part[:] = 0.0
        for m in range(blocks[b], blocks[b + 1]):
            row = slice(indptr[m], indptr[m + 1])
            user_items, u, n = items[row], U[m], indptr[m + 1] - indptr[m]
            values[m] = 0.0
            U_gradient[m, :] = 0.0
            if n == 0:
                continue
            scores, weights, coefficients = scratch[5, :n], scratch[6, :n], scratch[7, :n]
            score_items(u, V, user_items, scores)
            for k in range(n):
                weights[k] = cumulative_weights[grades[row.start + k]]
            values[m] = user_sums(scores, weights, tolerance, scratch, coefficients)
            add_to_user(coefficients, V, user_items, U_gradient[m])
            if selection is not None:
                _keep_selected(
                    row, cumulative_weights.shape[0] - 1, selection, scores, weights, tolerance,
                    scratch, coefficients,
                )  # fmt: skip
            add_to_items(coefficients, u, user_items, V_part)


@jit(nogil=True)
def user_coefficients(
    begin, end, scores, indptr, grades, cumulative_weights, tolerance, coefficients
):
    """∂F/∂f for every rating."""
    for m in range(begin, end):
        row = slice(indptr[m], indptr[m + 1])
        if row.start < row.stop:
            scratch = np.empty((5, PAD + row.stop - row.start))
            weights = cumulative_weights[grades[row]]
            user_sums(scores[row], weights, tolerance, scratch, coefficients[row])


@jit()
def update_items_in_turn(
    U,
    V,
    indptr,
    items,
    grades,
    cumulative_weights,
    selected,
    inner_selected,
    reg,
    learning_rate,
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
        user_items = items[row][inner]
        scratch = np.empty((5, PAD + inner.shape[0]))
        scores, coefficients = np.empty(inner.shape[0]), np.empty(inner.shape[0])
        score_items(U[m], V, user_items, scores)
        user_sums(
            scores, cumulative_weights[grades[row][inner]], TOLERANCE, scratch, coefficients
        )
        for k in range(inner.shape[0]):
            if chosen[inner[k]]:
                for d in range(V.shape[1]):
                    step = coefficients[k] * U[m, d] - reg * V[user_items[k], d]
                    V[user_items[k], d] += learning_rate * step
