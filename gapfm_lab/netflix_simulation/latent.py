"""The latent truth of a simulated Netflix: who there is, what they like, what they rate."""

from dataclasses import dataclass

import numpy as np

from gapfm_teach.datasets.netflix import names
from gapfm_teach.kernels import parallel_for

from . import marginals
from . import simulation_kernels as simulation

N_FACTORS = 8
DECAY = 0.8  # each factor matters so much less than the one before, in variance
# A movie met is rated with probability g(SHARPNESS <U_m, V_i> - SHIFT): people watch what they
# expect to like. <U_m, V_i> has mean 0 and variance 1 for every movie.
SHARPNESS, SHIFT = 2.0, 1.0
# Standard deviations in the score that is cut into grades, together about 1. The shares are of
# the order of what removing movie and user means, then factors, explained of the real grades.
USER_BIAS, MOVIE_BIAS, TASTE, NOISE = 0.40, 0.35, 0.50, 0.70
QUALITY_OF_POPULAR = 0.5  # correlation of a movie's bias and its popularity's rank
LOGISTIC_DEVIATION = np.pi / np.sqrt(3)  # of the standard logistic distribution
FULLEST = 0.99  # no user has rated more of the catalogue


@dataclass(frozen=True)
class Sizes:
    """How much there is at a scale: users, ratings and probe in proportion to it.

    Movies go with its fourth root. In proportion, or even with its square root, the catalogue
    would be smaller than what the most active users rate, and their tail would have to go; with
    the fourth root everyone stays as active as at full size down to a few dozen users.
    """

    scale: float

    @property
    def n_users(self) -> int:
        return round(names.N_USERS * self.scale)

    @property
    def n_movies(self) -> int:
        return round(names.N_MOVIES * self.scale**0.25)

    @property
    def n_ratings(self) -> int:
        return round(names.N_RATINGS * self.scale)

    @property
    def n_probe(self) -> int:
        return round(names.N_PROBE * self.scale)


@dataclass(frozen=True)
class Truth:
    """Everything that decides about the ratings except their own chance.

    U (n_users, N_FACTORS) and V (n_movies, N_FACTORS), float32; `user_bias` and `movie_bias`;
    `exposure` (n_movies,): how often each movie is met, relative; `ids` (n_users,): the numbers
    users go by in the files; `counts` and `n_probe` (n_users,): ratings, and how many of them
    are in the probe. Movie i is number i + 1 in the files.
    """

    sizes: Sizes
    U: np.ndarray
    V: np.ndarray
    user_bias: np.ndarray
    movie_bias: np.ndarray
    exposure: np.ndarray
    ids: np.ndarray
    counts: np.ndarray
    n_probe: np.ndarray


def draw_truth(scale: float, rng: np.random.Generator) -> Truth:
    """Draw users and movies. The same generator state gives the same truth."""
    sizes = Sizes(scale)
    n_users, n_movies = sizes.n_users, sizes.n_movies
    spread = DECAY ** np.arange(N_FACTORS)
    U = rng.normal(size=(n_users, N_FACTORS)) * np.sqrt(spread)
    V = rng.normal(size=(n_movies, N_FACTORS))
    V /= np.sqrt(V**2 @ spread)[:, None]
    rank = rng.permutation(marginals.midpoints(n_movies))
    popular = marginals.logit(rank) / LOGISTIC_DEVIATION
    quality = QUALITY_OF_POPULAR * popular
    quality += np.sqrt(1 - QUALITY_OF_POPULAR**2) * rng.normal(size=n_movies)
    counts = _counts(sizes, rng)
    return Truth(
        sizes,
        U.astype(np.float32),
        V.astype(np.float32),
        USER_BIAS * rng.normal(size=n_users),
        MOVIE_BIAS * quality,
        _exposure(rank),
        _ids(n_users, rng),
        counts,
        _probe_counts(counts, sizes.n_probe, rng),
    )


def draw_choices(truth: Truth, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw each user's distinct movies: `indptr` and `movies` (uint16), in order of rating.

    Every movie is rated at least once, by a user drawn in proportion to their activity.
    """
    n_users, n_movies = truth.sizes.n_users, truth.sizes.n_movies
    indptr = np.concatenate(([0], np.cumsum(truth.counts)))
    owners = np.searchsorted(
        indptr, rng.choice(indptr[-1], n_movies, replace=False), side="right"
    )
    owners -= 1
    order = np.argsort(owners, kind="stable")
    n_fixed = np.bincount(owners, minlength=n_users)
    nth = np.arange(n_movies) - np.repeat(np.cumsum(n_fixed) - n_fixed, n_fixed)
    movies = np.empty(indptr[-1], np.uint16)
    movies[indptr[owners[order]] + nth] = order
    coin, alias = alias_table(truth.exposure)
    parallel_for(
        simulation.choose_movies, n_users, indptr, n_fixed, truth.exposure, coin, alias, truth.U,
        truth.V, SHARPNESS, SHIFT, _seeds(n_users, rng), movies,
    )  # fmt: skip
    return indptr, movies


def draw_scores(
    truth: Truth, indptr: np.ndarray, movies: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw the score of every rating, as one of 65,536 steps (uint16), and cut it into grades.

    Returns the steps and the grade of each step, chosen so that the grades have the shares of
    the real data.
    """
    steps = np.empty(movies.size, np.uint16)
    n_users = truth.sizes.n_users
    parallel_for(
        simulation.score_choices, n_users, indptr, movies, truth.U, truth.V, truth.user_bias,
        truth.movie_bias, TASTE, NOISE / LOGISTIC_DEVIATION, _seeds(n_users, rng), steps,
    )  # fmt: skip
    counts = np.zeros(simulation.SCORE_STEPS, np.int64)
    simulation.count(steps, counts)
    cuts = np.cumsum(marginals.GRADE_COUNTS[:-1]) / names.N_RATINGS
    below = (np.cumsum(counts) - counts / 2) / movies.size
    return steps, 1 + np.searchsorted(cuts, below).astype(np.uint8)


def draw_days(
    n_users: int, n_days: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw the first and the last day of each user, of days 0 to n_days - 1; most join late."""
    joined = rng.beta(3.0, 1.5, size=n_users)
    left = joined + (1 - joined) * rng.beta(3.0, 1.0, size=n_users)
    return (joined * n_days).astype(np.int64), (left * n_days).astype(np.int64)


def alias_table(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`coin` and `alias` (n,): take i of n at random, keep it with probability coin[i], else
    take alias[i]; then i comes with probability proportional to weights[i] (Walker, Vose)."""
    coin = weights * (weights.size / weights.sum())
    alias = np.arange(weights.size)
    poor = list(np.flatnonzero(coin < 1))
    rich = list(np.flatnonzero(coin >= 1))
    while poor and rich:
        taker, giver = poor.pop(), rich[-1]
        alias[taker] = giver
        coin[giver] -= 1 - coin[taker]
        if coin[giver] < 1:
            poor.append(rich.pop())
    coin[poor + rich] = 1.0  # but for rounding they would be
    return coin, alias


def _exposure(rank: np.ndarray) -> np.ndarray:
    # Taste is normal with variance 1 over all users.
    nodes, chances = np.polynomial.hermite_e.hermegauss(7)
    acceptance = 1 / (1 + np.exp(SHIFT - SHARPNESS * nodes))
    return marginals.exposure(rank, acceptance, chances / chances.sum())


def _counts(sizes: Sizes, rng: np.random.Generator) -> np.ndarray:
    """Ratings of each user, int64: quantiles of the real data, in random order.

    What the sum lacks or has too much comes from the users with many ratings, in proportion.
    """
    exact = marginals.ratings_of_user(marginals.midpoints(sizes.n_users))
    exact = np.minimum(exact, FULLEST * sizes.n_movies)
    common = np.minimum(exact, 60.0)  # the paper's threshold of 50 lies below
    surplus = exact - common
    exact = common + surplus * (sizes.n_ratings - common.sum()) / surplus.sum()
    counts = np.maximum(np.floor(exact), 1).astype(np.int64)
    rest = sizes.n_ratings - counts.sum()
    counts[np.argsort(counts - exact)[:rest]] += 1
    return rng.permutation(counts)


def _probe_counts(counts: np.ndarray, n_probe: int, rng: np.random.Generator) -> np.ndarray:
    """How many ratings of each user are in the probe: `n_probe` of all that were held back."""
    held_out = np.minimum(marginals.MOST_HELD_OUT, counts // 2)
    picked = rng.choice(held_out.sum(), n_probe, replace=False)
    owners = np.searchsorted(np.cumsum(held_out), picked, side="right")
    return np.bincount(owners, minlength=counts.size)


def _ids(n_users: int, rng: np.random.Generator) -> np.ndarray:
    """Distinct numbers with gaps, int32, up to the highest of the real data, in random order."""
    highest = names.HIGHEST_USER_ID
    drawn = rng.choice(highest - 1, n_users - 1, replace=False) + 1
    return rng.permutation(np.append(drawn, highest)).astype(np.int32)


def _seeds(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.integers(2**64, size=n, dtype=np.uint64)
