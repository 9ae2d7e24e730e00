"""Titles of the Netflix Prize's movies, with commas, accents and missing years."""

import re

from ..movielens_files import decode
from .names import N_MOVIES
from .parse import bad_line

LONGEST_TITLE = 500  # letters: all titles take as much memory each as the longest
TITLE_LINE = re.compile(rf"([0-9]{{1,7}}),([0-9]{{4}}|NULL),(.{{1,{LONGEST_TITLE}}})")


def read_titles(file: str, content: bytes) -> dict[int, str]:
    """Return movie id -> "Title (year)" from lines "ID,YEAR,TITLE".

    Titles may hold commas and are never quoted; a year NULL is left out. Raises ValueError
    with file, line number and line, for a movie's second title too.
    """
    titles: dict[int, str] = {}
    # Not str.splitlines: one of the letters of Latin-1 is a line's end to it.
    for number, line in enumerate(content.split(b"\n"), start=1):
        text = decode(line).strip()
        if not text:
            continue
        found = TITLE_LINE.fullmatch(text)
        movie = int(found[1]) if found else 0
        if found is None or not 1 <= movie <= N_MOVIES:
            why = (
                f"must be 'ID,YEAR,TITLE', ID 1 to {N_MOVIES}, YEAR four digits or NULL, "
                f"TITLE at most {LONGEST_TITLE} letters"
            )
            raise bad_line(file, number, decode(line), why)
        if movie in titles:
            raise bad_line(
                file, number, text, f"names movie {movie} a second time; keep one"
            )
        titles[movie] = found[3].strip() + ("" if found[2] == "NULL" else f" ({found[2]})")
    return titles
