"""Ratings that a model is fitted to in moments."""

import pytest

from gapfm_teach import Ratings, simulate_ratings, split_given


@pytest.fixture(scope="module")
def train():
    """Eight ratings of each of some 60 users."""
    ratings = simulate_ratings(60, 40, mean_ratings=20, random_state=0)
    return split_given(ratings, 8, min_test=2, random_state=1)[0]


@pytest.fixture
def small():
    """Three users, four items, the last of which nobody rated."""
    return Ratings([0, 2, 4, 5], [0, 1, 0, 2, 0], [5, 3, 4, 1, 2], n_items=4, max_grade=5)
