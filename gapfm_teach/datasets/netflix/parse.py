"""The Netflix Prize's text to arrays, block by block."""

from codecs import BOM_UTF8
from collections.abc import Iterator
from itertools import pairwise
from typing import IO, NamedTuple

import numpy as np

from .names import HIGHEST_USER_ID, N_MOVIES, N_RATINGS

BLOCK = 1 << 20  # bytes of text parsed at once: they stay in the processor's cache
LONGEST_LINE = 1000  # with all its blanks
LONGEST_NUMBER = 7  # digits
RATING = b",0,0000-00-00"  # what follows a user's id
NEWLINE, COLON, ZERO = b"\n:0"
IS_BLANK = np.isin(np.arange(256), [*b"\r\t "])


class Parsed(NamedTuple):
    """What one block of text held.

    users, grades : (n,) an entry a rating.
    movies, firsts, lines : (k,) an entry a header: its movie, how many ratings and how many lines
        come before.
    n_lines : of the block.
    bad : how many lines come before the first that is neither header nor rating; -1 for none.
    """

    users: np.ndarray
    grades: np.ndarray
    movies: np.ndarray
    firsts: np.ndarray
    lines: np.ndarray
    n_lines: int
    bad: int

    def by_movie(self, movie: int) -> Iterator[tuple[int, int, int]]:
        """Movie, first and last + 1 of its ratings; those above the first header are `movie`'s."""
        cuts = pairwise([0, *self.firsts.tolist(), self.users.size])
        for each, (low, high) in zip([movie, *self.movies.tolist()], cuts, strict=True):
            if low < high:
                yield each, low, high


class Segment(NamedTuple):
    """Ratings of one movie that follow each other in a file: user ids and grades, (n,) each."""

    movie: int
    users: np.ndarray
    grades: np.ndarray


def parse(text: np.ndarray, *, graded: bool, begun: bool) -> Parsed:
    """Read lines "MOVIE:" and, below them, "USER,GRADE,YYYY-MM-DD", or "USER" if not `graded`.

    text : (n,) bytes, whole lines; only the last one may lack its newline. Blank lines and
        blanks at the end of a line, a carriage return among them, are passed over.
    begun : whether a movie's header came before `text`.
    """
    ends = np.flatnonzero(text == NEWLINE)
    if ends.size == 0 or ends[-1] < text.size - 1:
        ends = np.append(ends, text.size)
    n_lines, starts = ends.size, np.append(0, ends[:-1] + 1)
    while (blank := IS_BLANK[text[ends - 1]] & (ends > starts)).any():
        ends = ends - blank
    line = np.flatnonzero(ends > starts)
    starts, ends = starts[line], ends[line]
    is_header = text[ends - 1] == COLON
    # Of headers, too, and then of no use: where a grade would be.
    ends = ends - np.where(is_header, 1, len(RATING) if graded else 0)
    numbers, good = _numbers(text, starts, ends)
    limits = np.where(is_header, N_MOVIES, HIGHEST_USER_ID)
    good &= (numbers >= 1) & (numbers <= limits)
    good &= is_header | begun | (np.cumsum(is_header) > 0)
    is_rating = ~is_header
    grades = np.zeros(0, np.int8)
    if graded:
        rest, dated = _rest(text, ends[is_rating])
        grades = rest.astype(np.int8)
        good[is_rating] &= dated & (grades >= 1) & (grades <= 5)
    firsts = np.cumsum(is_rating)[is_header]
    bad = int(line[np.argmin(good)]) if not good.all() else -1
    return Parsed(
        numbers[is_rating],
        grades,
        numbers[is_header],
        firsts,
        line[is_header],
        n_lines,
        bad,
    )


def _numbers(
    text: np.ndarray, starts: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The whole numbers at these places, int32, and which are such: of one to seven digits."""
    width = ends - starts
    good = (width >= 1) & (width <= LONGEST_NUMBER)
    numbers = np.zeros(ends.size, np.int32)
    for place in range(LONGEST_NUMBER):
        digit, inside = _at(text, ends - 1 - place) - np.uint8(ZERO), width > place
        good &= (digit <= 9) | ~inside
        numbers += np.where(inside, digit, 0) * np.int32(10**place)
    return numbers, good


def _rest(text: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The grades behind users' ids, and whether the rest of the line is as in RATING."""
    good = np.ones(ends.size, bool)
    for place, wanted in enumerate(RATING):
        found = _at(text, ends + place)
        good &= found - np.uint8(ZERO) <= 9 if wanted == ZERO else found == wanted
    return _at(text, ends + 1) - np.uint8(ZERO), good


def _at(text: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The characters at these places; of lines that are too short, any."""
    return np.take(text, places, mode="clip")


def read_ratings(
    file: str, stream: IO[bytes], headers: dict[int, str], n_before: int
) -> list[Segment]:
    """Read a file of ratings to its end; `headers` says where each movie begins, and is added to.

    Raises ValueError with file, line number and line for the first line that is not a header, and
    not a rating below a header, for a movie's second header, and for more ratings than there are.
    """
    segments: list[Segment] = []
    n_lines = movie = 0
    while block := stream.read(BLOCK):
        block += stream.readline(LONGEST_LINE)
        if n_lines == 0:
            block = block.removeprefix(BOM_UTF8) or b"\n"
        text = np.frombuffer(block, np.uint8)
        parsed = parse(text, graded=True, begun=movie > 0)
        wanted = "USER,GRADE,YYYY-MM-DD', grade 1 to 5"
        check_lines(file, block, parsed, n_lines, wanted)
        refuse_repeated_movies(file, parsed, n_lines, headers)
        n_lines += parsed.n_lines
        n_before += parsed.users.size
        if n_before > N_RATINGS:
            raise ValueError(
                f"{file} brings more than {N_RATINGS:,} ratings, which is all that the Netflix "
                "Prize has; get a whole copy"
            )
        for each, low, high in parsed.by_movie(movie):
            segments.append(Segment(each, parsed.users[low:high], parsed.grades[low:high]))
        movie = int(parsed.movies[-1]) if parsed.movies.size else movie
    if n_lines == 0:
        raise empty_file(file)
    return segments


def check_lines(file: str, block: bytes, parsed: Parsed, above: int, wanted: str) -> None:
    """Raise ValueError for the line of `block` that was neither header nor rating."""
    if parsed.bad >= 0:
        why = (
            f"must be 'MOVIE:' or, below such a line, '{wanted}, with user 1 to "
            f"{HIGHEST_USER_ID}, movie 1 to {N_MOVIES}"
        )
        line = block.split(b"\n")[parsed.bad]
        raise bad_line(file, above + parsed.bad + 1, line.decode("latin-1"), why)


def refuse_repeated_movies(
    file: str, parsed: Parsed, above: int, headers: dict[int, str]
) -> None:
    """Add a block's headers to `headers`, movie -> place; ValueError for a second one."""
    for movie, line in zip(parsed.movies.tolist(), parsed.lines.tolist(), strict=True):
        number = above + line + 1
        first = headers.setdefault(movie, f"{file}, line {number}")
        if first != f"{file}, line {number}":
            why = (
                f"begins movie {movie} a second time, after {first}; keep one of them, or get a "
                "whole copy"
            )
            raise bad_line(file, number, f"{movie}:", why)


def bad_line(file: str, number: int, line: str, why: str) -> ValueError:
    """The error for a line of a file, `number` counted from 1."""
    text = line.rstrip("\r\n")[:80]
    return ValueError(f"{file}, line {number}: {text!r} {why}")


def empty_file(file: str) -> ValueError:
    """The error for a file without a line, as broken downloads and unpackings leave them."""
    return ValueError(f"{file} is empty; get the file again, or remove it to load the rest")
