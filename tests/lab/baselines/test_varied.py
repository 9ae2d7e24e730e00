"""A repaired objective with one thing changed: both ends, the gradients, what is selected."""

import numpy as np
import pytest

from gapfm_teach import (
    GAPfm,
    adaptive_selection,
    simulate_ratings,
    thresholding_probabilities,
)
from gapfm_teach.gradcheck import central_difference, relative_error
from gapfm_teach.lab.baselines.varied import Varied, _Goal
from gapfm_teach.metrics import cumulative_weights
from gapfm_teach.repaired.gap import consistent_gap
from gapfm_teach.repaired.power_mean import graded_precisions


@pytest.mark.parametrize("objective", ["consistent", "geometric"])
@pytest.mark.parametrize("k", [None, 8])
def test_with_nothing_changed_it_is_gapfm(train, objective, k):
    """Nor is anything where all eight ratings of each user are selected."""
    known = GAPfm(objective=objective, n_iter=10, random_state=3).fit(train)
    found = Varied(objective, n_selected=k, n_iter=10, random_state=3).fit(train)
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
    worth = cumulative_weights(delta)
    share = worth / worth[5] if changes.get("share") == "worth" else np.arange(6) / 5
    rated = grades > 0
    precision = graded_precisions(f, grades, delta, 1.0, weights)[rated]
    return np.sum(share[grades[rated]] * np.log(precision))


CHANGES = [
    {"objective": "consistent", "worth": "linear"},
    {"objective": "geometric", "worth": "linear"},
    {"objective": "geometric", "share": "worth"},
    {"objective": "geometric", "share": "worth", "worth": "linear"},
    {"objective": "consistent", "n_selected": 3},
    {"objective": "geometric", "n_selected": 3},
]


@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_the_gradient_is_that_of_the_sum_by_what_moves(changes):
    """U moves by all; V and b of the unrated, and of each user's K most misranked items."""
    train = simulate_ratings(12, 20, mean_ratings=8, random_state=0)
    listed = train.to_scipy().toarray().astype(int)
    goal = _Goal(Varied(reg=0.0, **changes), train, np.random.default_rng(0))
    state = goal.start(train, 3, 0.7, np.random.default_rng(1))
    state["item_bias"] = np.random.default_rng(2).normal(0, 0.5, train.n_items)
    _, gradient = goal.gradients(state, 1)
    U, V = goal.factors(state)
    moves = np.ones(listed.shape, bool)
    for user in range(train.n_users if "n_selected" in changes else 0):
        items, grades = train.row(user)
        picked = adaptive_selection(grades, V[items] @ U[user], changes["n_selected"])
        moves[user, np.delete(items, picked)] = False
    assert moves.all() == ("n_selected" not in changes)

    def value(users, items):
        """With one's own V for each user: as it was where hers does not move."""
        scores = np.where(moves, users @ items.T, users @ V.T)
        return sum(value_of(changes, *pair) for pair in zip(scores, listed, strict=True))

    def by_users(x):
        rows = np.column_stack([x, np.ones(train.n_users)]) @ V.T
        return sum(value_of(changes, *pair) for pair in zip(rows, listed, strict=True))

    slope = central_difference(by_users, U[:, :-1])
    assert relative_error(gradient["user_factors"], slope) < 1e-5
    slope = central_difference(lambda x: value(U, x), V)
    found = np.column_stack([gradient["item_factors"], gradient["item_bias"]])
    assert relative_error(found, slope) < 1e-5


# ------------------------------------------------------------------ what is selected


def test_chance_selects_as_many_and_its_seed_repeats_it(train):
    fits = [
        Varied(n_selected=3, selection="random", n_iter=5, random_state=seed).fit(train)
        for seed in (0, 0, 1)
    ]
    one, same, other = (model.predict(0) for model in fits)
    assert np.array_equal(one, same)
    assert not np.allclose(one, other)
    adaptive = Varied(n_selected=3, n_iter=5, random_state=0).fit(train)
    assert not np.allclose(one, adaptive.predict(0))


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"objective": "paper"}, "objective must be one of"),
        ({"worth": "square"}, "worth must be one of"),
        (
            {"objective": "consistent", "share": "worth"},
            "'consistent' has no share='worth'",
        ),
        ({"n_selected": 0}, "n_selected"),
        ({"selection": "best"}, "selection must be one of"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, word):
    with pytest.raises(ValueError, match=word):
        Varied(**wrong)
