"""Invented titles with what makes the real file hard to read: commas, accents, missing years."""

import numpy as np

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
