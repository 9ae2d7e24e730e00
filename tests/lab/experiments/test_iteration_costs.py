"""The model of notebook 11: counted against a simulation, against training, and the stored times."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from gapfm_teach import simulate_ratings
from gapfm_teach.lab.experiments import iteration_costs
from gapfm_teach.lab.experiments.results import read_results
from gapfm_teach.training.data import TrainingData

RESULTS = Path(__file__).parents[3] / "notebooks" / "results"


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
    assert iteration_costs.hops(n_workers) == sendings(n_workers)


@pytest.mark.parametrize(
    ("n_users", "n_items", "D"), [(50, 40, 3), (400, 30, 2), (300, 9, 4)]
)
def test_arrays_of_v_are_those_of_training(n_users, n_items, D):
    ratings = simulate_ratings(n_users, n_items, mean_ratings=8, random_state=0)
    blocks = TrainingData(ratings).blocks(D).size - 1
    found = iteration_costs.arrays_of_v(ratings.n_ratings, n_items, D, 1)
    assert found == blocks + iteration_costs.OTHER_ARRAYS


def test_costs_are_recovered_from_times_made_with_them():
    true = pd.Series([1e-2, 4e-3, 6e-8, 3e-8, 2e-10, 1e-9], iteration_costs.COSTS)
    table = read_results(RESULTS / "scaling_out.csv")
    table["seconds"] = iteration_costs.predictions(true, table)
    found = iteration_costs.fit_costs(table)
    np.testing.assert_allclose(found, true, rtol=1e-6)
    np.testing.assert_allclose(
        iteration_costs.predictions(found, table), table["seconds"], rtol=1e-6
    )


def test_a_ring_sends_two_vs_whatever_the_number_of_workers():
    V = 8 * 1000 * 10
    assert iteration_costs.ring(1, 1000, 10, 1.0, 1.0) == 0
    assert iteration_costs.ring(2, 1000, 10, 1.0, 0.0) == V
    assert iteration_costs.ring(1000, 1000, 10, 1.0, 0.0) == pytest.approx(2 * V, rel=2e-3)


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


def test_the_pictures_show_what_they_are_given():
    table = read_results(RESULTS / "scaling_out.csv")
    fig, (one, other) = plt.subplots(1, 2)
    iteration_costs.iteration_picture(one, 5)
    words = [text.get_text() for text in one.texts]
    assert sum(word.startswith("worker") for word in words) == 5
    assert words.count("+") == 3 + 2 + 1
    iteration_costs.prediction_picture(other, table, iteration_costs.fit_costs(table))
    drawn = sum(len(line.get_xdata()) for line in other.get_lines())
    assert drawn == len(table) + 2
    plt.close(fig)
