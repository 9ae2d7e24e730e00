"""The simulation behind the table of error rates, and what the stored table says."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gapfm_lab import chapter_06_coverage as simulation

STORED = Path(__file__).parents[2] / "notebooks" / "results" / "coverage.csv"
OURS = "and what splits share"


def test_the_differences_have_the_variance_that_is_claimed():
    tables = simulation._differences(np.random.default_rng(0), 4, 0.0, 400)
    means = np.array([table.mean().to_numpy() for table in tables])  # (splits, repeats)
    n_tested = len(tables[0])
    assert n_tested == round(simulation.TESTED * simulation.N_USERS)
    variance = simulation.SD_SPLITS**2
    own = variance * (1 - simulation.SHARED) + simulation.SD_REST**2 / n_tested
    between = means.var(axis=0, ddof=1).mean()
    # Other users are tested in each split, too.
    own += simulation.SD_USERS**2 * (1 / n_tested - 1 / simulation.N_USERS)
    assert between == pytest.approx(own, rel=0.15)
    assert abs(means.mean()) < 4 * np.sqrt(variance / 400)


def test_collapses_leave_the_mean_where_it_is():
    tables = simulation._differences(np.random.default_rng(1), 40, 0.05, 200)
    means = np.array([table.mean().to_numpy() for table in tables])
    assert (means < -simulation.COLLAPSE / 2).mean() == pytest.approx(0.05, abs=0.02)
    assert abs(means.mean()) < 0.005


def test_the_same_seed_gives_the_same_table():
    one, other = (simulation.error_rates(3, n_repeats=500) for _ in range(2))
    pd.testing.assert_frame_equal(one, other)


def test_the_stored_table():
    table = pd.read_csv(STORED, comment="#")
    table["error"] = np.sqrt(table["level"] * (1 - table["level"]) / table["n_repeats"])
    ours = table[(table["method"] == OURS) & (table["n_splits"] == 20)]
    assert (ours["found"] < ours["level"] + 3 * ours["error"]).all()
    users = table[table["method"] == "users only"]
    assert (users["found"] > 3 * users["level"]).all()
    assert sorted(table["level"].unique()) == sorted(simulation.LEVELS)
