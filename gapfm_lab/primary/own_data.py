"""Anybody's ratings from one text file, its columns found by their names."""

from pathlib import Path

import numpy as np
import pandas as pd

from gapfm_teach._support.checks import check_path
from gapfm_teach.ratings import Ratings

# Lower case, without spaces, hyphens and underscores.
NAMES = {
    "user": ("userid", "user", "uid", "customerid", "customer", "reviewerid", "reviewer"),
    "item": (
        "movieid", "itemid", "item", "movie", "film", "filmid", "productid", "product", "bookid",
        "asin", "iid", "isbn",
    ),
    "grade": ("rating", "grade", "stars", "score", "overall", "value"),
}  # fmt: skip
SEPARATORS = ("\t", ";", ",", "|")
MOST_GRADES = 100


def read_ratings(path) -> Ratings:
    """The ratings of a CSV file with a header line, whatever its separator.

    Columns for user, item and grade go by any of `NAMES`, in any order and case. Half and quarter
    stars become whole grades; a scale that begins at 0 or below is moved up to 1. Of several
    ratings of an item by one user the last line counts. `.source` names the file and what was
    changed.

    Raises FileNotFoundError for no file; ValueError for a column that is missing, a grade that is
    no number, or grades that are not evenly spaced, naming it.
    """
    file = Path(check_path(path, "path", "pass a CSV file such as 'ratings.csv'"))
    with open(file, encoding="utf-8-sig", errors="replace") as text:
        header = text.readline()
    separator = max(SEPARATORS, key=header.count)
    table = pd.read_csv(
        file, sep=separator, encoding="utf-8-sig", encoding_errors="replace",
        skipinitialspace=True, on_bad_lines="error",
    )  # fmt: skip
    columns = {name: _column(file, table, name) for name in NAMES}
    table = table[list(columns.values())].set_axis(list(columns), axis=1)
    n_lines = len(table)
    table = table.dropna(subset=["user", "item"])
    grades, words = _whole_grades(file, table["grade"])
    table = table.assign(grade=grades).drop_duplicates(["user", "item"], keep="last")
    if len(table) < n_lines:
        words.append(f"{n_lines - len(table):,} repeated or incomplete lines left out")
    return Ratings.from_frame(table, source=", ".join([file.name, *words]))


def _column(file: Path, table: pd.DataFrame, wanted: str) -> str:
    plain = {
        name: str(name).strip().lower().replace("_", "").replace("-", "").replace(" ", "")
        for name in table.columns
    }
    for known in NAMES[wanted]:
        for name, word in plain.items():
            if word == known:
                return name
    raise ValueError(
        f"{file.name} has no column for the {wanted}; its columns are "
        f"{', '.join(map(str, table.columns))}; name one of them {NAMES[wanted][0]!r}"
    )


def _whole_grades(file: Path, column: pd.Series) -> tuple[np.ndarray, list[str]]:
    """Grades from 1 in whole steps, and what was done to them."""
    numbers = pd.to_numeric(column, errors="coerce")
    bad = ~np.isfinite(numbers)
    if bad.any():
        place = int(np.argmax(bad))
        raise ValueError(
            f"{file.name}, rating {place + 1}: the grade {column.iloc[place]!r} is not a number; "
            "correct the line or leave it out"
        )
    levels = np.unique(numbers)
    for steps in (1, 2, 4, 10):
        whole = np.round(levels * steps)
        if np.allclose(levels * steps, whole, atol=1e-9):
            break
    else:
        raise ValueError(
            f"{file.name}: grades such as {levels[0]:g} and {levels[-1]:g} are not in steps of 1, "
            "1/2, 1/4 or 1/10; round them first"
        )
    shift = max(0, 1 - int(whole[0]))
    if whole[-1] + shift > MOST_GRADES:
        raise ValueError(
            f"{file.name}: grades up to {levels[-1]:g} make {whole[-1] + shift:g} steps, and "
            f"{MOST_GRADES} are the most; make the scale coarser"
        )
    words = [f"grades times {steps}"] if steps > 1 else []
    words += [f"grades plus {shift}"] if shift else []
    return (np.round(numbers.to_numpy() * steps) + shift).astype(np.int64), words
