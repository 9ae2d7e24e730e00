"""What the Netflix Prize's files are called, and how large they can be.

What is larger than its content can be is damaged, or a small archive made to unfold into more
than a machine can hold: it is refused, by its declared size before it is read and by its actual
one while it is.
"""

import re

from . import marginals

COMBINED = re.compile(r"combined_data_\d+\.txt")
ONE_MOVIE = re.compile(r"mv_0*(\d{1,7})\.txt")
TAR = "training_set.tar"
PROBE = "probe.txt"
TITLES = ("movie_titles.txt", "movie_titles.csv")
LABEL = "SIMULATED.txt"  # beside the files of `simulate_netflix`
HOW = (
    "pass Kaggle's archive.zip, the original nf_prize_dataset.tar.gz, or the folder that "
    "either was unpacked into"
)

# Bytes a line can take: a rating 22 ("2649429,5,2005-12-31\r\n"), a user of the probe 9; the
# rest is room for headers, blanks and empty lines. The largest real title has about 100.
A_RATING, A_USER, A_TITLE = 25, 12, 600
MOST_BYTES = {
    COMBINED: A_RATING * marginals.N_RATINGS,
    ONE_MOVIE: A_RATING * marginals.N_USERS,
    re.compile(PROBE): A_USER * marginals.N_PROBE,
    re.compile(r"movie_titles\.(txt|csv)"): A_TITLE * marginals.N_MOVIES,
    re.compile(LABEL): 10_000,
    # A tar has 512 bytes before each movie and up to 511 behind it.
    re.compile(re.escape(TAR)): A_RATING * marginals.N_RATINGS + 1023 * marginals.N_MOVIES,
}
# In an archive; with the qualifying set, and whatever someone packed with the data.
MOST_IN_ARCHIVE = 3_000_000_000
# Packed on a Mac there may be a second one beside each, of its attributes.
MOST_ENTRIES = 4 * marginals.N_MOVIES


def is_ratings(name: str) -> bool:
    """Whether a file of this bare name holds ratings."""
    return bool(COMBINED.fullmatch(name) or ONE_MOVIE.fullmatch(name))


def movie_of(name: str) -> int | None:
    """The only movie whose ratings a file of this bare name may hold, if there is but one."""
    found = ONE_MOVIE.fullmatch(name)
    return int(found[1]) if found else None


def belongs(name: str) -> bool:
    """Whether a file of this bare name is one of the data set's that are read."""
    return is_ratings(name) or name in (PROBE, LABEL, TAR, *TITLES)


def most_bytes(name: str) -> int:
    """How many bytes a file of the data set can have; `name` is one that `belongs`."""
    return next(most for names, most in MOST_BYTES.items() if names.fullmatch(name))
