"""What is published about the Netflix Prize data in numbers: the simulation is built on it.

Sizes and the probe: the data's own README and the rules of the contest (J. Bennett and
S. Lanning, The Netflix Prize, KDD Cup and Workshop 2007). Grade counts, quartiles and extremes
of ratings a user and a movie: counted by many on the public files. The points between them are
chosen so that the means agree too, and with them the paper's Table 1.
"""

import math

import numpy as np

from gapfm_teach.datasets.netflix.names import (
    N_MOVIES,
    N_RATINGS,
    N_USERS,
)

GRADE_COUNTS = (4_617_990, 10_132_080, 28_811_247, 33_750_958, 23_168_232)  # grades 1 to 5
FIRST_DAY, LAST_DAY = "1999-11-11", "2005-12-31"
# Netflix held back each user's latest ratings, at most nine and at most half of them, and gave
# each at random to the probe or to one of two secret sets (R. Bell and Y. Koren, Lessons from
# the Netflix Prize Challenge, SIGKDD Explorations 2007).
MOST_HELD_OUT = 9
# The Kaggle files end with these movies.
FILE_ENDS = (4_499, 9_210, 13_367, 17_770)

# Share of users (movies) with at most so many ratings.
_USER_POINTS = (
    (1e-6, 1), (0.01, 2.5), (0.05, 10), (0.1, 18), (0.15, 25), (0.2, 32), (0.25, 39),
    (0.338, 53), (0.5, 96), (0.75, 259), (0.8, 324), (0.85, 413), (0.9, 549), (0.95, 786),
    (0.99, 1410), (0.999, 2600), (0.9999, 4900), (1 - 5 / N_USERS, 11_000),
    (1 - 0.5 / N_USERS, 17_653),
)  # fmt: skip
_MOVIE_POINTS = (
    (0.5 / N_MOVIES, 3), (0.001, 15), (0.01, 40), (0.05, 85), (0.1, 115), (0.25, 192),
    (0.5, 561), (0.75, 2668), (0.9, 14_500), (0.95, 31_300), (0.99, 93_000), (0.999, 180_000),
    (1 - 0.5 / N_MOVIES, 232_944),
)  # fmt: skip


def logit(p: np.ndarray) -> np.ndarray:
    """log(p / (1 - p)): it spreads both tails of a distribution, of shares p inside (0, 1)."""
    return np.log(p) - np.log1p(-p)


def midpoints(n: int) -> np.ndarray:
    """(n,) equally likely shares (k + 1/2) / n."""
    return (np.arange(n) + 0.5) / n


def ratings_of_user(p: np.ndarray) -> np.ndarray:
    """How many ratings the user has that a share p of users does not exceed; not rounded."""
    return _quantile(p, _USER_POINTS)


def ratings_of_movie(p: np.ndarray) -> np.ndarray:
    """How many ratings the movie has that a share p of movies does not exceed; not rounded."""
    return _quantile(p, _MOVIE_POINTS)


def _quantile(p: np.ndarray, points: tuple[tuple[float, float], ...]) -> np.ndarray:
    shares, counts = np.array(points).T
    return np.exp(np.interp(logit(p), logit(shares), np.log(counts)))


def exposure(p: np.ndarray, acceptance: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """How often movies of popularity rank p must be proposed, so that they are rated as often
    as those of the real data; relative weights, shape of p.

    A user meets movie i at the times of a Poisson process of rate w_i, accepts it with one of
    the probabilities `acceptance` (which one is left to `chances`, which sum to 1), and stops
    after n movies, at a time t_n. Then movie i has been accepted with probability
    1 - exp(-w_i a t_n). The w_i and t_n that give every movie its ratings and every user
    theirs are found by turns, on a grid of both.
    """
    movie_p, movie_mass = _grid(512, N_MOVIES)
    user_p, user_mass = _grid(64, N_USERS)
    wanted = ratings_of_movie(movie_p) / N_USERS
    wanted *= N_RATINGS / N_USERS / (N_MOVIES * movie_mass @ wanted)
    counts = np.minimum(ratings_of_user(user_p), 0.999 * N_MOVIES)
    counts *= N_RATINGS / N_USERS / (user_mass @ counts)
    weights, times = wanted.copy(), counts / N_RATINGS * N_USERS
    for _ in range(400):
        missed = np.exp(-times[:, None, None] * weights[:, None] * acceptance) @ chances
        users_have = N_MOVIES * (1 - missed) @ movie_mass
        times *= np.clip(counts / users_have, 0.5, 2)
        weights *= np.clip(wanted / (user_mass @ (1 - missed)), 0.5, 2)
    return np.exp(np.interp(logit(p), logit(movie_p), np.log(weights / weights.sum())))


def _grid(n: int, full: int) -> tuple[np.ndarray, np.ndarray]:
    """n shares, dense in both tails, and the share of the population each stands for."""
    end = math.log(2 * full - 1)  # logit of the last of `full` midpoints
    edges = np.concatenate(([0.0], 1 / (1 + np.exp(-np.linspace(-end, end, n - 1))), [1.0]))
    return (edges[1:] + edges[:-1]) / 2, np.diff(edges)
