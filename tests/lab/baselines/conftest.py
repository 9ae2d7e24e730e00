"""Ratings that a model is fitted to in moments."""

import pytest

from gapfm_teach import simulate_ratings, split_given


@pytest.fixture(scope="module")
def train():
    ratings = simulate_ratings(80, 60, mean_ratings=25, random_state=0)
    return split_given(ratings, 8, min_test=5, random_state=1)[0]
