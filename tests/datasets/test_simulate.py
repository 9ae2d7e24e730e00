"""Simulated ratings: do they follow the truth they come with?"""

import numpy as np
import pytest
from movielens_files import triples

from gapfm_teach.datasets import simulate


def test_simulated_grades_follow_the_truth_and_tails_are_long():
    ratings, users, items = simulate.simulate_ratings(
        400, 300, mean_ratings=25, random_state=3, return_truth=True
    )
    assert users.shape == (400, 3)
    assert items.shape == (300, 3)
    frame = ratings.to_frame()
    frame["truth"] = (users @ items.T)[frame["user"], frame["item"]]
    # With noise of standard deviation 0.3 beside a truth of 1 the correlation is 0.96.
    assert 0.85 < frame["truth"].corr(frame["grade"], method="spearman") < 0.99
    assert frame.groupby("grade")["truth"].mean().is_monotonic_increasing
    counts = np.diff(ratings.indptr)
    assert 20 < counts.mean() < 30
    assert counts.max() > 3 * np.median(counts)
    popularity = np.bincount(ratings.indices, minlength=300)
    assert popularity[:30].sum() > 0.4 * popularity.sum()
    assert ratings.titles[0] == "Film 1"


def test_simulated_items_are_drawn_with_the_stated_odds():
    ratings = simulate.simulate_ratings(4000, 4, mean_ratings=1, random_state=0)
    first = ratings.indices[ratings.indptr[:-1]][np.diff(ratings.indptr) == 1]
    shares = np.bincount(first, minlength=4) / first.size
    expected = np.array([1, 1 / 2, 1 / 3, 1 / 4])
    np.testing.assert_allclose(shares, expected / expected.sum(), atol=0.04)


def test_simulation_repeats_itself_for_one_seed_only():
    first, again, other = (
        simulate.simulate_ratings(20, 30, random_state=s) for s in (1, 1, 2)
    )
    assert triples(first) == triples(again)
    assert triples(first) != triples(other)
    generator = np.random.default_rng(1)
    assert triples(simulate.simulate_ratings(20, 30, random_state=generator)) == triples(
        first
    )


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"n_users": 0}, ValueError, "n_users must be at least 1, got 0"),
        ({"n_items": -3}, ValueError, "n_items must be at least 1"),
        ({"n_factors": 0}, ValueError, "n_factors must be at least 1"),
        ({"n_users": 2.5}, TypeError, "n_users must be a whole number"),
        ({"max_grade": 128}, ValueError, "max_grade must be from 1 to 127"),
        ({"mean_ratings": 0.5}, ValueError, "mean_ratings must be finite and at least 1"),
        ({"mean_ratings": float("nan")}, ValueError, "mean_ratings"),
        ({"random_state": -1}, ValueError, "random_state"),
    ],
)
def test_simulation_names_bad_arguments(change, error, message):
    with pytest.raises(error, match=message):
        simulate.simulate_ratings(**({"n_users": 3, "n_items": 4} | change))


def test_simulation_works_at_its_edges():
    one = simulate.simulate_ratings(1, 1, max_grade=1, random_state=0)
    assert triples(one) == [(0, 0, 1)]
    full = simulate.simulate_ratings(3, 4, mean_ratings=1e6, random_state=0)
    assert full.n_ratings == 12
