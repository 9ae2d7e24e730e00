"""The Netflix Prize data, as ratings for training and the probe set."""

import warnings
from codecs import BOM_UTF8
from pathlib import Path
from typing import Any

import numpy as np

from ..._support.checks import check_path
from ...ratings import Ratings
from . import cache
from .arrange import by_movie, by_user, hold_out
from .files import DAMAGE, find_inputs, members
from .names import (
    HOW,
    LABEL,
    MOST_BYTES,
    N_MOVIES,
    N_PROBE,
    N_RATINGS,
    N_USERS,
    PROBE,
    TITLES,
    is_ratings,
)
from .parse import Segment, empty_file, read_ratings
from .titles import read_titles

FIRST_TITLE = "Dinosaur Planet (2003)"
WHOLE = (N_USERS, N_MOVIES, N_RATINGS - N_PROBE, N_PROBE)
PARTS = [f"combined_data_{n}.txt" for n in range(1, 5)]


def load_netflix(path) -> tuple[Ratings, Ratings]:
    """Return the Netflix Prize data as (training ratings, probe ratings).

    Both have the same users (all who rated anything, by increasing id) and the same items (all
    movies rated by anyone, by increasing id), with titles. The probe set is the part that the
    data's makers named for testing; its grades are found among the training data, and are
    taken out of them (section 5.1 of the paper). The dates are passed over: as `Ratings.times`
    they would take 0.8 GB.

    Parameters
    ----------
    path : what was downloaded, as it is: the original `nf_prize_dataset.tar.gz`, Kaggle's zip,
        the folder either was unpacked into, or a single `combined_data_1.txt`. Archives are
        read without being unpacked to disk.

    What is missing (some of the four combined_data files, movies, the probe, the titles) is
    named in a warning at every load, from the cache too, and in `source`: the warning, because
    results for a part are easily taken for the whole's; `source`, because it goes wherever the
    ratings go.

    The first reading is kept in the data folder (GAPFM_TEACH_DATA, else the platform's user
    cache) under `netflix-…`, about 5 bytes a rating, and later loads map it into memory. It
    belongs to the files' names, sizes and times of change. Delete it at any time.

    Memory, in bytes a rating: 5 as parsed (user int32, grade int8), twice while the blocks are
    joined in the order of the movies, while they are sorted by user (movie int32, grade int8) and
    while the probe is taken out. So at most 11 at a time, 1.1 GB for 100,480,507 ratings, and up
    to 0.2 GB for counters and text, beside what Python and its libraries take; 5 stay, and after
    a load from the cache these are pages of the file that the system may take back.

    Raises FileNotFoundError when there is no `path`, TypeError when it is no path; ValueError
    when it holds no such data, the data twice, more than the data can be, or is damaged, and with
    file, line number and line for a line that cannot be read, a grade outside 1 to 5, a rating
    above the first movie, a movie's second header or title, an empty file, a movie that one user
    rated twice, and a probe entry that has no rating.

    Of a single file, whose first line names the movie:

    >>> from pathlib import Path
    >>> from gapfm_teach import load_netflix
    >>> _ = Path("combined_data_1.txt").write_text("1:\\n30878,4,2005-12-26\\n")
    >>> train, probe = load_netflix("combined_data_1.txt")
    >>> train.n_ratings, probe.n_ratings
    (1, 0)
    """
    inputs = find_inputs(path)
    key = cache.key_of(inputs)
    kept = cache.read(key)
    if kept is None:
        kept = _read(inputs, check_path(path, "path", HOW).absolute().name)
        cache.write(key, *kept)
    train, probe, notes = kept
    for note in notes:
        warnings.warn(note, stacklevel=2)
    return train, probe


def _read(inputs: dict[str, Path], origin: str) -> tuple[Ratings, Ratings, list[str]]:
    try:
        segments, headers, others = parse_all(inputs)
    except DAMAGE as error:
        raise ValueError(
            f"{origin} is damaged, cut short or not an archive ({error or type(error).__name__}); "
            f"get a whole copy, or {HOW}"
        ) from None
    if not segments:
        raise ValueError(f"{origin} holds no ratings; is it the right file?")
    files = {place.split(",")[0] for place in headers.values()} | set(others)
    movies, columns = by_movie(segments)
    titles = _titles(others, origin)
    notes = _missing(files, set(titles), set(movies.tolist()))
    notes += hold_out(movies, columns, others[PROBE]) if PROBE in others else []
    rows = columns.tocsr()
    del columns  # as large
    users, *parts = by_user(movies, rows)
    counts = (users.size, movies.size, *(part.grades.size for part in parts))
    about: dict[str, Any] = {
        "max_grade": 5,
        "users": users,
        "items": movies,
        "titles": np.array([titles.get(movie, str(movie)) for movie in movies.tolist()]),
        "source": "; ".join([_what(counts, titles, others.get(LABEL)), *notes]),
        "origin": origin,
    }
    train, probe = (Ratings.unchecked(*part, **about) for part in parts)
    return train, probe, notes


def parse_all(
    inputs: dict[str, Path],
) -> tuple[list[Segment], dict[int, str], dict[str, bytes]]:
    """Return the ratings of `find_inputs`, where each movie begins, and the other files."""
    segments: list[Segment] = []
    headers: dict[int, str] = {}
    others: dict[str, bytes] = {}
    n_ratings = 0
    for name, stream in members(inputs):
        if is_ratings(name):
            found = read_ratings(name, stream, headers, n_ratings)
            n_ratings += sum(segment.users.size for segment in found)
            segments += found
        else:
            others[name] = stream.read(MOST_BYTES).removeprefix(BOM_UTF8)
            if not others[name].strip():
                raise empty_file(name)
    return segments, headers, others


def _titles(others: dict[str, bytes], origin: str) -> dict[int, str]:
    found = [name for name in TITLES if name in others]
    if len(found) > 1:
        raise ValueError(f"{origin} holds both {' and '.join(found)}; keep one of them")
    return read_titles(found[0], others[found[0]]) if found else {}


def _missing(files: set[str], titled: set[int], rated: set[int]) -> list[str]:
    """Say what these files lack; the titles' file tells which movies there should be."""
    notes = []
    absent = [part for part in PARTS if part not in files]
    if len(absent) < len(PARTS) and absent:
        notes.append(f"without {', '.join(absent)}")
    if not titled:
        notes.append("without movie_titles: movies have their numbers for titles")
    elif titled - rated:
        notes.append(
            f"{len(titled - rated):,} of {len(titled):,} movies have no ratings here"
        )
    if titled and rated - titled:
        notes.append(f"{len(rated - titled):,} movies have no title and show their numbers")
    if PROBE not in files:
        notes.append("without probe.txt: the probe is empty and nothing is held out")
    return notes


def _what(counts: tuple[int, ...], titles: dict[int, str], label: bytes | None) -> str:
    """Say what the ratings are: a label beside the files tells, else their numbers do."""
    if label is not None:
        return label.decode("utf-8", "replace").split("\n")[0].strip()
    if counts == WHOLE and titles.get(1, FIRST_TITLE) == FIRST_TITLE:
        return "Netflix Prize"
    return "in the Netflix Prize's format, but not the whole of its data"
