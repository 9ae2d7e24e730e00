"""Read ratings, a line each, in blocks: fast when all is well, exact about what is not."""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

import numpy as np
import pandas as pd

from .archive import Files
from .text_table import HIGHEST_ID, HIGHEST_TIME, TextTable, decode, is_id, is_time

BLOCK = 1 << 22  # bytes read at once, and up to LONGEST more to the end of a line
LONGEST = 1 << 16
STARS = re.compile(r"[0-9]+(\.[0-9]*)?")
# Read wide and narrowed once they are checked: before 3.1 pandas cut a larger id to 32 bits.
READ_AS = {"user": np.int64, "item": np.int64, "grade": np.float64, "time": np.int64}
TYPES = {"user": np.int32, "item": np.int32, "grade": np.float64, "time": np.int64}


def read_ratings(
    files: Files, table: TextTable, *, steps: int, most: int, most_bytes: int
) -> pd.DataFrame:
    """Return columns user, item, grade (the stars) and time, a line a rating, at most `most` of them.

    Raises ValueError that names the file, and the line where there is one: a line that is no
    rating, a second rating of a film by one user, too many ratings, or none.
    """
    parts: list[pd.DataFrame] = []
    with files.open(table.name, most_bytes) as stream:
        first = stream.readline(LONGEST)
        lines = _Lines(table, *table.places(first), steps)
        begun = (2, b"") if table.has_header else (1, first)
        n_read = 0
        for number, block in _blocks(stream, table.name, *begun):
            parts.append(lines.parse(number, block))
            n_read += len(parts[-1])
            if n_read > most:
                raise ValueError(
                    f"{table.name} holds more than {most:,} ratings, which is all that this "
                    "data set has; is it another one?"
                )
    if not n_read:
        raise ValueError(f"{table.name} holds no ratings; get the file again")
    ratings = pd.concat(parts, ignore_index=True)
    _refuse_repeated(files, table, ratings, most_bytes)
    return ratings


def is_star(stars, steps: int):
    """True where `stars` is one of 1, 2, ..., 5, or with two steps 0.5, 1, ..., 5."""
    return (stars * steps >= 1) & (stars <= 5) & (stars * steps % 1 == 0)


@dataclass(frozen=True)
class _Lines:
    """How to read a line of one file."""

    table: TextTable
    places: dict[str, int]
    width: int
    steps: int

    def parse(self, number: int, block: bytes) -> pd.DataFrame:
        """Return the ratings of whole lines, the first of which is line `number`."""
        separator = self.table.separator
        # Split at ":", "::" makes every other column an empty one: the fast parser wants one.
        columns = {what: place * len(separator) for what, place in self.places.items()}
        try:
            ratings = pd.read_csv(
                io.BytesIO(block),
                sep=separator[0],
                header=None,
                usecols=list(columns.values()),
                dtype={columns[what]: READ_AS[what] for what in columns},
                quoting=csv.QUOTE_NONE,
            )
        except (ValueError, OverflowError) as error:
            raise self._first_bad_line(number, block, str(error)) from error
        ratings.columns = pd.Index(sorted(columns, key=columns.__getitem__))
        whole = self._n_whole(block) == len(ratings)
        good = is_star(ratings["grade"], self.steps)
        for what, high in (
            ("user", HIGHEST_ID),
            ("item", HIGHEST_ID),
            ("time", HIGHEST_TIME),
        ):
            good &= (ratings[what] >= 0) & (ratings[what] <= high)
        if not (whole and good.all()):
            why = f"its lines have not {self.width} fields each"
            raise self._first_bad_line(number, block, why)
        return ratings.astype(TYPES)

    def _n_whole(self, block: bytes) -> int:
        """How many lines have `width` fields; -1 where one has neither so many nor none."""
        separator = self.table.separator
        due = len(separator) * (self.width - 1)
        text = np.frombuffer(block, np.uint8)
        marks = text[(text == ord("\n")) | (text == ord(separator[0]))]
        ends = np.append(np.flatnonzero(marks == ord("\n")), marks.size)
        found = np.diff(ends, prepend=-1) - 1  # marks between two ends of lines
        n = int(np.count_nonzero(found == due))
        # Of "::" the marks may stand apart: then there are fewer pairs than lines need.
        fits = n + np.count_nonzero(found == 0) == found.size
        return n if fits and block.count(separator.encode()) == n * (self.width - 1) else -1

    def _first_bad_line(self, number: int, block: bytes, why: str) -> ValueError:
        """The error for the first line that is no rating; slow, so only after a failure."""
        for at, raw in enumerate(block.split(b"\n"), number):
            line = decode(raw).rstrip("\r")
            if line.strip() and not self._is_good(line):
                return self.table.bad_line(at, line, self._why_not(line))
        return ValueError(f"{self.table.name} cannot be read from line {number} on: {why}")

    def _why_not(self, line: str) -> str:
        fields = (
            f"is not {self.width} fields with user and item (0 to {HIGHEST_ID}), stars "
            f"({1 / self.steps:g} to 5) and seconds since 1970"
        )
        return f"{fields}, all without quotes" if '"' in line else fields

    def _is_good(self, line: str) -> bool:
        fields = line.split(self.table.separator)
        if len(fields) != self.width:
            return False
        user, item, stars, time = (fields[self.places[what]] for what in TYPES)
        if not (is_id(user) and is_id(item) and is_time(time) and STARS.fullmatch(stars)):
            return False
        return is_star(float(stars), self.steps)


def _blocks(
    stream: IO[bytes], name: str, number: int, begun: bytes
) -> Iterator[tuple[int, bytes]]:
    """Yield whole lines, not all of them blank, and the number of the first of them.

    `begun` was read already and begins line `number`.
    """
    while block := begun + stream.read(BLOCK):
        begun = b""
        block += stream.readline(LONGEST)
        n_lines = block.count(b"\n")
        if not block.endswith(b"\n") and stream.read(1):
            raise ValueError(
                f"{name}, line {number + n_lines}, has more than {LONGEST:,} bytes; the file "
                "is damaged: get it again"
            )
        if not block.isspace():
            yield number, block
        number += n_lines


def _refuse_repeated(
    files: Files, table: TextTable, ratings: pd.DataFrame, most_bytes: int
) -> None:
    """Raise ValueError when a user rates a film twice; the two lines are read again."""
    pairs = ratings["user"].to_numpy(np.int64) << 32 | ratings["item"].to_numpy()
    ordered = np.sort(pairs, kind="stable")  # soon done: the large files are in order
    if (ordered[1:] != ordered[:-1]).all():
        return
    again = int(ratings.duplicated(["user", "item"]).to_numpy().argmax())
    before = int(np.argmax(pairs == pairs[again]))
    skipped = 1 if table.has_header else 0
    with files.open(table.name, most_bytes) as stream:
        numbered = enumerate(stream, 1)
        lines = (pair for pair in numbered if pair[0] > skipped and pair[1].strip())
        found = [pair for row, pair in enumerate(lines) if row in (before, again)]
    (first, _), (number, raw) = found
    user, item = ratings.loc[again, ["user", "item"]].astype(int)
    why = f"is a second rating of film {item} by user {user}, the first is line {first}"
    raise table.bad_line(number, decode(raw).rstrip("\r\n"), why)
