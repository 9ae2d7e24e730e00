"""Argument checks shared by the whole package: one clear error, naming value and remedy."""

import math
import operator
import os
import reprlib
from numbers import Real
from pathlib import Path

import numpy as np

# There is a δ for each grade: a time taken for one would fill the memory.
MOST_GRADES = 10**6
HIGHEST_POSITION = 2**31 - 1  # positions are stored in 32 bits
LATEST_TIME = 2**53  # seconds; nanoseconds since 1970 are beyond it


def check_count(value, name: str, *, low: int = 1, high: int | None = None) -> int:
    """Return `value` as an int in [low, high].

    Raises TypeError for something that is no whole number (True and False are none, though
    Python counts with them), ValueError when out of range.
    """
    count = None if isinstance(value, bool) else _index(value)
    if count is None:
        raise TypeError(
            f"{name} must be a whole number, got {value!r}; pass an int such as {max(low, 1)}"
        )
    if count < low or (high is not None and count > high):
        wanted = f"at least {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{name} must be {wanted}, got {count}")
    return count


def check_real(value, name: str, *, low: float = 0.0, low_open: bool = False) -> float:
    """Return `value` as a finite float, at least `low` (above it when `low_open`).

    Raises TypeError for something that is no real number, True and False, text and arrays of
    several among them, ValueError when out of range.
    """
    real = _real(value)
    if real is None:
        raise TypeError(f"{name} must be a number, got {value!r}; pass a float")
    if not math.isfinite(real) or real < low or (low_open and real == low):
        wanted = f"above {low:g}" if low_open else f"at least {low:g}"
        raise ValueError(f"{name} must be finite and {wanted}, got {real!r}")
    return real


def check_choice(value, name: str, choices: tuple[str, ...]) -> str:
    """Return `value` if it is one of `choices`; raises ValueError that lists them."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}, got {value!r}")
    return value


def check_path(value, name: str, remedy: str) -> Path:
    """Return `value`, text or a path object, as a Path, with a leading `~` expanded.

    Raises TypeError for something else (numbers among them: `open` takes True for the standard
    output), ValueError for empty text, which Path takes for the current folder, for what no
    system takes for a name, and for the `~` of somebody unknown.
    """
    text = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(text, str):  # bytes are none
        raise TypeError(f"{name} must be text or a Path, got {value!r}; {remedy}")
    if not text or "\0" in text:
        raise ValueError(f"{name} must be a path, got {text!r}; {remedy}")
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise ValueError(
            f"{name} must be a path, got {text!r} ({error}); {remedy}"
        ) from error


def check_random_state(value, name: str = "random_state") -> np.random.Generator:
    """Return a Generator from None, a non-negative int, or a Generator (used as it is)."""
    if isinstance(value, np.random.Generator):
        return value
    if value is None:
        return np.random.default_rng()
    return np.random.default_rng(check_count(value, name, low=0))


def check_grades(grades, name: str = "grades", *, allow_unrated: bool = True) -> np.ndarray:
    """Return `grades` as int64 (N,): whole numbers, 0 (unrated) allowed or not.

    Raises ValueError that names the first offender: not one-dimensional, not a number,
    fractional, negative, or 0 where only rated items may stand.
    """
    array = _one_dimensional(grades, name)
    with np.errstate(invalid="ignore"):
        whole = np.isfinite(array) & (array == np.floor(array))
    _refuse_first(array, ~whole, name, "must be whole numbers; multiply half stars by 2")
    low = 0 if allow_unrated else 1
    remedy = (
        "must be 0 (unrated) or above"
        if allow_unrated
        else "must be 1 or above: rated items"
    )
    _refuse_first(array, array < low, name, remedy)
    remedy = f"must be at most {MOST_GRADES}; pass grades, not times or ids"
    _refuse_first(array, array > MOST_GRADES, name, remedy)
    return array.astype(np.int64)


def check_times(times, name: str = "times", *, length: int | None = None) -> np.ndarray:
    """Return times as int64 (N,), whole seconds since 1970, of the given length.

    Raises ValueError that names the first offender: a missing one, a fraction, nanoseconds; and
    for dates, which it says how to convert.
    """
    given = unmasked(times, name)
    remedy = "np.asarray(dates, 'datetime64[s]').astype(int)"
    if given.dtype.kind == "M":
        raise ValueError(
            f"{name} must be seconds since 1970, got dates of type {given.dtype}; convert them "
            f"with {remedy}"
        )
    array = _one_dimensional(given, name)
    if length is not None and array.size != length:
        raise ValueError(
            f"{name} has {array.size} entries but there are {length} ratings; pass one for each"
        )
    with np.errstate(invalid="ignore"):
        whole = np.isfinite(array) & (array == np.floor(array))
    _refuse_first(array, ~whole, name, "must be whole seconds since 1970, none missing")
    late = np.abs(array) >= LATEST_TIME
    _refuse_first(array, late, name, "must be seconds since 1970, not parts of a second")
    return array.astype(np.int64)


def check_positions(values, name: str, n_items: int = HIGHEST_POSITION) -> np.ndarray:
    """Return positions 0 to n_items - 1 as int64 (N,).

    Raises ValueError for numbers that are no positions: a mask of True and False, fractions,
    negative ones, and those too large.
    """
    array = unmasked(values, name)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        remedy = "np.flatnonzero(mask)" if array.dtype == bool else ".astype(int)"
        raise ValueError(
            f"{name} must be whole numbers in one dimension, got {array.dtype} numbers of "
            f"shape {array.shape}; convert with {remedy}"
        )
    bad = (array < 0) | (array >= n_items)
    if bad.any():
        first = int(np.argmax(bad))
        raise ValueError(
            f"{name} must be positions 0 to {n_items - 1}, got {name}[{first}] = {array[first]}; "
            "see Ratings.items for which id stands where"
        )
    return array.astype(np.int64)


def check_scores(
    scores, name: str = "scores", *, length: int | None = None, allow_complex: bool = False
) -> np.ndarray:
    """Return `scores` as float64 (N,), all finite, of the given length.

    `allow_complex` lets complex scores through, which complex-step differentiation needs.
    Raises ValueError that names the first offender.
    """
    if np.iscomplexobj(scores) and not allow_complex:
        raise ValueError(f"{name} must be real numbers, got {np.asarray(scores)!r}")
    array = _one_dimensional(scores, name, allow_complex)
    if length is not None and array.shape[0] != length:
        raise ValueError(
            f"{name} has length {array.shape[0]} but there are {length} grades; "
            "pass one score for each grade"
        )
    _refuse_first(
        array, ~np.isfinite(array), name, "must be finite; check the model's factors"
    )
    return array


def check_array(
    values, name: str, *, allow_complex: bool = False, finite: bool = True
) -> np.ndarray:
    """Return numbers as float64, of whatever shape; complex ones as complex where allowed.

    Raises ValueError for what is none (text, dates), for masked entries, for rows of unequal
    lengths, and where `finite` naming the first that is not.
    """
    array = _numbers(values, name, allow_complex)
    if finite and not np.isfinite(array).all():
        place = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
        where = f"{name}[{', '.join(map(str, place))}]" if place else name
        raise ValueError(f"{name} must be finite; {where} is {array[place].item():g}")
    return array


def check_delta(delta, max_grade: int) -> np.ndarray:
    """Return thresholding weights as float64 (L,), L >= max_grade, none negative.

    Raises ValueError when there are too few of them, or one is negative or not finite.
    """
    array = _one_dimensional(delta, "delta")
    if array.shape[0] < max_grade:
        raise ValueError(
            f"delta has {array.shape[0]} entries but the highest grade is {max_grade}; "
            "pass one weight for each grade 1..max_grade"
        )
    _refuse_first(
        array, ~np.isfinite(array) | (array < 0), "delta", "must be finite and not < 0"
    )
    return array


def check_penalty(reg: float, *factors: np.ndarray) -> float:
    """λ/2 times the sum of all squares; raises ValueError where that is no finite number."""
    with np.errstate(over="ignore", invalid="ignore"):
        penalty = reg / 2 * float(sum(np.sum(x**2) for x in factors))
    if not math.isfinite(penalty):
        largest = max(np.max(np.abs(x), initial=0.0) for x in factors)
        raise ValueError(
            f"factors up to {largest:g} with reg={reg:g} make the objective overflow; check how "
            "the model was trained"
        )
    return penalty


def unmasked(values, name: str) -> np.ndarray:
    """Return `values` as an array.

    Raises ValueError for lists of unequal lengths, and where some entries are masked: NumPy would
    take what the mask hides.
    """
    if np.ma.is_masked(values):
        raise ValueError(f"{name} has masked entries; leave them out or fill them in first")
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(
            f"{name} must be an even array, got {values!r}; make its entries alike"
        ) from None


def _real(value) -> float | None:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if not isinstance(value, Real) or isinstance(value, bool | np.timedelta64):
        return None
    try:
        return float(value)
    except OverflowError:  # a whole number of hundreds of digits
        return math.inf


def _index(value) -> int | None:
    try:
        return operator.index(value)
    except TypeError:
        return None


def _numbers(values, name: str, allow_complex: bool = False) -> np.ndarray:
    given = unmasked(values, name)
    is_complex = given.dtype.kind == "c"
    try:
        if given.dtype.kind in "mMV" or (is_complex and not allow_complex):
            raise TypeError  # NumPy would convert them
        return given.astype(complex if is_complex else float)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be numbers, got {reprlib.repr(values)}") from None


def _one_dimensional(values, name: str, allow_complex: bool = False) -> np.ndarray:
    array = _numbers(values, name, allow_complex)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}")
    return array


def _refuse_first(array: np.ndarray, bad: np.ndarray, name: str, remedy: str) -> None:
    if bad.any():
        first = int(np.argmax(bad))
        raise ValueError(f"{name} {remedy}; {name}[{first}] is {array[first].item():g}")
