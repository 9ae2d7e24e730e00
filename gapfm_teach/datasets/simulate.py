"""Ratings drawn from a known latent truth, with the long tails of real data."""

from typing import Literal, overload

import numpy as np

from .._support.checks import check_count, check_random_state, check_real
from ..ratings import HIGHEST_GRADE, Ratings

NOISE = 0.3  # standard deviation of what is not explained, where the truth has 1
SPREAD = 0.8  # standard deviation of log(ratings a user)


@overload
def simulate_ratings(
    n_users: int,
    n_items: int,
    *,
    n_factors: int = ...,
    mean_ratings: float = ...,
    max_grade: int = ...,
    random_state=...,
    return_truth: Literal[False] = ...,
) -> Ratings: ...
@overload
def simulate_ratings(
    n_users: int,
    n_items: int,
    *,
    n_factors: int = ...,
    mean_ratings: float = ...,
    max_grade: int = ...,
    random_state=...,
    return_truth: Literal[True],
) -> tuple[Ratings, np.ndarray, np.ndarray]: ...
def simulate_ratings(
    n_users: int,
    n_items: int,
    *,
    n_factors: int = 3,
    mean_ratings: float = 30.0,
    max_grade: int = 5,
    random_state=None,
    return_truth: bool = False,
) -> Ratings | tuple[Ratings, np.ndarray, np.ndarray]:
    """Draw ratings of users whose taste is known exactly.

    The truth of user m and item i is <U_m, V_i>, equation (1), with normal U and V scaled so
    that it has variance 1 over all pairs. The grade counts how many of max_grade - 1 equally
    likely thresholds truth plus noise exceeds, plus 1. How many items a user rates is
    log-normal around `mean_ratings` (a few rate a lot); item k (0, 1, ...) is picked with
    probability proportional to 1 / (k + 1), Zipf's law, whatever its grade.

    Parameters
    ----------
    n_users, n_items, n_factors : whole numbers, at least 1.
    mean_ratings : expected ratings a user before rounding; everyone has at least 1 and at
        most n_items, so a value near n_items is not reached.
    max_grade : 1..127.
    random_state : None, an int or a NumPy Generator; the same int gives the same ratings.
    return_truth : also return U (n_users, n_factors) and V (n_items, n_factors).

    Raises ValueError or TypeError that names the argument out of range.

    >>> import numpy as np
    >>> from gapfm_teach import simulate_ratings
    >>> ratings, U, V = simulate_ratings(100, 40, random_state=0, return_truth=True)
    >>> items, grades = ratings.row(0)
    >>> correlation = np.corrcoef(V[items] @ U[0], grades)  # of what she likes and what she says
    >>> round(float(correlation[0, 1]), 2)
    0.72
    """
    n_users = check_count(n_users, "n_users")
    n_items = check_count(n_items, "n_items")
    n_factors = check_count(n_factors, "n_factors")
    max_grade = check_count(max_grade, "max_grade", high=HIGHEST_GRADE)
    mean_ratings = check_real(mean_ratings, "mean_ratings", low=1.0)
    rng = check_random_state(random_state)
    users = rng.normal(size=(n_users, n_factors)) / np.sqrt(n_factors)
    items = rng.normal(size=(n_items, n_factors))
    counts = _counts(n_users, n_items, mean_ratings, rng)
    picked = [_pick(n_items, count, rng) for count in counts]
    indices = np.concatenate(picked)
    rater = np.repeat(np.arange(n_users), counts)
    truth = np.einsum("rd,rd->r", users[rater], items[indices])
    noisy = truth + rng.normal(scale=NOISE, size=truth.size)
    cuts = np.quantile(noisy, np.arange(1, max_grade) / max_grade)
    ratings = Ratings(
        np.concatenate(([0], np.cumsum(counts))),
        indices,
        1 + np.searchsorted(cuts, noisy),
        n_items=n_items,
        max_grade=max_grade,
        titles=[f"Film {item + 1}" for item in range(n_items)],
        source=f"simulated, {n_factors} factors",
    )
    return (ratings, users, items) if return_truth else ratings


def _counts(
    n_users: int, n_items: int, mean: float, rng: np.random.Generator
) -> np.ndarray:
    drawn = rng.lognormal(np.log(mean) - SPREAD**2 / 2, SPREAD, size=n_users)
    return np.clip(np.rint(drawn), 1, n_items).astype(np.int64)


def _pick(n_items: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw `count` items without replacement, weights 1/(k + 1): the smallest of
    exponential waiting times at these rates are such a draw."""
    waits = rng.exponential(size=n_items) * np.arange(1, n_items + 1)
    return np.sort(np.argpartition(waits, count - 1)[:count])
