"""What a student has tried and solved, as a table; and what a whole class has."""

import csv
import io
import re
from collections import Counter
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from statistics import median

from gapfm_teach._support.files import replacing

from .core import Exercise
from .progress_log import checked_name, is_plain

TABLE_OF_CLASS = "class.csv"
ATTEMPTS = re.compile("[1-9][0-9]{0,5}")


@dataclass(frozen=True)
class Row:
    """A student's work on one exercise."""

    name: str
    exercise: str
    attempts: int  # up to the one that solved it, or all
    first_slip: str  # "" if the first attempt was right
    solved: bool


@dataclass(frozen=True)
class Summary:
    """A class's work on one exercise."""

    exercise: str
    tried: int
    solved: int
    attempts: float  # the median of those who tried
    commonest_first_slip: str  # "" if nobody made one
    how_many: int


def rows_of(name: str, results: list[dict], exercises: dict[str, Exercise]) -> list[Row]:
    """A row for each exercise that was tried, in the order of the book."""
    rows = []
    for exercise in exercises:
        tried = [one for one in results if one["exercise"] == exercise]
        if tried:
            right = [one["solved"] for one in tried]
            attempts = right.index(True) + 1 if any(right) else len(right)
            rows.append(Row(name, exercise, attempts, tried[0]["slip"], any(right)))
    return rows


def summarised(rows: list[Row], exercises: dict[str, Exercise]) -> list[Summary]:
    """A row for each exercise that somebody tried, in the order of the book, then unknown ones."""
    summaries = []
    for exercise in dict.fromkeys([*exercises, *(row.exercise for row in rows)]):
        here = [row for row in rows if row.exercise == exercise]
        if here:
            slips = Counter(row.first_slip for row in here if row.first_slip)
            slip, how_many = slips.most_common(1)[0] if slips else ("", 0)
            solved = sum(row.solved for row in here)
            attempts = median(row.attempts for row in here)
            summaries.append(Summary(exercise, len(here), solved, attempts, slip, how_many))
    return summaries


def write(path: Path, rows: list) -> None:
    """Write rows of one kind as CSV, whole or not at all, in UTF-8 as spreadsheets know it.

    Raises FileExistsError where something else than such a table stands at `path`; OSError where
    it cannot be written.
    """
    header = [field.name for field in fields(rows[0])]
    if path.exists() and _lines(path)[:1] != [header]:
        raise FileExistsError(
            f"{path} is something else than a report; choose another name"
        )
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(header)
    writer.writerows(map(astuple, rows))
    with replacing(path) as file:
        file.write(text.getvalue().encode("utf-8-sig"))


def read(path: Path) -> list[Row]:
    """The rows of a student's report, of any edition. Raises ValueError for anything else, naming
    file and line, without what a terminal would obey."""
    lines = _lines(path)
    if lines[:1] != [[field.name for field in fields(Row)]]:
        raise ValueError(
            f"{path.name!r} is no student's report; move it out of the folder, or let the student "
            "write it anew: python -m gapfm_teach report"
        )
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        try:
            rows += [_row(line)] if line else []
        except ValueError as error:
            why = f"{path.name!r}, line {number}: {error}; ask for it anew"
            raise ValueError(why) from error
    names, tried = {row.name for row in rows}, {row.exercise for row in rows}
    if len(names) != 1 or len(tried) < len(rows):
        raise ValueError(
            f"{path.name!r} must hold one student, and each exercise once; ask for it anew"
        )
    return rows


def _row(line: list[str]) -> Row:
    if len(line) != len(fields(Row)):
        raise ValueError(f"{len(line)} columns for {len(fields(Row))}")
    name, exercise, attempts, slip, solved = line
    if not ATTEMPTS.fullmatch(attempts):
        raise ValueError(f"attempts must be a whole number from 1, got {attempts[:40]!r}")
    if solved not in ("True", "False"):
        raise ValueError(f"solved must be True or False, got {solved[:40]!r}")
    for text in (exercise, slip):
        if not is_plain(text):
            raise ValueError(f"no report of ours holds {text[:40]!r}")
    return Row(checked_name(name), exercise, int(attempts), slip, solved == "True")


def _lines(path: Path) -> list[list[str]]:
    """The lines of a CSV file; [] for what is none."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return list(csv.reader(file))
    except (UnicodeDecodeError, csv.Error):
        return []
