"""Figures 2 and 3: how long an iteration takes, by threads and by the amount of data.

Times are the shortest of some repetitions: what other programs take away is no part of the method.
"""

import os
import platform
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd

from gapfm_teach._support.checks import check_random_state
from gapfm_teach.ratings import Ratings
from gapfm_teach.splits import select_users, split_given
from gapfm_teach.training.data import TrainingData
from gapfm_teach.training.machine import most_threads, threads
from gapfm_teach.training.objectives import PaperObjective

from ..experiments.common import small_start

REPETITIONS = 15
ENOUGH = 10.0  # seconds after which two repetitions do


def machine() -> str:
    """The kind of processor, and how many there are: for the header of what was timed here."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        name = text.split("model name", 1)[1].split(":", 1)[1].split("\n", 1)[0].strip()
    except (OSError, IndexError):  # not Linux, or another kind of processor
        name = platform.processor() or platform.machine()
    return f"{name}, {os.cpu_count()} processors"


def shortest(work: Callable[[], object], repetitions: int = REPETITIONS) -> float:
    """Seconds of the quickest of `repetitions` calls, fewer of long ones, after one that compiles."""
    work()
    times = []
    for _ in range(repetitions):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
        if len(times) >= 2 and sum(times) > ENOUGH:
            break
    return min(times)


def _trained(ratings: Ratings, seed: int) -> list[np.ndarray]:
    """U and V that give scores as far apart as training does: interpolation takes as long there."""
    return [50 * factors for factors in small_start(ratings, seed)]


def thread_times(
    ratings: Ratings, random_states=(0,), n_threads: Sequence[int] | None = None
) -> pd.DataFrame:
    """Figure 2: seconds of one pass over all of `ratings`, for each number of threads.

    Scores, coefficients, (10) and (11); `n_threads` None: 1 up to what numba may use. The seed draws
    U and V. Columns random_state, n_threads, seconds.
    """
    most = most_threads()
    counts = range(1, most + 1) if n_threads is None else n_threads
    rows, problem = [], TrainingData(ratings)
    for seed in random_states:
        U, V = _trained(ratings, seed)
        for n in counts:
            with threads(n, ratings):
                seconds = shortest(partial(PaperObjective().gradients, problem, U, V))
            rows.append({"random_state": seed, "n_threads": n, "seconds": seconds})
    return pd.DataFrame(rows)


def epoch_times(
    ratings: Ratings, random_states=(0,), n_given: Sequence[int | None] = (10, 20, 50, 100, None),
    shares: Sequence[float] = (0.25, 0.5, 0.75, 1.0), n_threads: Sequence[int] = (1,),
) -> pd.DataFrame:  # fmt: skip
    """Figure 3: seconds of one iteration, U and V, for growing data.

    For each number of given ratings (None: all of each user's), a `share` of the users. The seed
    draws both. Columns random_state, n_given (0 for all), share, n_ratings, pairs (Σ S_m², what
    the paper's account of the cost adds up to), n_threads, seconds. Numbers of threads that numba
    may not use are left out.
    """
    most = most_threads()
    rows = []
    for seed in random_states:
        rng = check_random_state(seed)
        for n in n_given:
            given = ratings if n is None else split_given(ratings, n, random_state=rng)[0]
            order = rng.permutation(given.n_users)
            for share in shares:
                kept = np.zeros(given.n_users, dtype=bool)
                kept[order[: max(1, round(share * given.n_users))]] = True
                part = select_users(given, kept, f"{share:g} of the users")
                row = {
                    "random_state": seed, "n_given": n or 0, "share": share,
                    "n_ratings": part.n_ratings,
                    "pairs": int(np.sum(np.diff(part.indptr) ** 2)),
                }  # fmt: skip
                problem, (U, V) = TrainingData(part), _trained(part, seed)
                for count in (n for n in n_threads if n <= most):
                    with threads(count, part):
                        seconds = shortest(
                            partial(PaperObjective().gradients, problem, U, V)
                        )
                    rows.append(row | {"n_threads": count, "seconds": seconds})
    return pd.DataFrame(rows)
