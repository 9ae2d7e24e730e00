"""How often intervals from repeated splits cover the truth, where the truth is known.

Differences of two systems are simulated, a value for each user and split, of which the mean is 0:

    d_ms = a_m + b + b_s + e_ms, and in some splits a collapse

a_m is a user's own, b what all splits of the same ratings share, b_s a split's own, and e_ms the rest.
Splits of the same ratings can't show b. What is asked is how often a test at level α finds a difference.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd
from scipy import stats

from gapfm_teach.intervals import average_splits, compare_splits

from .primary.declared import ALPHA, COMPARISONS, DATA, GIVEN

# About as large as those of the primary table's comparisons.
N_USERS, TESTED = 600, 2 / 3
SD_USERS, SD_SPLITS, SD_REST = 0.06, 0.012, 0.15
SHARED = 0.25  # of the variance of splits; the share of training ratings that two splits have both
COLLAPSE, RARE = 0.1, 0.05  # how far a collapsed run is off, and how often
N_SPLITS = (5, 20)
# The level of a single interval, and the smallest that Holm's method asks for.
LEVELS = (ALPHA, ALPHA / (len(COMPARISONS) * len(DATA) * len(GIVEN)))
N_REPEATS, AT_ONCE = 20_000, 500


def error_rates(random_state: int = 0, n_repeats: int = N_REPEATS) -> pd.DataFrame:
    """A row for each number of splits, without and with rare collapses, method and level.

    Columns n_splits, collapses, method, level, found (the share of `n_repeats` in which a difference is
    found, although there is none: at most `level` where the method is right) and n_repeats.
    """
    rng, rows = np.random.default_rng(random_state), []
    for n_splits, collapses in product(N_SPLITS, (0.0, RARE)):
        p_values: dict[str, list[np.ndarray]] = {}
        for _ in range(0, n_repeats, AT_ONCE):
            for method, p in _tested(_differences(rng, n_splits, collapses, AT_ONCE)):
                p_values.setdefault(method, []).append(p)
        for method, level in product(p_values, LEVELS):
            found = float(np.mean(np.concatenate(p_values[method]) < level))
            rows.append((n_splits, collapses, method, level, found, n_repeats))
    columns = ["n_splits", "collapses", "method", "level", "found", "n_repeats"]
    return pd.DataFrame(rows, columns=columns)


def _differences(
    rng: np.random.Generator, n_splits: int, collapses: float, n_columns: int
) -> list[pd.DataFrame]:
    """A table for each split: a row a tested user, a column for each repeat of the experiment."""
    of_users = rng.normal(0.0, SD_USERS, (N_USERS, n_columns))
    common = rng.normal(0.0, SD_SPLITS * np.sqrt(SHARED), n_columns)
    tables = []
    for _ in range(n_splits):
        own = rng.normal(0.0, SD_SPLITS * np.sqrt(1 - SHARED), n_columns)
        down = COLLAPSE * (collapses - (rng.random(n_columns) < collapses))
        tested = np.flatnonzero(rng.permutation(N_USERS) < TESTED * N_USERS)
        rest = rng.normal(0.0, SD_REST, (tested.size, n_columns))
        tables.append(pd.DataFrame(of_users[tested] + common + own + down + rest, tested))
    return tables


def _tested(splits: list[pd.DataFrame]) -> Iterator[tuple[str, np.ndarray]]:
    """The p-values of a mean of 0 by each method, one for each column."""
    nothing = [table * 0.0 for table in splits]
    users = average_splits(splits)
    yield "users only", stats.ttest_1samp(users, 0.0).pvalue
    for method, overlap in (("users and splits", 0.0), ("and what splits share", SHARED)):
        compared = compare_splits(splits, nothing, overlap=overlap)
        yield method, compared["p_value"].to_numpy()
