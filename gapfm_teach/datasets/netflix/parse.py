"""The Netflix Prize's text to arrays, in blocks, on all cores."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import IO, NamedTuple

import numpy as np

from ...kernels.netflix_text import parse_lines
from .names import HIGHEST_USER_ID, N_MOVIES, N_RATINGS

BLOCK = 1 << 20  # bytes of text parsed at once: they stay in the cache
LONGEST_LINE = 1000  # with all its blanks
SHORTEST_RATING, SHORTEST_USER, SHORTEST_HEADER = map(
    len, ("1,1,2005-12-31\n", "1\n", "1:\n")
)
RATING_LINE = "USER,GRADE,YYYY-MM-DD"


@dataclass
class Parsed:
    """What one block of text held; see `netflix_text.parse_lines`."""

    text: np.ndarray
    users: np.ndarray
    grades: np.ndarray
    movies: np.ndarray
    firsts: np.ndarray
    lines: np.ndarray
    places: np.ndarray
    n_lines: int
    bad: int

    def line_at(self, place: int) -> bytes:
        """The line that begins there, or as much of it as an error shows."""
        return self.text[place : place + 200].tobytes().split(b"\n")[0]

    def by_movie(self, movie: int) -> Iterator[tuple[int, int, int]]:
        """Movie, first and last + 1 of its ratings; those above the first header are `movie`'s."""
        cuts = pairwise([0, *self.firsts.tolist(), self.users.size])
        for each, (low, high) in zip([movie, *self.movies.tolist()], cuts, strict=True):
            if low < high:
                yield each, low, high


class Segment(NamedTuple):
    """Ratings of one movie that stand together in a file: user ids and grades, (n,) each."""

    movie: int
    users: np.ndarray
    grades: np.ndarray
    file: str


def parse(text: np.ndarray, *, graded: bool, begun: bool) -> Parsed:
    """Parse whole lines of text, (n,) bytes; `begun`: a movie's header came before."""
    most = text.size // (SHORTEST_RATING if graded else SHORTEST_USER) + 1
    users = np.empty(most, np.int32)
    grades = np.empty(most if graded else 0, np.int8)
    headers = np.empty((4, text.size // SHORTEST_HEADER + 1), np.int32)
    limits = HIGHEST_USER_ID, N_MOVIES
    n, n_headers, n_lines, bad = parse_lines(
        text, graded, begun, limits, users, grades, *headers
    )
    # Copies: the arrays above are as long as the worst text of this size would need.
    movies, firsts, lines, places = headers[:, :n_headers].copy()
    rows = users[:n].copy(), grades[:n].copy()
    return Parsed(text, *rows, movies, firsts, lines, places, n_lines, bad)


class Parser:
    """Parses files one after the other, keeping `n_threads` blocks in work beside the reading.

    `add` each file, then call `finish` for the segments, in the order of the text. Both raise
    ValueError with file, line number and line for the first line that is not a header, and not a
    rating below a header, for a movie's second header, and for more ratings than there are.
    """

    def __init__(self, pool: ThreadPoolExecutor, *, n_threads: int = 2) -> None:
        self._pool = pool
        self._n_threads = n_threads
        self._waiting: deque[tuple[str, bool, Future[Parsed]]] = deque()
        self._segments: list[Segment] = []
        self._headers: dict[int, tuple[str, int]] = {}
        self._line = self._movie = self._n_ratings = 0

    def add(self, file: str, stream: IO[bytes]) -> None:
        """Read a file of ratings to its end."""
        rest, first, begun = b"", True, False
        while block := stream.read(BLOCK):
            block = rest + block
            end = block.rfind(b"\n") + 1
            if end == 0 and len(block) > BLOCK + LONGEST_LINE:
                end = len(block)  # no line at all: for the parser to refuse
            if end:
                self._submit(file, first, block, end, begun)
                first, begun = False, begun or block.find(b":", 0, end) >= 0
            rest = block[end:]
        if rest:
            self._submit(file, first, rest, len(rest), begun)
        elif first:
            raise empty_file(file)

    def finish(self) -> list[Segment]:
        while self._waiting:
            self._take()
        return self._segments

    def _submit(self, file: str, first: bool, block: bytes, end: int, begun: bool) -> None:
        while len(self._waiting) > self._n_threads:
            self._take()
        text = np.frombuffer(block, np.uint8, count=end)
        future = self._pool.submit(parse, text, graded=True, begun=begun)
        self._waiting.append((file, first, future))

    def _take(self) -> None:
        file, first, future = self._waiting.popleft()
        parsed = future.result()
        if first:
            self._line = self._movie = 0
        refuse_repeated_movies(file, self._line, parsed, self._headers)
        refuse_bad_line(file, self._line, parsed, RATING_LINE)
        self._line += parsed.n_lines
        self._n_ratings += parsed.users.size
        if self._n_ratings > N_RATINGS:
            raise ValueError(
                f"{file} brings more than {N_RATINGS:,} ratings, which is all that the Netflix "
                "Prize has; get a whole copy"
            )
        self._segments += [
            Segment(movie, parsed.users[low:high], parsed.grades[low:high], file)
            for movie, low, high in parsed.by_movie(self._movie)
        ]
        if parsed.movies.size:
            self._movie = int(parsed.movies[-1])


def refuse_repeated_movies(
    file: str, line: int, parsed: Parsed, headers: dict[int, tuple[str, int]]
) -> None:
    """Add a block's headers to `headers`, movie -> (file, line); ValueError for a second one."""
    for movie, above, place in zip(parsed.movies, parsed.lines, parsed.places, strict=True):
        here = file, line + int(above) + 1
        if (first := headers.setdefault(int(movie), here)) != here:
            why = (
                f"begins movie {movie} a second time, after {first[0]}, line {first[1]}; keep one "
                "of them, or get a whole copy"
            )
            raise bad_line(*here, parsed.line_at(place), why)


def refuse_bad_line(file: str, line: int, parsed: Parsed, wanted: str) -> None:
    """Raise ValueError for the line where the parser stopped, if it did; `line` came before."""
    if parsed.bad < 0:
        return
    raise bad_line(
        file,
        line + parsed.n_lines + 1,
        parsed.line_at(parsed.bad),
        f"must be 'MOVIE:' or, below such a line, {wanted!r}, with user 1 to {HIGHEST_USER_ID}, "
        f"movie 1 to {N_MOVIES}" + (", grade 1 to 5" if "," in wanted else ""),
    )


def bad_line(
    file: str, number: int, line: bytes, why: str, encoding: str = "latin-1"
) -> ValueError:
    """The error for a line of a file, `number` counted from 1."""
    text = line.rstrip(b"\r\n").decode(encoding)
    return ValueError(f"{file}, line {number}: {text[:80]!r} {why}")


def empty_file(file: str) -> ValueError:
    """The error for a file without a line, as broken downloads and unpackings leave them."""
    return ValueError(f"{file} is empty; get the file again, or remove it to load the rest")
