"""The model of notebook 11: hops against a simulation, costs, and the stored bytes."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gapfm_lab import chapter_11
from gapfm_lab.experiments.results import read_results

RESULTS = Path(__file__).parents[2] / "notebooks" / "results"


def sendings(n_workers: int) -> int:
    """Play it: who has V sends it to those waiting for it at once, and they share the line."""
    left, steps = {k: 1.0 for k in range(1, n_workers)}, 0
    while left:
        steps += 1
        sources = [(k - 1) // 2 for k in left]
        ready = {
            k: sources.count(s) for k, s in zip(left, sources, strict=True) if s not in left
        }
        for k, sharing in ready.items():
            left[k] -= 1 / sharing
            if left[k] <= 0:
                del left[k]
    sums = list(range(n_workers))
    while len(sums) > 1:
        sums, steps = sums[::2], steps + 1
    return steps


@pytest.mark.parametrize("n_workers", [1, 2, 3, 4, 5, 7, 8, 16, 31, 64, 100, 1000])
def test_hops_are_those_of_a_simulation(n_workers):
    assert chapter_11.hops(n_workers) == sendings(n_workers)


def test_costs_are_recovered_from_times_made_with_them():
    true = pd.Series([1e-2, 4e-3, 6e-8, 3e-8, 2e-10, 1e-9], chapter_11.COSTS)
    table = read_results(RESULTS / "scaling_out.csv")
    table["seconds"] = chapter_11.predictions(true, table)
    found = chapter_11.fit_costs(table)
    np.testing.assert_allclose(found, true, rtol=1e-6)
    np.testing.assert_allclose(
        chapter_11.predictions(found, table), table["seconds"], rtol=1e-6
    )


def test_the_stored_bytes_are_those_of_the_formula():
    """On two workers; beside the factors a message has a head, and Dask its own small talk."""
    table = read_results(RESULTS / "scaling_out.csv")
    formula = 2 * (table["n_workers"] - 1) * 8 * table["n_items"] * table["n_factors"]
    assert (table["bytes"] >= formula).all()
    # Where no part waits for another, none is moved about.
    alone = table["n_parts"] == table["n_workers"]
    assert (table["bytes"] - formula)[alone].max() <= 5_000
    assert (
        (table["n_workers"] == 2).sum() == (table["n_workers"] == 1).sum() == len(table) / 2
    )
