"""From a block of the Netflix Prize's text to arrays."""

from dataclasses import dataclass

import numpy as np

from . import marginals
from .text_kernels import parse_lines

SHORTEST_RATING = len("1,1,2005-12-31\n")
SHORTEST_USER = len("1\n")
SHORTEST_HEADER = len("1:\n")
# Both count from 1, users with gaps.
HIGHEST_USER = marginals.HIGHEST_USER_ID
HIGHEST_MOVIE = marginals.N_MOVIES
RATING_LINE = "USER,GRADE,YYYY-MM-DD"


@dataclass
class Parsed:
    """What one block of text held; see `text_kernels.parse_lines`."""

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


def parse(text: np.ndarray, *, graded: bool, begun: bool) -> Parsed:
    """Parse whole lines of text, (n,) bytes."""
    most = text.size // (SHORTEST_RATING if graded else SHORTEST_USER) + 1
    users = np.empty(most, np.int32)
    grades = np.empty(most if graded else 0, np.int8)
    headers = np.empty((4, text.size // SHORTEST_HEADER + 1), np.int32)
    n, n_headers, n_lines, bad = parse_lines(
        text, graded, begun, (HIGHEST_USER, HIGHEST_MOVIE), users, grades, *headers
    )
    # Copies: the arrays above are as long as the worst text of this size would need.
    movies, firsts, lines, places = headers[:, :n_headers].copy()
    return Parsed(
        text,
        users[:n].copy(),
        grades[:n].copy(),
        movies,
        firsts,
        lines,
        places,
        n_lines,
        bad,
    )


def refuse_bad_line(file: str, line: int, parsed: Parsed, wanted: str) -> None:
    """Raise ValueError for the line where the parser stopped, if it did; `line` came before."""
    if parsed.bad < 0:
        return
    raise bad_line(
        file,
        line + parsed.n_lines + 1,
        parsed.line_at(parsed.bad),
        f"must be 'MOVIE:' or, below such a line, {wanted!r}, with user 1 to {HIGHEST_USER}, "
        f"movie 1 to {HIGHEST_MOVIE}" + (", grade 1 to 5" if "," in wanted else ""),
    )


def bad_line(
    file: str, number: int, line: bytes, why: str, encoding: str = "latin-1"
) -> ValueError:
    """The error for a line of a file, `number` counted from 1."""
    text = line.rstrip(b"\r\n").decode(encoding)
    return ValueError(f"{file}, line {number}: {text[:80]!r} {why}")


def empty_file(file: str) -> ValueError:
    """The error for a file without a line, as broken downloads and unpackings leave them."""
    why = "is all there is; get the file again, or remove it to load the rest without it"
    return bad_line(file, 1, b"", why)
