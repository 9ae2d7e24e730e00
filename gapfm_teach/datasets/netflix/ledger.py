"""Which movies have been met, so that none is read twice, empty, or larger than it can be."""

from itertools import pairwise
from typing import NamedTuple

from . import marginals
from .names import movie_of
from .parse import Parsed, bad_line, empty_file


class Header(NamedTuple):
    """A line "MOVIE:" of a file."""

    file: str
    number: int
    text: bytes

    def refused(self, why: str) -> ValueError:
        return bad_line(*self, why)


class Ledger:
    """Takes account of parsed blocks in the order of their text.

    `begin` each file, `enter` each of its blocks, and `end` the last file. Each raises ValueError
    with file, line number and line: for a movie that has a header already, one in another
    movie's file, a header with nothing below it, more ratings than a movie or the data set can
    have, and a file with no header.
    """

    def __init__(self) -> None:
        self._headers: dict[int, Header] = {}
        self._last: Header | None = None
        self._file = ""
        self._n_below = self._n_all = 0

    def begin(self, file: str) -> None:
        self.end()
        self._file, self._last = file, None

    def enter(self, line: int, parsed: Parsed) -> None:
        """Take account of a block; `line` lines of its file came before it."""
        cuts = [*parsed.firsts.tolist(), parsed.users.size]
        self._add(cuts[0])
        for movie, (low, high), above, place in zip(
            parsed.movies.tolist(),
            pairwise(cuts),
            parsed.lines.tolist(),
            parsed.places.tolist(),
            strict=True,
        ):
            header = Header(self._file, line + above + 1, parsed.line_at(place))
            self._open(movie, header)
            self._add(high - low)

    def end(self) -> None:
        if self._file and self._last is None:
            raise empty_file(self._file)
        self._close()

    def _open(self, movie: int, header: Header) -> None:
        self._close()
        first = self._headers.setdefault(movie, header)
        if first is not header:
            raise header.refused(
                f"begins movie {movie} a second time, after {first.file}, line {first.number}; "
                "keep one of them, or get a whole copy"
            )
        if movie_of(header.file) not in (None, movie):
            raise header.refused(
                "stands in the file of another movie; put it into its own, or get a whole copy"
            )
        self._last, self._n_below = header, 0

    def _add(self, n_ratings: int) -> None:
        self._n_below += n_ratings
        self._n_all += n_ratings
        for n, most, whose in (
            (self._n_below, marginals.N_USERS, "one movie"),
            (self._n_all, marginals.N_RATINGS, "all"),
        ):
            if n > most and self._last is not None:
                raise self._last.refused(
                    f"has so much below it that there are more than {most:,} ratings of {whose}, "
                    "the most that the Netflix Prize has; get a whole copy"
                )

    def _close(self) -> None:
        if self._last is not None and not self._n_below:
            raise self._last.refused(
                "has nothing below it, as where a file was cut; get a whole copy, or remove the "
                "line to load the rest without this movie"
            )
