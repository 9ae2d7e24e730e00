"""Figures 2 and 3: how long an iteration takes, by threads and by the amount of data.

Times are the shortest of some repetitions: what other programs take away is no part of the method.
"""

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter

import numba
import numpy as np
import pandas as pd

from ..checks import check_random_state
from ..ratings import Ratings
from ..splits import split_given, subset
from ..training import Problem, threads
from .common import small_start

REPETITIONS = 15


def shortest(work: Callable[[], object], repetitions: int = REPETITIONS) -> float:
    """Seconds of the quickest of `repetitions` calls, after one that compiles."""
    work()
    times = []
    for _ in range(repetitions):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


def thread_times(
    ratings: Ratings, random_states=(0,), n_threads: Sequence[int] | None = None
) -> pd.DataFrame:
    """Figure 2: seconds to update U once on all of `ratings`, for each number of threads.

    Scores, coefficients and (10); `n_threads` None: 1 up to what numba may use. The seed draws
    U and V. Columns random_state, n_threads, seconds.
    """
    most = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    counts = range(1, most + 1) if n_threads is None else n_threads
    rows, problem = [], Problem(ratings, None)
    for seed in random_states:
        U, V = small_start(ratings, seed)
        for n in counts:
            with threads(n, ratings):
                seconds = shortest(partial(problem.gradients, U, V, 0.001))
            rows.append({"random_state": seed, "n_threads": n, "seconds": seconds})
    return pd.DataFrame(rows)


def epoch_times(
    ratings: Ratings, random_states=(0,), n_given: Sequence[int | None] = (10, 20, 50, 100, None),
    shares: Sequence[float] = (0.25, 0.5, 0.75, 1.0),
) -> pd.DataFrame:  # fmt: skip
    """Figure 3: seconds of one iteration, U and V, on one thread, for growing data.

    For each number of given ratings (None: all of each user's), a `share` of the users. The seed
    draws both. Columns random_state, n_given (0 for all), share, n_ratings, pairs (Σ S_m², what
    the paper's account of the cost adds up to), seconds.
    """
    rows = []
    for seed in random_states:
        rng = check_random_state(seed)
        for n in n_given:
            given = ratings if n is None else split_given(ratings, n, random_state=rng)[0]
            order = rng.permutation(given.n_users)
            for share in shares:
                part = _of_users(given, order[: max(1, round(share * given.n_users))])
                rows.append({
                    "random_state": seed, "n_given": n or 0, "share": share,
                    "n_ratings": part.n_ratings,
                    "pairs": int(np.sum(np.diff(part.indptr) ** 2)),
                    "seconds": _epoch_time(part, seed),
                })  # fmt: skip
    return pd.DataFrame(rows)


def _epoch_time(train: Ratings, seed: int) -> float:
    problem, (U, V) = Problem(train, None), small_start(train, seed)
    everything = np.ones(train.n_ratings, dtype=bool)

    def epoch() -> None:
        problem.gradients(U, V, 0.001)
        problem.item_gradient(U, V, everything, False, 0.001)

    with threads(1, train):
        return shortest(epoch)


def _of_users(ratings: Ratings, users: np.ndarray) -> Ratings:
    kept = np.zeros(ratings.n_users, dtype=bool)
    kept[users] = True
    chosen = np.repeat(kept, np.diff(ratings.indptr))
    return subset(ratings, chosen, f"{users.size} of the users", kept)
