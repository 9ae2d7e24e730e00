"""Titles: read from a file, and invented, with what makes the real file hard to read: commas, accents, missing years."""

import re

import numpy as np

from .parse import HIGHEST_MOVIE, bad_line

LONGEST_TITLE = 500  # letters: all titles take as much memory each as the longest
TITLE_LINE = re.compile(rf"([0-9]{{1,7}}),([0-9]{{4}}|NULL),(.{{1,{LONGEST_TITLE}}})")

ENCODING = "latin-1"

_FIRST = (
    "The Quiet", "A Distant", "Midnight", "Señor", "The Last", "Little", "Die schöne",
    "The Château", "Crème", "Good Night,", "Yes, Captain", "Return to the", "Über", "El Niño",
    "Lost in the", "Two", "The Secret", "Naïve", "Broken", "My Brother,", "Electric", "Café",
    "Winter", "Once Upon a",
)  # fmt: skip
_SECOND = (
    "Harbour", "Garden", "Détective", "Train", "River", "Piñata", "Mirror", "Orchard", "Señorita",
    "Lighthouse", "Königin", "Parade", "Letter", "Bridge", "Thief", "Façade", "Summer", "Machine",
    "Violin", "Island", "Waltz", "Detour", "Carnival", "Stranger",
)  # fmt: skip
_THIRD = (
    "",
    ": The Movie",
    ", Part 2",
    ": Season 1",
    " (Director's Cut)",
    ": Vol. 3",
    ", Again",
)
_COMMON = 0.7  # of the titles have nothing of _THIRD
# Of the real movies, 7 of 17,770 have no year; at least one here, however few there are.
_WITHOUT_YEAR = 7 / 17_770
_MEDIAN_AGE, _OLDEST, _NEWEST = 12, 1896, 2005


def read_titles(file: str, content: bytes) -> dict[int, str]:
    """Return movie id -> "Title (year)" from lines "ID,YEAR,TITLE".

    Titles may hold commas and are never quoted; a year NULL is left out. Raises ValueError
    with file, line number and line, for a movie's second title too.
    """
    encoding = _encoding(content)
    titles: dict[int, str] = {}
    lines: dict[int, int] = {}  # on which each movie stands
    # Not str.splitlines: one of the letters of Latin-1 is a line's end to it.
    for number, line in enumerate(content.split(b"\n"), start=1):
        text = line.decode(encoding).strip()
        if not text:
            continue
        found = TITLE_LINE.fullmatch(text)
        movie = int(found[1]) if found else 0
        if found is None or not 1 <= movie <= HIGHEST_MOVIE:
            raise bad_line(
                file,
                number,
                line,
                f"must be 'ID,YEAR,TITLE', ID 1 to {HIGHEST_MOVIE}, YEAR four digits or NULL, "
                f"TITLE at most {LONGEST_TITLE} letters",
                encoding,
            )
        first = lines.setdefault(movie, number)
        if first != number:
            why = f"names movie {movie} a second time, after line {first}; keep one of them"
            raise bad_line(file, number, line, why, encoding)
        titles[movie] = found[3].strip() + ("" if found[2] == "NULL" else f" ({found[2]})")
    return titles


def _encoding(content: bytes) -> str:
    """UTF-8 if the whole file is valid as such, else Latin-1, as the original is.

    Copies that were saved again are in UTF-8, and no file says so. Read as Latin-1 every file
    makes sense to the computer and "Amélie" becomes "AmÃ©lie"; read as UTF-8 hardly any file
    in Latin-1 does, since a letter with an accent would have to be followed by a symbol such
    as "©" each time. So the strict one is tried first.
    """
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig"  # some programs put a mark before the first line


def title_lines(n_movies: int, rng: np.random.Generator) -> bytes:
    """The whole file of titles: a line `ID,YEAR,TITLE` for each movie, in Latin-1."""
    words = (_FIRST, _SECOND, _THIRD)
    first, second, third = (rng.integers(len(some), size=n_movies) for some in words)
    third[rng.random(n_movies) < _COMMON] = 0
    ages = rng.exponential(_MEDIAN_AGE / np.log(2), size=n_movies)
    years = np.maximum(_NEWEST - ages.astype(int), _OLDEST).astype(str).astype(object)
    n_without = max(1, round(_WITHOUT_YEAR * n_movies))
    years[rng.choice(n_movies, n_without, replace=False)] = "NULL"
    lines = [
        f"{i + 1},{years[i]},{_FIRST[a]} {_SECOND[b]}{_THIRD[c]}\n"
        for i, (a, b, c) in enumerate(zip(first, second, third, strict=True))
    ]
    return "".join(lines).encode(ENCODING)
