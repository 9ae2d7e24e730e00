"""What an iteration of the consistent objective costs, beside one of the printed objective.

`python benchmarks/repair_cost.py table.csv`: MovieLens 100K, D = 10, U and V, one thread.
"""

import sys
import time

import numpy as np
import pandas as pd
from measure import seconds

from gapfm_lab.reproduce.timing import machine
from gapfm_lab.result_files import write_csv
from gapfm_lab.versions import versions
from gapfm_teach import Ratings, load_movielens, split_given
from gapfm_teach.training.data import TrainingData
from gapfm_teach.training.machine import threads
from gapfm_teach.training.objectives import OBJECTIVES, configured

GIVEN, SAMPLES = (10, 30, 50, 100), (50, 200, 1682)


def of_split(train: Ratings, given: str) -> list[dict]:
    """A row for each sample size: ms of both objectives' gradients, listed films and pairs."""
    rng = np.random.default_rng(0)
    shapes = (train.n_users, 10), (train.n_items, 10)
    U, V = (rng.normal(0, 0.5, shape) for shape in shapes)
    with_bias = np.c_[V, np.zeros(train.n_items)]
    data, S = TrainingData(train), np.diff(train.indptr)
    paper, consistent = (
        OBJECTIVES["paper"],
        configured("consistent", {"unrated_weight": 1.0}),
    )
    clock = time.thread_time
    printed = 1e3 * seconds(lambda: paper.gradients(data, U, V), clock=clock)
    rows = []
    for n in SAMPLES:
        uniforms = rng.random((train.n_users, n))

        def iteration(uniforms=uniforms):
            consistent.sampled_gradients(data, U, with_bias, uniforms)

        drawn = np.minimum(n, train.n_items - S)
        rows.append({
            "given": given,
            "n": n,
            "n_users": train.n_users,
            "films": int(np.sum(S + drawn)),
            "pairs": int(np.sum(S * (S + drawn))),
            "printed_ms": printed,
            "consistent_ms": 1e3 * seconds(iteration, clock=clock),
        })  # fmt: skip
    return rows


def measure() -> pd.DataFrame:
    """The rows of a split for each Given, and of all ratings."""
    ratings, rows = load_movielens("100k"), []
    parts = {str(n): split_given(ratings, n, random_state=0)[0] for n in GIVEN}
    for given, train in (parts | {"all": ratings}).items():
        with threads(1, train):
            rows += of_split(train, given)
    return pd.DataFrame(rows)


if __name__ == "__main__":
    (file,) = sys.argv[1:]
    words = [
        "python benchmarks/repair_cost.py",
        "Data: MovieLens 100K; an iteration's gradients of U and V, D = 10, one thread",
        f"{machine()}; {versions()}",
    ]
    write_csv(file, measure(), words)
