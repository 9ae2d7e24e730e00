"""A repaired objective with one thing changed: both ends, and the gradients."""

import numpy as np
import pytest

from gapfm_teach import (
    GAPfm,
    simulate_ratings,
    thresholding_probabilities,
)
from gapfm_teach.gradcheck import central_difference, relative_error
from gapfm_teach.lab.baselines.varied import Varied, _Goal
from gapfm_teach.metrics import accumulated
from gapfm_teach.repaired.gap import consistent_gap
from gapfm_teach.repaired.power_mean import graded_precisions


@pytest.mark.parametrize("objective", ["consistent", "geometric"])
def test_with_nothing_changed_it_is_gapfm(train, objective):
    known = GAPfm(objective=objective, n_iter=10, random_state=3).fit(train)
    found = Varied(objective, n_iter=10, random_state=3).fit(train)
    for user in (0, 7):
        np.testing.assert_allclose(found.predict(user), known.predict(user), rtol=1e-8)


# ------------------------------------------------------------------ the gradients


def value_of(changes, f, grades):
    """What one user's list of all items is worth, in plain NumPy; (N,) scores and grades."""
    delta = (
        np.ones(5) if changes.get("worth") == "linear" else thresholding_probabilities(5)
    )
    weight = 0.05 if changes["objective"] == "consistent" else 0.1
    weights = np.where(grades > 0, 1.0, weight)
    if changes["objective"] == "consistent":
        return consistent_gap(f, grades, delta, 1.0, weights)
    worth = accumulated(delta)
    share = worth / worth[5] if changes.get("share") == "worth" else np.arange(6) / 5
    rated = grades > 0
    precision = graded_precisions(f, grades, delta, 1.0, weights)[rated]
    return np.sum(share[grades[rated]] * np.log(precision))


CHANGES = [
    {"objective": "consistent", "worth": "linear"},
    {"objective": "geometric", "worth": "linear"},
    {"objective": "geometric", "share": "worth"},
    {"objective": "geometric", "share": "worth", "worth": "linear"},
]


@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_the_gradient_is_that_of_the_sum(changes):
    train = simulate_ratings(12, 20, mean_ratings=8, random_state=0)
    listed = train.to_scipy().toarray().astype(int)
    goal = _Goal(Varied(reg=0.0, **changes), train, np.random.default_rng(0))
    state = goal.start(train, 3, 0.7, np.random.default_rng(1))
    state["item_bias"] = np.random.default_rng(2).normal(0, 0.5, train.n_items)
    _, gradient = goal.gradients(state, 1)
    U, V = goal.factors(state)

    def value(users, items):
        rows = zip(users @ items.T, listed, strict=True)
        return sum(value_of(changes, *pair) for pair in rows)

    def by_users(x):
        return value(np.column_stack([x, np.ones(train.n_users)]), V)

    slope = central_difference(by_users, U[:, :-1])
    assert relative_error(gradient["user_factors"], slope) < 1e-5
    slope = central_difference(lambda x: value(U, x), V)
    found = np.column_stack([gradient["item_factors"], gradient["item_bias"]])
    assert relative_error(found, slope) < 1e-5


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"objective": "paper"}, "objective must be one of"),
        ({"worth": "square"}, "worth must be one of"),
        (
            {"objective": "consistent", "share": "worth"},
            "'consistent' has no share='worth'",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, word):
    with pytest.raises(ValueError, match=word):
        Varied(**wrong)
