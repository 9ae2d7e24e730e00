"""What the Netflix Prize's files are called, and how much they hold.

Sizes: the data's own README and the rules of the contest (J. Bennett and S. Lanning, The Netflix
Prize, KDD Cup and Workshop 2007).
"""

import re

N_USERS = 480_189
N_MOVIES = 17_770
N_RATINGS = 100_480_507
N_PROBE = 1_408_395
HIGHEST_USER_ID = 2_649_429

COMBINED = re.compile(r"combined_data_\d+\.txt")
ONE_MOVIE = re.compile(r"mv_\d{1,7}\.txt")
TAR = "training_set.tar"
PROBE = "probe.txt"
TITLES = ("movie_titles.txt", "movie_titles.csv")
LABEL = "SIMULATED.txt"  # beside simulated files, and says so
HOW = (
    "pass Kaggle's archive.zip, the original nf_prize_dataset.tar.gz, or the folder that "
    "either was unpacked into"
)
MOST_BYTES = 50_000_000  # of the probe, of the titles; the largest real one has 11 million


def is_ratings(name: str) -> bool:
    """Whether a file of this bare name holds ratings."""
    return bool(COMBINED.fullmatch(name) or ONE_MOVIE.fullmatch(name))


def belongs(name: str) -> bool:
    """Whether a file of this bare name is one of the data set's that are read."""
    return is_ratings(name) or name in (PROBE, LABEL, TAR, *TITLES)
