"""Scores of a user's items, their range, and how gradients in the scores reach the factors."""

from .jit import jit

# Exponentials centred at mid-range stay finite, and so do their sums and products, up to this
# spread of the scores.
WIDEST_CENTRED_RANGE = 1400.0


@jit()
def score_items(u, V, items, scores):
    """f = V u of (1), for some items."""
    for k in range(items.shape[0]):
        f = 0.0
        for d in range(u.shape[0]):
            f += u[d] * V[items[k], d]
        scores[k] = f


@jit()
def score_range(scores):
    """The lowest and the highest score."""
    low = high = scores[0]
    for score in scores:
        low = min(low, score)
        high = max(high, score)
    return low, high


@jit()
def add_to_user(coefficients, V, items, out):
    """Add Σ_k c_k V_k to the gradient of the user."""
    for k in range(items.shape[0]):
        c = coefficients[k]
        for d in range(out.shape[0]):
            out[d] += c * V[items[k], d]


@jit()
def add_to_items(coefficients, u, items, out):
    """Add c_k u to the gradient of each item; an item may occur twice."""
    for k in range(items.shape[0]):
        c = coefficients[k]
        if c != 0.0:  # those not selected
            for d in range(u.shape[0]):
                out[items[k], d] += c * u[d]
