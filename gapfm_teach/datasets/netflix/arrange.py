"""The counting sort: ratings in the order of the movies become rows of users."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...kernels import netflix_text as kernels
from .files import members
from .names import HIGHEST_USER_ID, PROBE
from .parse import Segment, bad_line, parse, refuse_bad_line, refuse_repeated_movies


class ByMovie(NamedTuple):
    """All ratings by increasing movie id: movie movies[k] has the ratings firsts[k] to
    firsts[k + 1] - 1 of `users` (ids) and `grades`, which are negative when held out.
    `files` says in which file each movie's ratings stood.
    """

    movies: np.ndarray
    firsts: np.ndarray
    users: np.ndarray
    grades: np.ndarray
    files: dict[int, str]


class Rows(NamedTuple):
    """Ratings by user, as `Ratings` holds them."""

    indptr: np.ndarray
    indices: np.ndarray
    grades: np.ndarray


def by_movie(segments: list[Segment]) -> ByMovie:
    """Join all segments, and empty the list, whose arrays are as large as the result."""
    segments.sort(key=lambda segment: segment.movie)
    files = {segment.movie: segment.file for segment in segments}
    movie_of = np.array([segment.movie for segment in segments], np.int32)
    movies, places = np.unique(movie_of, return_index=True)
    sizes = [segment.users.size for segment in segments]
    joined = ByMovie(
        movies,
        np.concatenate(([0], np.cumsum(np.add.reduceat(sizes, places)))),
        np.concatenate([segment.users for segment in segments]),
        np.concatenate([segment.grades for segment in segments]),
        files,
    )
    segments.clear()
    return joined


def hold_out(ratings: ByMovie, content: bytes) -> tuple[int, list[str]]:
    """Turn the sign of the probe's grades in place; `content` is its text.

    Returns how many, and a note when some of the probe's movies are not there.
    """
    parsed = parse(np.frombuffer(content, np.uint8), graded=False, begun=False)
    refuse_repeated_movies(PROBE, 0, parsed, {})
    refuse_bad_line(PROBE, 0, parsed, "USER")
    absent = 0
    marks = np.zeros(HIGHEST_USER_ID + 1, np.int8)
    found = dict(
        zip(ratings.movies.tolist(), pairwise(ratings.firsts.tolist()), strict=True)
    )
    for movie, low, high in parsed.by_movie(0):
        wanted = parsed.users[low:high]
        if movie not in found:
            absent += wanted.size
            continue
        repeated = kernels.mark_wanted(wanted, marks)
        if repeated >= 0:
            raise _probe_line(content, low + repeated, f"asks for movie {movie} again")
        here = slice(*found[movie])
        kernels.hold_out_marked(ratings.users[here], ratings.grades[here], marks)
        lost = np.flatnonzero(marks[wanted] == 1)
        if lost.size:
            raise _probe_line(
                content,
                low + int(lost[0]),
                f"has not rated movie {movie}, and the probe's grades stand among the "
                "ratings; get whole files, or leave probe.txt out",
            )
        marks[wanted] = 0
    n_held = parsed.users.size - absent
    if not absent:
        return n_held, []
    return n_held, [
        f"{absent:,} of {parsed.users.size:,} probe ratings are of movies not here"
    ]


def by_user(
    ratings: ByMovie, n_held: int, inputs: dict[str, Path], n_threads: int
) -> tuple[np.ndarray, Rows, Rows]:
    """Return the ids of the users, their training ratings, and the `n_held` held out.

    A counting sort. The movies are dealt to the threads in stretches with about as many
    ratings; each counts every user's ratings in its own stretch, so it knows where in the
    user's row they belong, and the result does not depend on the number of threads.
    """
    users, indptr, packed = _packed_rows(ratings, n_threads)
    n_kept = packed.size - n_held
    kept, held = np.empty((2, users.size + 1), np.int64)
    grades = np.empty(n_kept, np.int8)
    probe = Rows(held, np.empty(n_held, np.int32), np.empty(n_held, np.int8))
    repeated = kernels.split_rows(indptr, packed, kept, grades, *probe)
    if repeated >= 0:
        user = users[np.searchsorted(indptr, repeated, side="right") - 1]
        raise _rated_twice(
            int(user), int(ratings.movies[packed[repeated] >> 4]), ratings, inputs
        )
    return users, Rows(kept, packed[:n_kept], grades), probe


def _packed_rows(
    ratings: ByMovie, n_threads: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return user ids, where their rows begin, and the rows of `kernels.place_by_user`."""
    firsts = ratings.firsts
    shares = np.linspace(0, firsts[-1], n_threads + 1)
    stretches = list(pairwise(np.searchsorted(firsts, shares).tolist()))
    # 32 bits hold a place among 10⁸ ratings, and here size is time.
    counts = np.zeros((n_threads, HIGHEST_USER_ID + 1), np.int32)
    packed = np.empty(firsts[-1], np.int32)
    with ThreadPoolExecutor(n_threads) as pool:

        def count(thread: int) -> None:
            low, high = stretches[thread]
            kernels.count_users(ratings.users[firsts[low] : firsts[high]], counts[thread])

        def place(thread: int) -> None:
            low, high = stretches[thread]
            kernels.place_by_user(
                firsts[low : high + 1],
                low,
                ratings.users,
                ratings.grades,
                ends[thread],
                packed,
            )

        list(pool.map(count, range(n_threads)))
        totals = counts.sum(axis=0, dtype=np.int32)
        starts = np.cumsum(totals, dtype=np.int32) - totals
        ends = starts + np.cumsum(counts, axis=0, dtype=np.int32) - counts
        list(pool.map(place, range(n_threads)))
    users = np.flatnonzero(totals).astype(np.int32)
    return users, np.concatenate(([0], np.cumsum(totals[users], dtype=np.int64))), packed


def _probe_line(content: bytes, place: int, why: str) -> ValueError:
    """The error for the user at `place` of the probe, found again line by line."""
    for number, line in enumerate(content.split(b"\n"), start=1):
        place -= bool(line.strip()) and b":" not in line
        if place < 0:
            return bad_line(PROBE, number, line, why)
    raise AssertionError("the probe has fewer users than the parser saw")


def _rated_twice(
    user: int, movie: int, ratings: ByMovie, inputs: dict[str, Path]
) -> ValueError:
    """The error for a second rating, found again line by line in the files: slow."""
    file = ratings.files[movie]
    below, met = 0, False
    for name, stream in members(inputs):
        for number, line in enumerate(stream if name == file else [], start=1):
            before, separator, _ = line.partition(b":")
            if separator:
                below = int(before)
            elif below == movie and line.strip() and int(line.split(b",")[0]) == user:
                if met:
                    why = f"rates movie {movie} a second time; keep one of this user's ratings of it"
                    return bad_line(file, number, line, why)
                met = True
    raise AssertionError("the files hold fewer ratings than the parser saw")
