"""Between the printed objective and the repaired ones: both ends, the gradients, what needs what."""

import numpy as np
import pytest

from gapfm_teach import (
    GAPfm,
    simulate_ratings,
    smooth,
    thresholding_probabilities,
)
from gapfm_teach.gradcheck import central_difference, relative_error
from gapfm_teach.lab.baselines.partly_repaired import (
    CONSISTENT,
    IN_NO_RANK,
    REPAIRS,
    PartlyRepaired,
    _Goal,
    without,
)
from gapfm_teach.metrics import cumulative_weights
from gapfm_teach.repaired.power_mean import graded_precisions


@pytest.mark.parametrize(
    ("repairs", "settings"),
    [
        ((), {"reg": 0.5, "learning_rate": 0.02}),
        (CONSISTENT, {"objective": "consistent", "reg": 0.06, "learning_rate": 0.3}),
        (
            REPAIRS,
            {
                "objective": "geometric",
                "reg": 1.5,
                "learning_rate": 1.0,
                "unrated_weight": 0.05,
            },
        ),
    ],
)
def test_its_ends_are_gapfm(train, repairs, settings):
    settings = {"n_iter": 20, "random_state": 3} | settings
    known = GAPfm(**settings).fit(train)
    ours = {
        name: settings[name] for name in ("reg", "learning_rate", "n_iter", "random_state")
    }
    found = PartlyRepaired(repairs, **ours).fit(train)
    for user in (0, 7):
        np.testing.assert_allclose(found.predict(user), known.predict(user), rtol=1e-8)


def value_of(repairs, U, V, train):
    """The sums of the docstrings, user by user, in plain NumPy; all unrated items are drawn."""
    delta = thresholding_probabilities(5)
    worth, total = cumulative_weights(delta), 0.0
    for user in range(train.n_users):
        items, grades = train.row(user)
        z = worth[grades].sum()
        if "smooth ranks" not in repairs:
            value = smooth.smoothed_gap(V[items] @ U[user], grades, delta)
            total += value / z if "1/Z" in repairs else value
            continue
        weight = 0.05 if "unrated count less" in repairs else 1.0
        weight = weight if "unrated in ranks" in repairs else IN_NO_RANK
        listed = np.zeros(train.n_items, int)
        listed[items] = grades
        weights = np.where(listed > 0, 1.0, weight)
        precision = graded_precisions(V @ U[user], listed, delta, 1.0, weights)[items]
        if "stars for weights" in repairs:
            terms = np.log(precision) if "logarithm" in repairs else precision - 1
            total += np.sum(grades / 5 * terms)
        elif "1/Z" in repairs:
            total += np.sum(worth[grades] * precision) / z
        else:
            total += np.sum(worth[grades] * (precision - 1))
    return total


@pytest.mark.parametrize("n", range(len(REPAIRS) + 1))
def test_each_steps_gradient_is_that_of_its_sum(n):
    train = simulate_ratings(12, 20, mean_ratings=8, random_state=0)
    model = PartlyRepaired(REPAIRS[:n], 3, reg=0.2, learning_rate=1.0)
    rng = np.random.default_rng(1)
    goal = _Goal(model, train, np.random.default_rng(0))
    state = goal.start(train, 3, 0.7, rng)
    b = (
        rng.normal(0, 0.5, train.n_items)
        if "item bias" in REPAIRS[:n]
        else state["item_bias"]
    )
    state["item_bias"] = b
    if n == 1:  # the one unrated item that is drawn stands for all, and for next to nothing
        assert goal.options.unrated_weight == IN_NO_RANK
    _, gradient = goal.gradients(state, 1)

    def value(x, name):
        U, V = goal.factors(state | {name: x})
        penalty = sum(np.sum((state | {name: x})[part] ** 2) for part in goal.learned)
        return value_of(REPAIRS[:n], U, V, train) - 0.1 * penalty

    for name in ("user_factors", "item_factors", "item_bias"):
        if name == "item_bias" and "item bias" not in REPAIRS[:n]:
            assert not gradient[name].any()
            continue
        expected = central_difference(lambda x, name=name: value(x, name), state[name])
        assert relative_error(gradient[name], expected) < 1e-5


def test_without_one_goes_what_needs_it():
    assert without("smooth ranks") == ("1/Z", "item bias", "Adagrad", "large start")
    assert without("unrated in ranks") == (
        "smooth ranks", "1/Z", "item bias", "Adagrad", "large start",
    )  # fmt: skip
    assert without("large start") == CONSISTENT[:-1]


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match="'logarithm' makes no sense without 'stars for w"):
        PartlyRepaired(("smooth ranks", "logarithm"), reg=1.0, learning_rate=1.0)
    with pytest.raises(ValueError, match="repairs must be one of"):
        PartlyRepaired(("ranks",), reg=1.0, learning_rate=1.0)
