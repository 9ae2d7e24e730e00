"""`GAPfm` with things changed: both ends, the gradients, what needs what."""

import numpy as np
import pytest

from gapfm_lab.baselines.ablation import (
    CONSISTENT,
    IN_NO_RANK,
    REPAIRS,
    partly_repaired,
    without,
)
from gapfm_teach import (
    GAPfm,
    cumulative_weights,
    paper,
    simulate_ratings,
    thresholding_probabilities,
)
from gapfm_teach.consistent.power_mean import graded_precisions
from gapfm_teach.gradcheck import central_difference, relative_error
from gapfm_teach.training.sampling import IterationContext

SEEDED = {"n_iter": 10, "random_state": 3}
PRINTED = {"reg": 0.5, "learning_rate": 0.02}
GEOMETRIC = {
    "objective": "geometric",
    "reg": 1.5,
    "learning_rate": 1.0,
    "unrated_weight": 0.05,
}


@pytest.mark.parametrize(
    ("ablation", "same_as"),
    [
        (partly_repaired((), **PRINTED, **SEEDED), PRINTED),
        (
            partly_repaired(CONSISTENT, reg=0.06, learning_rate=0.3, **SEEDED),
            {"objective": "consistent"},
        ),
        (partly_repaired(REPAIRS, reg=1.5, learning_rate=1.0, **SEEDED), GEOMETRIC),
    ],
)
def test_its_ends_are_gapfm(train, ablation, same_as):
    known, found = GAPfm(**same_as, **SEEDED).fit(train), ablation.fit(train)
    for user in (0, 7):
        np.testing.assert_allclose(found.predict(user), known.predict(user), rtol=1e-8)


# ------------------------------------------------------------------ the gradients


def value_of_repaired(repairs, f, grades):
    """One user's list of all items in plain NumPy, the sums of the docstrings; (N,) scores and grades."""
    delta, rated = thresholding_probabilities(5), grades > 0
    gains = cumulative_weights(delta)[grades[rated]]
    z = gains.sum() if "1/Z" in repairs else 1.0
    if "smooth ranks" not in repairs:
        return paper.smoothed_gap(f[rated], grades[rated], delta) / z
    weight = 0.05 if "unrated count less" in repairs else 1.0
    weight = weight if "unrated in ranks" in repairs else IN_NO_RANK
    weights = np.where(rated, 1.0, weight)
    precision = graded_precisions(f, grades, delta, 1.0, weights)[rated]
    if "stars for weights" in repairs:
        terms = np.log(precision) if "logarithm" in repairs else precision - 1
        return np.sum(grades[rated] / 5 * terms)
    return np.sum(gains * precision) / z


@pytest.mark.parametrize("n", range(len(REPAIRS) + 1))
def test_the_gradient_is_that_of_the_sum(n):
    train = simulate_ratings(12, 20, mean_ratings=8, random_state=0)
    listed = train.to_scipy().toarray().astype(int)
    ablation = partly_repaired(REPAIRS[:n], reg=0.2, learning_rate=1.0)
    training, rng = ablation.training(train), np.random.default_rng(1)
    state = training.start(3, 0.7, rng)
    U, V = training.parameters(state)
    V[:, 3:] = rng.normal(0, 0.5, V[:, 3:].shape)
    rows = np.column_stack([U, np.ones(train.n_users)])[:, : V.shape[1]]
    context = IterationContext(1, range(train.n_users), state.sample_key)
    _, by_user, by_item = ablation.objective.gradients(training.data, U, V, context)

    def summed(scores):
        lists = zip(scores, listed, strict=True)
        return sum(value_of_repaired(REPAIRS[:n], *pair) for pair in lists)

    def by_users(x):
        return summed(np.column_stack([x, rows[:, 3:]]) @ V.T)

    assert relative_error(by_user, central_difference(by_users, U)) < 1e-5
    by_items = central_difference(lambda x: summed(rows @ x.T), V)
    assert relative_error(by_item, by_items) < 1e-5


# ------------------------------------------------------------------ what needs what


def test_without_one_goes_what_needs_it():
    assert without("smooth ranks") == ("1/Z", "item bias", "Adagrad", "large start")
    assert without("unrated in ranks") == (
        "smooth ranks", "1/Z", "item bias", "Adagrad", "large start",
    )  # fmt: skip
    assert without("large start") == CONSISTENT[:-1]


@pytest.mark.parametrize(
    ("repairs", "word"),
    [
        (("smooth ranks", "logarithm"), "'logarithm' makes no sense without 'stars for w"),
        (("ranks",), "repairs must be one of"),
    ],
)
def test_what_makes_no_sense_is_refused(repairs, word):
    with pytest.raises(ValueError, match=word):
        partly_repaired(repairs, **PRINTED)
