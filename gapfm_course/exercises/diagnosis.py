"""What an unknown wrong answer has in common with the right one: slips of every exercise."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

Close = Callable[[np.ndarray, np.ndarray], bool]


# What may have been done to the right result, and what to tell whoever did it.
_WAYS: list[tuple[str, Callable[..., Any]]] = [
    ("The size is right and the sign is not: you return minus what is asked for.", np.negative),
    ("You return 1 divided by what is asked for.", np.reciprocal),
    ("You return 1 minus what is asked for.", lambda right: 1 - right),
    *(("The right number, but rounded. Give it as it comes out.", partial(np.round, decimals=d)) for d in range(5)),
    ("The right number, but rounded up. Give it as it comes out.", np.ceil),
    ("The right number, but rounded down. Give it as it comes out.", np.floor),
    ("You return the square of what is asked for.", np.square),
    ("You return the square root of what is asked for.", np.sqrt),
    ("You return the logarithm of what is asked for.", np.log),
    ("Rows and columns have changed places: the right table, transposed.", np.transpose),
    ("The right numbers, in the reverse order.", lambda right: right[::-1] if right.ndim else right),
    ("The right numbers, but sorted. Keep the order of the input.", lambda right: np.sort(right, None).reshape(right.shape)),
]  # fmt: skip


def diagnose(results: list[np.ndarray], expected: list[np.ndarray], close: Close) -> str:
    """How wrong `results` are like what is `expected`, in a sentence or two; "" if in no way.

    Both have an array for each input that was tried; `close` says whether two of them agree.
    """
    if [r.shape for r in results] != [e.shape for e in expected]:
        return ""
    got, right = (np.concatenate([a.ravel() for a in some]) for some in (results, expected))
    if len(results) > 1 and np.ptp(got) == 0 < np.ptp(right):
        return f"Whatever it is given, your function returns {got[0]:.4g}."
    for message, changed in _WAYS:
        with np.errstate(all="ignore"):
            if all(map(close, results, map(changed, expected))):
                return message
    if np.isfinite(got).all() and np.isfinite(right).all() and np.ptp(right) > 0:
        return _by_numbers(results, expected, close, got, right)
    return ""


def _by_numbers(results, expected, close: Close, got: np.ndarray, right: np.ndarray) -> str:
    """Off by a factor, or by a number; nearly right; or none of these."""
    pairs = list(zip(results, expected, strict=True))
    factor, offset = got @ right / (right @ right), np.mean(got - right)
    if abs(factor - 1) > 1e-3 and all(close(r, factor * e) for r, e in pairs):
        return f"Right but for a factor: all that you return is {factor:.4g} times what is asked for."
    if all(close(r, offset + e) for r, e in pairs):
        more = "more" if offset > 0 else "less"
        return f"All that you return is {abs(offset):.4g} {more} than what is asked for."
    off = max(np.max(np.abs(r - e)) / (np.max(np.abs(e)) or 1.0) for r, e in pairs)
    if off < 1e-2:
        return (
            f"Nearly: it is off by up to {off:.1g} of the largest number, more than rounding "
            "explains. Is something left out, or only approximately so?"
        )
    return ""
