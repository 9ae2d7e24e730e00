"""The rows of "sensitivity": what each changes, and that it changes something."""

import numpy as np
import pytest

from gapfm_teach import simulate_ratings, split_given
from gapfm_teach.lab.protocols import PROTOCOLS
from gapfm_teach.lab.systems import SENSITIVITY, SYSTEMS


@pytest.fixture(scope="module")
def train():
    ratings = simulate_ratings(60, 80, mean_ratings=35, random_state=0)
    return split_given(ratings, 25, min_test=5, random_state=1)[0]


def scores(system, train, seed=0):
    return system.build(system.points()[0], seed).fit(train).predict(3)


def test_the_unchanged_row_is_the_system_of_the_other_tables(train):
    for short in ("geometric", "consistent"):
        known = SYSTEMS[f"GAPfm, {short}, as it is"]
        found = scores(SENSITIVITY[short], train)
        np.testing.assert_allclose(found, scores(known, train), rtol=1e-8)


def test_no_two_rows_with_one_objective_come_to_the_same(train):
    """But for λ, which is at its first value here where it is tuned."""
    found = {name: scores(system, train) for name, system in SENSITIVITY.items()}
    names = list(found)
    for k, one in enumerate(names):
        for other in names[:k]:
            assert not np.allclose(found[one], found[other]), (one, other)


def test_a_start_is_drawn_by_its_number_and_the_seed(train):
    one, two = (SENSITIVITY[f"geometric, start {k}"] for k in (1, 2))
    assert np.array_equal(scores(one, train, 4), scores(one, train, 4))
    assert not np.allclose(scores(one, train, 4), scores(two, train, 4))
    assert not np.allclose(scores(one, train, 4), scores(one, train, 5))


def test_every_row_is_compared_with_the_one_that_it_changes():
    protocol = PROTOCOLS["sensitivity"]
    assert set(protocol.references) < set(protocol.systems) == set(SENSITIVITY)
