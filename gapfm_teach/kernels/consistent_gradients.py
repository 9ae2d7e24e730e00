"""One pass over the users for the objectives with smooth ranks: values and gradients."""

import numpy as np

from .consistent_nodes import consistent_sums
from .consistent_pairs import normalize_gains
from .jit import jit
from .scores import add_to_items, add_to_user, score_items


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


@jit(nogil=True)
def consistent_gradients(
    begin, end, U, V, indptr, items, grades, gains, item_weights, ascending, uniforms, kind, shape,
    tau, unrated_weight, tolerance, blocks, values, U_gradient, V_parts,
):  # fmt: skip
    """One pass over the users of blocks begin..end - 1: the measure of each, ∂/∂U, and each block's
    part of ∂/∂V, all without λ.

    gains, item_weights: G and v for each grade 0..max_grade; ascending: `items` with each user's
    in ascending order; uniforms (n_users, n) in [0, 1), from which n unrated items
    are drawn for each user, to stand for all of them; each counts `unrated_weight` in a rank,
    where a rated item counts 1; tolerance: of `consistent_sums`. Block b is the users
    blocks[b]..blocks[b + 1] - 1.
    """
    longest = 0
    for m in range(blocks[begin], blocks[end]):
        longest = max(longest, indptr[m + 1] - indptr[m])
    longest += uniforms.shape[1]
    scratch, user_items = np.empty((7, longest)), np.empty(longest, dtype=np.int64)
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
            n_drawn = draw_unrated(
                ascending[row], uniforms[m], V.shape[0], user_items[n_rated:]
            )
            n = n_rated + n_drawn
            each = unrated_weight * (V.shape[0] - n_rated) / max(1, n_drawn)
            scores, coefficients = scratch[3, :n], scratch[4, :n]
            user_gains, user_weights = scratch[5, :n_rated], scratch[6, :n_rated]
            for k in range(n_rated):
                user_items[k] = items[row.start + k]
                user_gains[k] = gains[grades[row.start + k]]
                user_weights[k] = item_weights[grades[row.start + k]]
            score_items(U[m], V, user_items[:n], scores)
            normalize_gains(kind, shape, user_gains)
            values[m] = consistent_sums(
                scores, user_gains, user_weights, kind, shape, each, tau, tolerance, scratch,
                coefficients,
            )  # fmt: skip
            add_to_user(coefficients, V, user_items[:n], U_gradient[m])
            add_to_items(coefficients, U[m], user_items[:n], V_part)
