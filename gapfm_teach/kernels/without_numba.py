"""What stands in for Numba where it is missing, as in a browser: nothing is compiled.

The kernels then run as they are written, in plain Python, but for a few loops that would take
minutes there. Those have a form in NumPy here, under the same name and with the same arguments.
"""

import warnings
from types import SimpleNamespace

import numpy as np

config = SimpleNamespace(NUMBA_NUM_THREADS=1)

warnings.warn(
    "Numba is missing, so nothing is compiled: training and evaluating give the same results, but "
    "take many times as long. To get it: python -m pip install numba",
    stacklevel=2,
)


def njit(function=None, **options):
    """Return the function's form in NumPy, where there is one, or else the function itself."""
    if function is None:
        return njit
    return _IN_NUMPY.get(function.__name__, function)


# ------------------------------------------------------------------ scores and factors


def score_items(u, V, items, scores):
    scores[:] = V[items] @ u


def add_to_user(coefficients, V, items, out):
    out += coefficients @ V[items]


def add_to_items(coefficients, u, items, out):
    np.add.at(out, items, np.outer(coefficients, u))  # an item may have been drawn twice


# ------------------------------------------------------------------ sums of one user


def user_sums(scores, weights, tolerance, scratch, coefficients):
    with np.errstate(over="ignore"):  # g is 0 there
        g, h = 1.0 / (1.0 + np.exp(-scores)), 1.0 / (1.0 + np.exp(scores))
        t = 1.0 / (1.0 + np.exp(scores[:, None] - scores))
    P = np.minimum.outer(weights, weights) * t  # the terms of the two sums
    Q = P * (2.0 * t - 1.0)
    P = P.sum(axis=1)
    coefficients[:] = g * (h * P + Q @ h)
    return g @ P


# ------------------------------------------------------------------ lists


def held_out_ranks(begin, end, U, by_factor, seen_indptr, seen_items, indptr, items, ranks):
    for m in range(begin, end):
        scores = U[m] @ by_factor
        scores[seen_items[seen_indptr[m] : seen_indptr[m + 1]]] = -np.inf
        place = np.empty(scores.size, dtype=np.int64)
        place[np.argsort(-scores, kind="stable")] = np.arange(1, scores.size + 1)
        row = slice(indptr[m], indptr[m + 1])
        ranks[row] = place[items[row]]


def gap_at_ranks(begin, end, ranks, indptr, grades, delta, out):
    for m in range(begin, end):
        row = slice(indptr[m], indptr[m + 1])
        order = np.argsort(ranks[row])
        hit = grades[row][order, None] > np.arange(delta.shape[0])  # grade > l
        gain = hit * hit.cumsum(axis=0) / ranks[row][order, None]
        out[m] = (gain @ delta).sum() / (hit @ delta).sum() if hit.any() else np.nan


# ------------------------------------------------------------------ smooth ranks


def draw_unrated(rated, uniforms, n_items, out):
    left = n_items - rated.shape[0]
    n = min(uniforms.shape[0], left)
    place = np.arange(n)
    if n < left:
        place = np.minimum(left - 1, ((place + uniforms) * (left / n)).astype(np.int64))
    unrated_below = rated - np.arange(rated.shape[0])
    out[:n] = place + np.searchsorted(unrated_below, place, side="right")
    return n


def consistent_sums_by_pairs(
    low, high, scores, gains, item_weights, kind, shape, unrated_weight, tau, scratch, coefficients
):  # fmt: skip
    from .consistent_pairs import CASCADE, item_terms  # which imports this module

    n = gains.shape[0]
    with np.errstate(over="ignore"):  # t is 0 there
        t = 1.0 / (1.0 + np.exp((scores[:n, None] - scores) / tau))
        d = t / (1.0 + np.exp((scores - scores[:n, None]) / tau))
    lower, own, slope = np.minimum.outer(gains, gains), t[:, :n], d[:, :n]
    q = 1.0 / (0.5 + own.sum(axis=1) + unrated_weight * t[:, n:].sum(axis=1))
    pairs, passed = (lower * own).sum(axis=1), (1.0 - gains * own).prod(axis=1)
    terms, x, s = np.transpose([
        item_terms(kind, shape, tau, gains[i], item_weights[i], q[i], pairs[i], passed[i])
        for i in range(n)
    ])  # fmt: skip
    direct = x[:, None] * (lower if kind != CASCADE else -gains / (1.0 - gains * own))
    m = direct - s[:, None]
    coefficients[:n] = (slope * (m - m.T)).sum(axis=0)
    coefficients[:n] += unrated_weight * s * d[:, n:].sum(axis=1)
    coefficients[n:] = -unrated_weight * s @ d[:, n:]
    coefficients /= tau
    return terms.sum()


_FORMS = (
    score_items,
    add_to_user,
    add_to_items,
    draw_unrated,
    consistent_sums_by_pairs,
    user_sums,
    held_out_ranks,
    gap_at_ranks,
)
_IN_NUMPY = {form.__name__: form for form in _FORMS}
