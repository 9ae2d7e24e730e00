"""The movies' titles, and the paper's Table 1."""

import numpy as np
import pandas as pd

from ...ratings import Ratings
from .parse import bad_line

# Table 1 of the paper: users with at least 50 training ratings.
FEWEST_RATINGS = 50
PAPER = {"users": 319_275, "movies": 17_770, "ratings": 95_085_018}


def read_titles(file: str, content: bytes) -> dict[int, str]:
    """Return movie id -> "Title (year)" from lines "ID,YEAR,TITLE" in Latin-1.

    Titles may hold commas and are never quoted; a year NULL is left out. Raises ValueError
    with file, line number and line.
    """
    titles = {}
    # Not str.splitlines: one of the letters of Latin-1 is a line's end to it.
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        fields = line.rstrip(b"\r").decode("latin-1").split(",", 2)
        good = len(fields) == 3 and (fields[1].isdecimal() or fields[1] == "NULL")
        if not good or not fields[0].isdecimal():
            raise bad_line(file, number, line, "must be 'ID,YEAR,TITLE', YEAR may be NULL")
        year = "" if fields[1] == "NULL" else f" ({fields[1]})"
        titles[int(fields[0])] = fields[2].strip() + year
    return titles


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
