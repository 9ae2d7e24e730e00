"""Files of ratings to arrays, in blocks, on all cores."""

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .archives import Member
from .ledger import Ledger
from .parse import RATING_LINE, Parsed, parse, refuse_bad_line

BLOCK = 1 << 20  # bytes of text parsed at once: they stay in the cache
LONGEST_LINE = 1000  # with all its blanks


class Segment(NamedTuple):
    """Ratings of one movie that stand together in a file: user ids and grades, (n,) each."""

    movie: int
    users: np.ndarray
    grades: np.ndarray
    file: str


class Parser:
    """Parses files one after the other, keeping `n_threads` blocks in work beside the reading.

    `add` each file, then call `finish` for the segments, in the order of the text. Both raise
    ValueError with file, line number and line for the first line that is no header, and no
    rating below a header, and for headers that `Ledger` refuses.
    """

    def __init__(self, pool: ThreadPoolExecutor, *, n_threads: int = 2) -> None:
        self._pool = pool
        self._n_threads = n_threads
        self._waiting: deque[tuple[str, bool, Future[Parsed]]] = deque()
        self._segments: list[Segment] = []
        self._ledger = Ledger()
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
        if rest or first:  # a file with nothing in it is a block too
            self._submit(member.name, first, rest, len(rest), begun)

    def finish(self) -> list[Segment]:
        while self._waiting:
            self._take()
        self._ledger.end()
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
            self._ledger.begin(file)
            self._line = self._movie = 0
        self._ledger.enter(self._line, parsed)
        refuse_bad_line(file, self._line, parsed, RATING_LINE)
        self._line += parsed.n_lines
        self._segments += _segments(file, self._movie, parsed)
        if parsed.movies.size:
            self._movie = int(parsed.movies[-1])


def _segments(file: str, movie: int, parsed: Parsed) -> list[Segment]:
    """Cut a block's ratings at its headers; those before the first one belong to `movie`."""
    movies = [movie, *parsed.movies.tolist()]
    cuts = [0, *parsed.firsts.tolist(), parsed.users.size]
    return [
        Segment(movies[k], parsed.users[low:high], parsed.grades[low:high], file)
        for k, (low, high) in enumerate(pairwise(cuts))
        if low < high
    ]
