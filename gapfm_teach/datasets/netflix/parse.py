"""From the bytes of the Netflix Prize's files to arrays, in blocks, on all cores."""

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...kernels.text import parse_lines
from . import marginals
from .sources import Member

BLOCK = 1 << 20  # bytes of text parsed at once: they stay in the cache
LONGEST_LINE = 1000  # with all its blanks
SHORTEST_RATING = len("1,1,2005-12-31\n")
SHORTEST_USER = len("1\n")
SHORTEST_HEADER = len("1:\n")
# Both count from 1, users with gaps.
HIGHEST_USER = marginals.HIGHEST_USER_ID
HIGHEST_MOVIE = marginals.N_MOVIES
RATING_LINE = "USER,GRADE,YYYY-MM-DD"


class Segment(NamedTuple):
    """Ratings of one movie that stand together in a file: user ids and grades, (n,) each."""

    movie: int
    users: np.ndarray
    grades: np.ndarray
    file: str


@dataclass
class Parsed:
    """What one block of text held; see `kernels.text.parse_lines`."""

    text: np.ndarray
    users: np.ndarray
    grades: np.ndarray
    movies: np.ndarray
    firsts: np.ndarray
    n_lines: int
    bad: int


class Parser:
    """Parses files one after the other, keeping `n_threads` blocks in work beside the reading.

    `add` each file, then call `finish` for the segments, in the order of the text. Both raise
    ValueError with file, line number and line for the first line that is no header, and no
    rating below a header.
    """

    def __init__(self, pool: ThreadPoolExecutor, *, n_threads: int = 2) -> None:
        self._pool = pool
        self._n_threads = n_threads
        self._waiting: deque[tuple[str, bool, Future[Parsed]]] = deque()
        self._segments: list[Segment] = []
        self._line = self._movie = 0

    def add(self, member: Member) -> None:
        """Read a file of ratings to its end."""
        rest, first, begun = b"", True, False
        while block := member.read(BLOCK):
            block = rest + block
            end = block.rfind(b"\n") + 1
            if end == 0 and len(block) > BLOCK + LONGEST_LINE:
                end = len(block)  # no line at all: for the parser to refuse
            if end:
                self._submit(member.name, first, block, end, begun)
                first, begun = False, begun or block.find(b":", 0, end) >= 0
            rest = block[end:]
        if rest:
            self._submit(member.name, first, rest, len(rest), begun)

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
        refuse_bad_line(file, self._line, parsed, RATING_LINE)
        self._line += parsed.n_lines
        self._segments += _segments(file, self._movie, parsed)
        if parsed.movies.size:
            self._movie = int(parsed.movies[-1])


def parse(text: np.ndarray, *, graded: bool, begun: bool) -> Parsed:
    """Parse whole lines of text, (n,) bytes."""
    most = text.size // (SHORTEST_RATING if graded else SHORTEST_USER) + 1
    most_headers = text.size // SHORTEST_HEADER + 1
    users = np.empty(most, np.int32)
    grades = np.empty(most if graded else 0, np.int8)
    movies, firsts = np.empty((2, most_headers), np.int32)
    n, n_headers, n_lines, bad = parse_lines(
        text, graded, begun, (HIGHEST_USER, HIGHEST_MOVIE), users, grades, movies, firsts
    )
    # Copies: the arrays above are as long as the worst text of this size would need.
    return Parsed(
        text,
        users[:n].copy(),
        grades[:n].copy(),
        movies[:n_headers].copy(),
        firsts[:n_headers].copy(),
        n_lines,
        bad,
    )


def refuse_bad_line(file: str, line: int, parsed: Parsed, wanted: str) -> None:
    """Raise ValueError for the line where the parser stopped, if it did; `line` came before."""
    if parsed.bad < 0:
        return
    raw = parsed.text[parsed.bad : parsed.bad + 200].tobytes().split(b"\n")[0]
    raise bad_line(
        file,
        line + parsed.n_lines + 1,
        raw,
        f"must be 'MOVIE:' or, below such a line, {wanted!r}, with user 1 to {HIGHEST_USER}, "
        f"movie 1 to {HIGHEST_MOVIE}" + (", grade 1 to 5" if "," in wanted else ""),
    )


def bad_line(file: str, number: int, line: bytes, why: str) -> ValueError:
    """The error for a line of a file, `number` counted from 1."""
    text = line.rstrip(b"\r\n").decode("latin-1")
    return ValueError(f"{file}, line {number}: {text[:80]!r} {why}")


def _segments(file: str, movie: int, parsed: Parsed) -> list[Segment]:
    """Cut a block's ratings at its headers; those before the first one belong to `movie`."""
    movies = [movie, *parsed.movies.tolist()]
    cuts = [0, *parsed.firsts.tolist(), parsed.users.size]
    return [
        Segment(movies[k], parsed.users[low:high], parsed.grades[low:high], file)
        for k, (low, high) in enumerate(pairwise(cuts))
        if low < high
    ]
