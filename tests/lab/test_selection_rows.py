"""The rows of "selection": what each changes, and that it changes something."""

import numpy as np
import pytest

from gapfm_lab.protocols import PROTOCOLS
from gapfm_lab.systems import SELECTION
from gapfm_teach import simulate_ratings, split_given


@pytest.fixture(scope="module")
def train():
    ratings = simulate_ratings(60, 80, mean_ratings=35, random_state=0)
    return split_given(ratings, 25, min_test=5, random_state=1)[0]


def scores(system, train, seed=0):
    return system.build(system.points()[0], seed).fit(train).predict(3)


def test_no_two_rows_with_one_objective_come_to_the_same(train):
    """But for λ, which is at its first value here."""
    found = {name: scores(system, train) for name, system in SELECTION.items()}
    names = list(found)
    for k, one in enumerate(names):
        for other in names[:k]:
            assert not np.allclose(found[one], found[other]), (one, other)


def test_every_row_is_compared_with_the_one_that_it_changes():
    protocol = PROTOCOLS["selection"]
    assert set(protocol.references) < set(protocol.systems) == set(SELECTION)
    assert protocol.givens == (50,)  # of 10 given films none would be left out
