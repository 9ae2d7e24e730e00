"""Is this gradient right? Two numerical derivatives to compare with, and how to compare.

A function `f` here takes an array `x` of any shape and returns one number. Its gradient has the
shape of `x`. Both methods ask `f` for its value only, so they know nothing of the derivation
that they check.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ._support.checks import check_array


def central_difference(
    f: Callable[[np.ndarray], float], x: ArrayLike, step: float = 6e-6
) -> np.ndarray:
    """Return the gradient of `f` at `x`, same shape, by central differences.

        ∂f/∂x_k ≈ (f(x + h e_k) − f(x − h e_k)) / 2h,   h = `step`

    The truncation error falls as h² and the rounding error grows as ε/h (ε = 2.2e-16): the best
    h is near the cube root of ε, the default, and leaves about ten correct digits.

    >>> from gapfm_teach.gradcheck import central_difference
    >>> central_difference(lambda x: x[0] ** 2 + 3 * x[1], [2.0, 1.0]).round(3)
    array([4., 3.])
    """
    x = check_array(x, "x")
    _check_step(step)
    gradient = np.empty_like(x)
    for k in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[k] += step
        down[k] -= step
        # What was really added differs from `step` by rounding; divide by what was added.
        gradient[k] = (_number(f(up)) - _number(f(down))) / (up[k] - down[k])
    return gradient


def complex_step(
    f: Callable[[np.ndarray], complex], x: ArrayLike, step: float = 1e-20
) -> np.ndarray:
    """Return the gradient of `f` at `x`, same shape, by a step along the imaginary axis.

        ∂f/∂x_k ≈ Im f(x + i h e_k) / h

    Nothing is subtracted, so h may be tiny and the answer is good to the last digit or two. `f`
    must accept complex numbers and stay analytic: no abs, no conjugate, no comparison of `x`.

    >>> from gapfm_teach.gradcheck import complex_step
    >>> complex_step(lambda x: x[0] ** 2 + 3 * x[1], [2.0, 1.0]).round(12)
    array([4., 3.])
    """
    x = check_array(x, "x")
    _check_step(step)
    gradient = np.empty_like(x)
    for k in np.ndindex(x.shape):
        moved = x.astype(complex)
        moved[k] += 1j * step
        value = np.asarray(f(moved))
        if not np.iscomplexobj(value):
            raise TypeError(
                "f lost the imaginary part (it returned a real number); "
                "let f work in the type of its argument"
            )
        gradient[k] = _number(value).imag / step
    return gradient


def relative_error(a: ArrayLike, b: ArrayLike) -> float:
    """Return the largest |a − b| relative to the largest entry of both, from 0 to 2.

    `a` and `b` have the same shape. The largest entry sets the scale because ratios taken entry
    by entry blame a right gradient for an entry that is all but zero. 0 if all entries are.

    >>> from gapfm_teach.gradcheck import relative_error
    >>> relative_error([4.0, 3.0], [4.0, 2.0])  # 1 of 4
    0.25
    """
    a, b = (
        check_array(x, name, allow_complex=True, finite=False)
        for x, name in ((a, "a"), (b, "b"))
    )
    if a.shape != b.shape:
        raise ValueError(f"a and b must have one shape, got {a.shape} and {b.shape}")
    scale = max(np.max(np.abs(a), initial=0.0), np.max(np.abs(b), initial=0.0))
    return float(np.max(np.abs(a - b)) / scale) if scale != 0 else 0.0


def step_size_curve(
    f: Callable[[np.ndarray], float],
    gradient: Callable[[np.ndarray], np.ndarray],
    x: ArrayLike,
    steps: ArrayLike,
) -> np.ndarray:
    """Return the relative error of central differences against `gradient(x)`, one a step.

    On log-log axes a right gradient draws a V: truncation (slope 2) to the right of the best
    step, rounding (slope −1) to the left. A wrong gradient draws a floor instead: no step
    brings the two together.

    A step ten times smaller, an error a hundred times smaller:

    >>> from gapfm_teach.gradcheck import step_size_curve
    >>> cube, slope = lambda x: x[0] ** 3, lambda x: 3 * x**2
    >>> [f"{error:.1e}" for error in step_size_curve(cube, slope, [1.0], [1e-1, 1e-2])]
    ['3.3e-03', '3.3e-05']
    """
    x = check_array(x, "x")
    claimed = np.asarray(gradient(x))
    return np.array(
        [relative_error(claimed, central_difference(f, x, h)) for h in np.asarray(steps)]
    )


def _number(value):
    value = np.asarray(value)
    if value.size != 1:
        raise ValueError(
            f"f must return one number, got an array of shape {value.shape}; "
            "sum it, or check one output at a time"
        )
    return value.item()


def _check_step(step: float) -> None:
    if not (np.isfinite(step) and step > 0):
        raise ValueError(f"step must be finite and above 0, got {step!r}; try 1e-5")
