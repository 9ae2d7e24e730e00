"""The task "temporal": what is tested is the latest, and all else is as in top-N."""

import numpy as np
import pytest

from gapfm_teach import simulate_ratings
from gapfm_teach.lab.protocols import N_TEST, split
from gapfm_teach.ratings import Ratings

GIVEN = 12


@pytest.fixture(scope="module")
def ratings():
    """Simulated ratings at random times, many of a user's in the same second."""
    frame = simulate_ratings(60, 80, mean_ratings=35, random_state=0).to_frame()
    times = np.random.default_rng(0).integers(0, 20, len(frame))
    return Ratings.from_frame(frame.assign(time=times), time="time")


def lines(ratings):
    return set(ratings.to_frame().itertuples(index=False, name=None))


def test_the_test_is_the_latest_and_training_is_drawn_from_what_is_earlier(ratings):
    train, known, test = split("temporal", ratings, GIVEN, seed=3)
    counts = np.diff(ratings.indptr)
    active = counts >= GIVEN + N_TEST + 1
    assert 0 < active.sum() < ratings.n_users
    assert known.users.tolist() == ratings.users[active].tolist()
    assert train.users.tolist() == test.users.tolist() == known.users.tolist()
    assert np.diff(train.indptr).tolist() == [GIVEN] * train.n_users
    assert np.diff(test.indptr).tolist() == [N_TEST] * test.n_users
    assert lines(train) < lines(known)
    assert not lines(known) & lines(test)
    kept = {line for line in lines(ratings) if line[0] in set(known.users)}
    assert lines(known) | lines(test) == kept
    for user in known.users:
        before = [time for who, *_, time in lines(known) if who == user]
        after = [time for who, *_, time in lines(test) if who == user]
        assert max(before) <= min(after)


def test_the_users_are_those_of_top_n(ratings):
    temporal, top_n = (split(task, ratings, GIVEN, 0) for task in ("temporal", "top_n"))
    assert temporal[0].users.tolist() == top_n[0].users.tolist()
    assert lines(temporal[2]) != lines(top_n[2])


def test_the_seed_draws_training_and_ties(ratings):
    one, same, other = (split("temporal", ratings, GIVEN, seed) for seed in (3, 3, 4))
    for first, second, third in zip(one, same, other, strict=True):
        assert lines(first) == lines(second) != lines(third)
    # Without ties the test is the same whatever the seed, and training is not.
    frame = ratings.to_frame()
    frame["time"] = np.random.default_rng(1).permutation(len(frame))
    distinct = Ratings.from_frame(frame, time="time")
    one, other = (split("temporal", distinct, GIVEN, seed) for seed in (3, 4))
    assert lines(one[2]) == lines(other[2])
    assert lines(one[0]) != lines(other[0])
