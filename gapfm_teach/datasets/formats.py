"""Read MovieLens files in the layouts they are published in, straight from zip or folder.

Official layouts: ml-100k (`u.data`, `u.item`); 1M and 10M (`.dat`, fields split by `::`);
the later ones (`.csv`). Two Python packages carry copies in layouts of their own.
"""

import csv
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

import numpy as np
import pandas as pd

from .frozen_table import read_frozen_table

FROZEN = "movielens.pkl.compress"
# ratings file -> (titles file, separator of the ratings, separator of the titles, header?)
LAYOUTS = {
    "u.data": ("u.item", "\t", "|", False),
    "ratings.dat": ("movies.dat", "::", "::", False),
    "ratings.csv": ("movies.csv", ",", ",", True),
    "ml-100k.inter": ("ml-100k.item", "\t", "\t", True),
}

ARTICLES = "The|An|A|Les|Le|La|L'|Das|Der|Die|Det|Il|O"
SORTED_NAME = re.compile(rf"(^|\()([^()]+), ({ARTICLES})(?= \(|\)|$)")


class Files:
    """The files of a zip or of an unpacked folder, by bare name.

    Raises FileNotFoundError when `path` does not exist, PermissionError when it may not be
    read, ValueError when it is a file that is no zip or a damaged one.
    """

    def __init__(self, path) -> None:
        self.path = Path(path).expanduser()
        if self.path.is_dir():
            found = [*self.path.glob("*/*"), *self.path.iterdir()]
            self._members = {file.name: str(file) for file in sorted(found, key=_depth)}
        elif not self.path.exists():
            raise FileNotFoundError(f"path {str(path)!r} does not exist")
        elif not _is_zip(self.path):
            raise ValueError(
                f"path {str(path)!r} is no zip file; pass the archive as downloaded, or the "
                "folder it was unpacked into"
            )
        else:
            with zipfile.ZipFile(self.path) as archive:
                names = sorted(map(PurePosixPath, archive.namelist()), key=_depth)
            self._members = {name.name: str(name) for name in names}

    def __contains__(self, name: str) -> bool:
        return name in self._members

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """Open one file for reading bytes; ValueError when it is missing or damaged."""
        if name not in self:
            raise ValueError(f"{self.path.name} holds no {name}; is the archive complete?")
        try:
            if self.path.is_dir():
                with open(self._members[name], "rb") as stream:
                    yield stream
            else:
                with (
                    zipfile.ZipFile(self.path) as archive,
                    archive.open(self._members[name]) as stream,
                ):
                    yield stream
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            NotImplementedError,
            RuntimeError,
        ) as error:
            raise ValueError(f"{name} in {self.path.name} is damaged ({error})") from error


def read_movielens(
    files: Files, wanted: Iterable[str], *, steps: int
) -> tuple[pd.DataFrame, dict[int, str]]:
    """Return (table, titles) from the first file of `wanted` that `files` holds.

    table: a line a rating, columns user, item, grade; grades are stars times `steps`
    (1, or 2 where half stars exist), so 1..5·steps. titles: item id -> display title.

    Raises ValueError that names file, line number and line when one cannot be read.
    """
    wanted = list(wanted)
    held = [name for name in wanted if name in files]
    if not held:
        raise ValueError(
            f"{files.path.name} holds none of {', '.join(wanted)}; is it the right data set?"
        )
    if held[0] == FROZEN:
        table, titles = _read_frozen(files)
    else:
        title_file, separator, title_separator, header = LAYOUTS[held[0]]
        table = _read_ratings(files, held[0], separator, header=header, steps=steps)
        titles = _read_titles(files, title_file, title_separator, header=header)
    table["grade"] *= steps
    return table, {item: display_title(title) for item, title in titles.items()}


def display_title(title: str) -> str:
    """Undo library sorting: "Usual Suspects, The (1995)" -> "The Usual Suspects (1995)".

    The same inside brackets: "Hate (Haine, La) (1995)" -> "Hate (La Haine) (1995)".
    """
    plain = SORTED_NAME.sub(r"\1\3 \2", " ".join(title.split()))
    return plain.replace("L' ", "L'")


def _read_ratings(
    files: Files, name: str, separator: str, *, header: bool, steps: int
) -> pd.DataFrame:
    """Read user, item, stars from columns 0, 1, 2; a fourth one, the time, is passed over."""
    # Split at ":", "::" makes every other column an empty one: pandas' fast parser wants one.
    columns = [place * len(separator) for place in range(3)]
    types = dict(zip(columns, (np.int32, np.int32, np.float64), strict=True))
    try:
        with files.open(name) as stream:
            table = pd.read_csv(
                stream,
                sep=separator[0],
                header=None,
                skiprows=int(header),
                usecols=columns,
                dtype=types,
            )
    except (ValueError, OverflowError) as error:
        _refuse_bad_line(files, name, separator, header, steps)
        raise ValueError(f"{name} cannot be read: {error}") from error
    table.columns = pd.Index(["user", "item", "grade"])
    if not _is_star(table["grade"], steps).all():
        _refuse_bad_line(files, name, separator, header, steps)
    return table


def _is_star(stars, steps: int):
    """True where `stars` is one of 1, 2, ..., 5, or with two steps 0.5, 1, ..., 5."""
    return (stars * steps >= 1) & (stars <= 5) & (stars * steps % 1 == 0)


def _refuse_bad_line(
    files: Files, name: str, separator: str, header: bool, steps: int
) -> None:
    """Raise ValueError for the first line that is no rating; slow, so only after a failure."""
    with files.open(name) as stream:
        for number, raw in enumerate(stream, start=1):
            line = raw.decode("latin-1").rstrip("\r\n")
            if (header and number == 1) or not line.strip():
                continue
            try:
                user, item, stars = line.split(separator)[:3]
                good = int(user) >= 0 and int(item) >= 0 and _is_star(float(stars), steps)
            except ValueError:
                good = False
            if not good:
                raise _bad_line(
                    name, number, line, f"user, item, stars ({1 / steps:g} to 5), time"
                )


def _read_titles(
    files: Files, name: str, separator: str, *, header: bool
) -> dict[int, str]:
    with files.open(name) as stream:
        lines = _decode(stream.read()).replace("\r\n", "\n").split("\n")
    titles = {}
    for number, line in enumerate(lines, start=1):
        if (header and number == 1) or not line.strip():
            continue
        fields = next(csv.reader([line])) if separator == "," else line.split(separator)
        if len(fields) < 3 or not fields[0].isdigit():
            raise _bad_line(name, number, line, "item, title, more")
        # Only the RecBole copy keeps the year in a column of its own.
        year = fields[2] if name == "ml-100k.item" else None
        titles[int(fields[0])] = fields[1] if year is None else _join_year(fields[1], year)
    return titles


def _join_year(title: str, year: str) -> str:
    """Put title and year together as the official file has them; it has one film of neither."""
    return "unknown" if year == "unkonwn" else f"{title} ({year})"


def _read_frozen(files: Files) -> tuple[pd.DataFrame, dict[int, str]]:
    with files.open(FROZEN) as stream:
        table = read_frozen_table(stream)
    films = table.drop_duplicates("movieId").dropna(subset=["title"])
    titles = {
        int(item): str(title) if pd.isna(year) else f"{title} ({year:.0f})"
        for item, title, year in zip(
            films["movieId"], films["title"], films["year"], strict=True
        )
    }
    ratings = table[["userId", "movieId", "rating"]].astype(
        {"userId": np.int32, "movieId": np.int32, "rating": np.float64}
    )
    ratings.columns = pd.Index(["user", "item", "grade"])
    return ratings, titles


def _decode(raw: bytes) -> str:
    """The older editions are Latin-1, the later ones UTF-8, and no file says which."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _bad_line(name: str, number: int, line: str, wanted: str) -> ValueError:
    return ValueError(
        f"{name}, line {number}: {line[:80]!r} is not {wanted!r}; the file is damaged or not "
        "MovieLens: download it again"
    )


def _is_zip(path: Path) -> bool:
    # Opened here: given a path, `is_zipfile` calls a file that may not be read no zip.
    with open(path, "rb") as file:
        return zipfile.is_zipfile(file)


def _depth(path: Path | PurePosixPath) -> tuple[int, str]:
    """Sort key that puts the least nested last, where it wins in a dict of bare names."""
    return -len(path.parts), str(path)
