"""The movies' titles, and the paper's Table 1."""

import re

import numpy as np
import pandas as pd

from ...ratings import Ratings
from .parse import HIGHEST_MOVIE, bad_line

LONGEST_TITLE = 500  # letters: all titles take as much memory each as the longest
TITLE_LINE = re.compile(rf"([0-9]{{1,7}}),([0-9]{{4}}|NULL),(.{{1,{LONGEST_TITLE}}})")

# Table 1 of the paper: users with at least 50 training ratings.
FEWEST_RATINGS = 50
PAPER = {"users": 319_275, "movies": 17_770, "ratings": 95_085_018}


def read_titles(file: str, content: bytes) -> dict[int, str]:
    """Return movie id -> "Title (year)" from lines "ID,YEAR,TITLE".

    Titles may hold commas and are never quoted; a year NULL is left out. Raises ValueError
    with file, line number and line, for a movie's second title too.
    """
    encoding = _encoding(content)
    titles: dict[int, str] = {}
    lines: dict[int, int] = {}  # on which each movie stands
    # Not str.splitlines: one of the letters of Latin-1 is a line's end to it.
    for number, line in enumerate(content.split(b"\n"), start=1):
        text = line.decode(encoding).strip()
        if not text:
            continue
        found = TITLE_LINE.fullmatch(text)
        movie = int(found[1]) if found else 0
        if found is None or not 1 <= movie <= HIGHEST_MOVIE:
            raise bad_line(
                file,
                number,
                line,
                f"must be 'ID,YEAR,TITLE', ID 1 to {HIGHEST_MOVIE}, YEAR four digits or NULL, "
                f"TITLE at most {LONGEST_TITLE} letters",
                encoding,
            )
        first = lines.setdefault(movie, number)
        if first != number:
            why = f"names movie {movie} a second time, after line {first}; keep one of them"
            raise bad_line(file, number, line, why, encoding)
        titles[movie] = found[3].strip() + ("" if found[2] == "NULL" else f" ({found[2]})")
    return titles


def _encoding(content: bytes) -> str:
    """UTF-8 if the whole file is valid as such, else Latin-1, as the original is.

    Copies that were saved again are in UTF-8, and no file says so. Read as Latin-1 every file
    makes sense to the computer and "Amélie" becomes "AmÃ©lie"; read as UTF-8 hardly any file
    in Latin-1 does, since a letter with an accent would have to be followed by a symbol such
    as "©" each time. So the strict one is tried first.
    """
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig"  # some programs put a mark before the first line


def table1(train: Ratings) -> pd.DataFrame:
    """Print the paper's Table 1 for `train`, beside the paper's own, and return it.

    Counted are users with at least 50 ratings, all movies, the ratings of these users, and the
    share of (user, movie) pairs without one. Of the Netflix Prize data without its probe set
    (`load_netflix`) these are the paper's numbers; of others, a line says that they are not
    the Netflix Prize data.

    Returns a table with rows "here" and "paper" and columns users, movies, ratings, sparseness.
    Raises TypeError for something that is no Ratings.
    """
    if not isinstance(train, Ratings):
        raise TypeError(f"train must be Ratings, got {type(train).__name__}")
    counts = np.diff(train.indptr)
    kept = counts[counts >= FEWEST_RATINGS]
    here = {"users": kept.size, "movies": train.n_items, "ratings": int(kept.sum())}
    table = pd.DataFrame([here, PAPER], index=["here", "paper"])
    pairs = table["users"] * table["movies"]
    table["sparseness"] = 1 - table["ratings"] / pairs.where(pairs > 0)
    print(f"Table 1: users with at least {FEWEST_RATINGS} training ratings")
    print(
        table.to_string(
            formatters=dict.fromkeys(PAPER, "{:,}".format) | {"sparseness": "{:.2%}".format}
        )
    )
    print(f"Read from: {train.source or 'not stated'}")
    if here != PAPER:
        print("The counts differ from the paper's: this is not the Netflix Prize data.")
    return table
