"""Read MovieLens files in the layouts they are published in.

Official layouts: ml-100k (`u.data`, `u.item`); 1M and 10M (`.dat`, fields split by `::`);
the later ones (`.csv`). Two Python packages carry copies in layouts of their own.
"""

import re
from collections.abc import Iterable

import pandas as pd

from .archive import Files
from .frozen_table import read_frozen_table
from .rating_lines import TYPES, read_ratings
from .text_table import TextTable, decode, is_id

FROZEN = "movielens.pkl.compress"
# No official line is longer than 31, and no archive, its other files included, larger than 50.
BYTES_A_RATING = 64
TITLE_BYTES = 1 << 24  # four times the largest official file of titles

RATING_PLACES = {"user": 0, "item": 1, "grade": 2, "time": 3}
TITLE_PLACES = {"item": 0, "title": 1}
# ratings file -> how it is written, and how the file of titles beside it is
LAYOUTS = {
    "u.data": (
        TextTable("u.data", "\t", RATING_PLACES, width=4),
        TextTable("u.item", "|", TITLE_PLACES, width=3),
    ),
    "ratings.dat": (
        TextTable("ratings.dat", "::", RATING_PLACES, width=4),
        TextTable("movies.dat", "::", TITLE_PLACES, width=3),
    ),
    "ratings.csv": (
        TextTable(
            "ratings.csv",
            ",",
            {"user": "userId", "item": "movieId", "grade": "rating", "time": "timestamp"},
        ),
        TextTable("movies.csv", ",", {"item": "movieId", "title": "title"}),
    ),
    "ml-100k.inter": (
        TextTable(
            "ml-100k.inter",
            "\t",
            {
                "user": "user_id:token",
                "item": "item_id:token",
                "grade": "rating:float",
                "time": "timestamp:float",
            },
        ),
        TextTable(
            "ml-100k.item",
            "\t",
            {
                "item": "item_id:token",
                "title": "movie_title:token_seq",
                "year": "release_year:token",
            },
        ),
    ),
}

ARTICLES = "The|An|A|Les|Le|La|L'|Das|Der|Die|Det|Il|O"
SORTED_NAME = re.compile(rf"(^|\()([^()]+), ({ARTICLES})(?= \(|\)|$)")


def read_movielens(
    files: Files, wanted: Iterable[str], *, steps: int, most_ratings: int
) -> tuple[pd.DataFrame, dict[int, str]]:
    """Return (table, titles) from the first file of `wanted` that `files` holds.

    table: a line a rating, columns user, item, grade, time; grades are stars times `steps` (1, or
    2 where half stars exist), so 1..5·steps; times are seconds since 1970. titles: item id ->
    display title.

    Raises ValueError that names file, line number and line when one cannot be read, for a film
    without a title, and when there are more than `most_ratings` or a file is larger than that
    many can make it.
    """
    wanted = list(wanted)
    held = [name for name in wanted if name in files]
    if not held:
        raise ValueError(
            f"{files.path.name} holds none of {', '.join(wanted)}; is it the right data set?"
        )
    most_bytes = BYTES_A_RATING * most_ratings
    if held[0] == FROZEN:
        table, titles = _read_frozen(files, most_bytes)
    else:
        ratings, films = LAYOUTS[held[0]]
        table = read_ratings(
            files, ratings, steps=steps, most=most_ratings, most_bytes=most_bytes
        )
        titles = _read_titles(files, films)
        _check_titled(table["item"], titles, ratings.name, films.name)
    table["grade"] *= steps
    return table, {item: display_title(title) for item, title in titles.items()}


def display_title(title: str) -> str:
    """Undo library sorting: "Usual Suspects, The (1995)" -> "The Usual Suspects (1995)".

    The same inside brackets: "Hate (Haine, La) (1995)" -> "Hate (La Haine) (1995)".
    """
    plain = SORTED_NAME.sub(r"\1\3 \2", " ".join(title.split()))
    return plain.replace("L' ", "L'")


def _read_titles(files: Files, table: TextTable) -> dict[int, str]:
    with files.open(table.name, TITLE_BYTES) as stream:
        raw = stream.read()
    lines = decode(raw).replace("\r\n", "\n").split("\n")
    places, width = table.places(raw.partition(b"\n")[0])
    titles: dict[int, str] = {}
    for number, line in enumerate(lines, start=1):
        if (table.has_header and number == 1) or not line.strip():
            continue
        fields = table.split(line)
        fits = len(fields) == width if table.has_header else len(fields) >= width
        if not (fits and is_id(fields[places["item"]])):
            raise table.bad_line(number, line, f"is not item, title, more: {width} fields")
        item, title = int(fields[places["item"]]), fields[places["title"]]
        if item in titles:
            raise table.bad_line(number, line, f"names film {item} a second time")
        # Only the RecBole copy keeps the year in a column of its own.
        titles[item] = (
            _join_year(title, fields[places["year"]]) if "year" in places else title
        )
    return titles


def _check_titled(rated: pd.Series, titles: dict[int, str], file: str, films: str) -> None:
    """Raise ValueError for a film without a title, which no edition has: its number is a user's
    where columns are swapped, and both files are whole only together."""
    missing = [item for item in rated.unique().tolist() if item not in titles]
    if missing:
        raise ValueError(
            f"{file} rates film {missing[0]}, which {films} does not have ({len(missing):,} such "
            "films); are users and films swapped, or is a file cut or of another edition? get "
            "both again"
        )


def _join_year(title: str, year: str) -> str:
    """Put title and year together as the official file has them; it has one film of neither."""
    return "unknown" if year == "unkonwn" else f"{title} ({year})"


def _read_frozen(files: Files, most_bytes: int) -> tuple[pd.DataFrame, dict[int, str]]:
    with files.open(FROZEN, most_bytes) as stream:
        table = read_frozen_table(stream, most_bytes)
    films = table.drop_duplicates("movieId").dropna(subset=["title"])
    titles = {
        int(item): str(title) if pd.isna(year) else f"{title} ({year:.0f})"
        for item, title, year in zip(
            films["movieId"], films["title"], films["year"], strict=True
        )
    }
    names = {"userId": "user", "movieId": "item", "rating": "grade", "timestamp": "time"}
    return table[list(names)].rename(columns=names).astype(TYPES), titles
