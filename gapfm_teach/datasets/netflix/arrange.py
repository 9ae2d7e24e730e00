"""Ratings in the order of the movies become rows of users."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from .names import HIGHEST_USER_ID, PROBE
from .parse import Segment, check_lines, parse, refuse_repeated_movies


class Rows(NamedTuple):
    """Ratings by user, as `Ratings` holds them."""

    indptr: np.ndarray
    indices: np.ndarray
    grades: np.ndarray


def by_movie(segments: list[Segment]) -> tuple[np.ndarray, sparse.csc_array]:
    """Return the movies' ids, increasing, and all grades, a row for each possible user id and a
    column a movie. Empties the list, whose arrays are as large as the result."""
    segments.sort(key=lambda segment: segment.movie)
    movies, places = np.unique([segment.movie for segment in segments], return_index=True)
    sizes = [segment.users.size for segment in segments]
    firsts = np.append(0, np.cumsum(np.add.reduceat(sizes, places)))
    users = np.concatenate([segment.users for segment in segments])
    grades = np.concatenate([segment.grades for segment in segments])
    segments.clear()
    # 32 bits hold a place among 10⁸ ratings, and here size is time.
    arrays = grades, users, firsts.astype(np.int32)
    return movies, sparse.csc_array(arrays, shape=(HIGHEST_USER_ID + 1, movies.size))


def hold_out(movies: np.ndarray, ratings: sparse.csc_array, content: bytes) -> list[str]:
    """Turn the sign of the probe's grades in place; `content` is its text.

    Returns a note where some of the probe's movies are not there.
    """
    parsed = parse(np.frombuffer(content, np.uint8), graded=False, begun=False)
    check_lines(PROBE, content, parsed, 0, "USER'")
    refuse_repeated_movies(PROBE, parsed, 0, {})
    absent = 0
    asked = np.zeros(HIGHEST_USER_ID + 1, bool)
    columns = dict(zip(movies.tolist(), pairwise(ratings.indptr.tolist()), strict=True))
    for movie, low, high in parsed.by_movie(0):
        wanted = parsed.users[low:high]
        if movie not in columns:
            absent += wanted.size
            continue
        here = slice(*columns[movie])
        asked[wanted] = True
        held = asked[ratings.indices[here]]
        if np.count_nonzero(held) != wanted.size:
            _check_wanted(movie, wanted, ratings.indices[here])
        ratings.data[here][held] *= -1
        asked[wanted] = False
    if not absent:
        return []
    return [f"{absent:,} of {parsed.users.size:,} probe ratings are of movies not here"]


def _check_wanted(movie: int, wanted: np.ndarray, raters: np.ndarray) -> None:
    """Raise ValueError where the probe asks for a rating twice, or for one that is not there."""
    lost = np.setdiff1d(wanted, raters)
    if lost.size or np.unique(wanted).size < wanted.size:
        who = f"user {lost[0]}, who has no rating of it" if lost.size else "a user twice"
        raise ValueError(
            f"{PROBE} asks for movie {movie} and {who}; get whole files, or leave {PROBE} out"
        )


def by_user(movies: np.ndarray, ratings: sparse.csr_array) -> tuple[np.ndarray, Rows, Rows]:
    """Return the ids of the users, their training ratings, and those held out.

    Raises ValueError where a user rated a movie twice.
    """
    users = np.flatnonzero(np.diff(ratings.indptr)).astype(np.int32)
    indptr = np.append(ratings.indptr[users], ratings.nnz).astype(np.int64)
    again = ratings.indices[1:] == ratings.indices[:-1]
    again[indptr[1:-1] - 1] = False
    if again.any():
        place = int(np.argmax(again))
        user = users[np.searchsorted(indptr, place, side="right") - 1]
        raise ValueError(
            f"user {user} rates movie {movies[ratings.indices[place]]} a second time; keep one of "
            "these ratings, or get a whole copy"
        )
    is_held = ratings.data < 0
    before = np.searchsorted(np.flatnonzero(is_held), indptr)
    held = Rows(before, ratings.indices[is_held], -ratings.data[is_held])
    train = Rows(indptr - before, ratings.indices[~is_held], ratings.data[~is_held])
    return users, train, held
