"""What is known of a text file with a line a record: its separator, and where columns stand."""

import codecs
import csv
import re
from dataclasses import dataclass

WHOLE = re.compile(r"[0-9]{1,10}")
HIGHEST_ID = 2**31 - 1  # ids are kept in 32 bits
HIGHEST_TIME = 10**10 - 1  # in seconds since 1970; thousandths of a second are beyond it


@dataclass(frozen=True)
class TextTable:
    """A file whose lines are split by `separator`.

    columns: what a column holds -> its name in the first line, or in a file without such a
    line its place. width: how many columns there are in a file without such a line; in one
    with it, its names are counted.
    """

    name: str
    separator: str
    columns: dict[str, str] | dict[str, int]
    width: int = 0

    @property
    def has_header(self) -> bool:
        return any(isinstance(column, str) for column in self.columns.values())

    def places(self, first_line: bytes) -> tuple[dict[str, int], int]:
        """Return where each wanted column stands, and how many columns there are.

        Raises ValueError that shows the first line when it should name the columns and does
        not: guessing would lose a rating, or take users for films.
        """
        if not self.has_header:
            return {what: int(place) for what, place in self.columns.items()}, self.width
        line = decode(first_line).rstrip("\r\n")
        names, wanted = self.split(line), list(map(str, self.columns.values()))
        if any(names.count(column) != 1 for column in wanted):
            raise ValueError(
                f"{self.name}, line 1: {line[:80]!r} does not name the columns "
                f"{', '.join(wanted)}, each once; put the line of names back, or get the "
                "file again"
            )
        return {what: names.index(str(c)) for what, c in self.columns.items()}, len(names)

    def split(self, line: str) -> list[str]:
        """Return the fields of a line; none when a quote is left open."""
        if self.separator != ",":
            return line.split(self.separator)
        try:
            return next(csv.reader([line], strict=True))
        except csv.Error:
            return []

    def bad_line(self, number: int, line: str, why: str) -> ValueError:
        return ValueError(
            f"{self.name}, line {number}: {line[:80]!r} {why}; the file is damaged or not "
            "MovieLens: download it again"
        )


def is_id(text: str) -> bool:
    return is_time(text) and int(text) <= HIGHEST_ID


def is_time(text: str) -> bool:
    return WHOLE.fullmatch(text) is not None


def decode(raw: bytes) -> str:
    """The older editions are Latin-1, the later ones UTF-8, and no file says which."""
    try:
        return raw.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")
