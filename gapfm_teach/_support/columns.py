"""What Ratings are made of: ids and titles, and the columns of a table with a line a rating."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from .checks import check_grades, check_times, unmasked


def check_labels(values, name: str, length: int, of: str) -> np.ndarray:
    """Ids or titles, (length,); positions where `values` is None.

    Raises ValueError for another shape, and for what NumPy would change to make it of one type:
    beside text, numbers become text; large whole numbers may become floats.
    """
    if values is None:
        return np.arange(length)
    array = unmasked(values, name)
    if array.shape != (length,):
        raise ValueError(
            f"{name} has shape {array.shape} but there are {length} {of}s; pass one for each"
        )
    if array.dtype == object and all(isinstance(value, str) for value in array):
        array = array.astype(np.str_)  # pandas' text: as objects only pickle could save it
    if array is not values and array.dtype != object:
        for given, kept in zip(values, array.tolist(), strict=True):
            if given != kept and given == given:  # nan is not equal to itself
                raise ValueError(
                    f"{name} must be of one type, but {given!r} would become {kept!r}; make them "
                    "all text, or pass an array of numbers"
                )
    return array


def check_ids(values, name: str, length: int, of: str) -> np.ndarray:
    """`check_labels`, all different; raises ValueError as well for a repeated one."""
    array = check_labels(values, name, length, of)
    # Text as objects: pandas' own text cannot hold all that Python's can.
    kind = object if array.dtype.kind in "US" else None
    again = pd.Series(array, dtype=kind).duplicated()
    if values is not None and again.any():
        second = int(np.argmax(again))
        identifier = array[second : second + 1].tolist()[0]
        raise ValueError(
            f"{name} must be distinct, but {identifier!r} is there twice, the second time at "
            f"position {second}; give each {of} an id of its own"
        )
    return array


def check_storable(labels: np.ndarray, name: str) -> np.ndarray:
    """Ids or titles; ValueError for what files without pickle cannot hold."""
    if labels.dtype.kind not in "iufU":
        raise ValueError(
            f"{name} of mixed or unusual types, such as {labels[0]!r}, cannot be saved; make them "
            "all numbers or all text"
        )
    return labels


# ------------------------------------------------------------------ of a table


def check_columns(df: pd.DataFrame, wanted: list[str]) -> None:
    """Raise unless `df` is a table that has each of these columns once, and a line."""
    if not isinstance(df, pd.DataFrame):
        raise TypeError(f"df must be a pandas DataFrame, got {type(df).__name__}")
    names = list(df.columns)
    for name in wanted:
        if name not in names:
            raise ValueError(f"df has no column {name!r}; its columns are {names}")
        if names.count(name) > 1:
            raise ValueError(
                f"df has {names.count(name)} columns {name!r}; rename or drop the others"
            )
    if df.empty:
        raise ValueError("df has no rows; pass at least one rating")


def grade_column(column: pd.Series, name: str) -> np.ndarray:
    """Grades from 1 as int64, (N,); ValueError that names the first offender."""
    return check_grades(_numbers(column, name), name, allow_unrated=False)


def time_column(column: pd.Series, name: str) -> np.ndarray:
    """Seconds since 1970 as int64, (N,); ValueError that names the first offender."""
    if column.dtype.kind == "M":  # dates, which are refused with what to do
        return check_times(column.to_numpy("datetime64[s]"), name)
    return check_times(_numbers(column, name), name)


def _numbers(column: pd.Series, name: str) -> np.ndarray:
    """A column as float64, (N,), NaN where it has nothing; ValueError for what is no number."""
    try:
        if column.dtype.kind in "cmM":
            raise TypeError  # NumPy would convert them
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, got {column.iloc[0]!r} first") from None


def factorize(column: pd.Series, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Positions, (N,) int64, and the ids in sorted order to which they belong."""
    if column.isna().any():
        first = column.index[column.isna()].tolist()[0]  # a number of Python, not of NumPy
        raise ValueError(
            f"{name} must not be missing; row {first!r} has none: drop such rows"
        )
    if isinstance(column.dtype, pd.CategoricalDtype):  # which has an order of its own
        column = column.astype(column.cat.categories.dtype)
    try:
        codes, found = pd.factorize(column, sort=True)
    except TypeError as error:
        raise ValueError(
            f"{name} has ids that cannot be sorted ({error}); make them all numbers or all text"
        ) from error
    return codes.astype(np.int64), np.asarray(found)


def item_titles(
    df: pd.DataFrame, item: str, title, item_ids: np.ndarray
) -> list[str] | None:
    """A title for each id, or the id as text where there is none."""
    if title is None:
        return None
    if isinstance(title, str):
        named = df.dropna(subset=[title]).drop_duplicates(item)
        title = dict(zip(named[item], named[title], strict=True))
    if isinstance(title, pd.Series) and not title.index.is_unique:
        twice = title.index[title.index.duplicated()].tolist()[0]
        raise ValueError(
            f"title has item {twice!r} more than once; keep one title of each, e.g. "
            "title[~title.index.duplicated()]"
        )
    # A Series takes a number for a place where its index has text.
    known: Mapping[Hashable, Any] = dict(title)
    found = [known.get(identifier) for identifier in item_ids.tolist()]
    for identifier, name in zip(item_ids.tolist(), found, strict=True):
        if not pd.api.types.is_scalar(name):
            raise ValueError(f"title of item {identifier!r} must be text, got {name!r}")
    return [
        str(identifier if pd.isna(name) else name)
        for name, identifier in zip(found, item_ids.tolist(), strict=True)
    ]
