"""`GAPfm` with things changed: both ends, the gradients, what needs what, what is selected."""

import numpy as np
import pytest

from gapfm_lab.baselines.ablation import (
    CONSISTENT,
    IN_NO_RANK,
    REPAIRS,
    partly_repaired,
    varied,
    without,
)
from gapfm_teach import (
    GAPfm,
    adaptive_selection,
    cumulative_weights,
    paper,
    simulate_ratings,
    thresholding_probabilities,
)
from gapfm_teach.consistent.gap import consistent_gap
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
        *(
            # Nor is anything changed where all eight ratings of each user are selected.
            (varied(objective, n_selected=k, **SEEDED), {"objective": objective})
            for objective in ("consistent", "geometric")
            for k in (None, 8)
        ),
    ],
)
def test_its_ends_are_gapfm(train, ablation, same_as):
    known, found = GAPfm(**same_as, **SEEDED).fit(train), ablation.fit(train)
    for user in (0, 7):
        np.testing.assert_allclose(found.predict(user), known.predict(user), rtol=1e-8)


# ------------------------------------------------------------------ the gradients

CHANGES = [
    {"objective": "consistent", "gains": "linear"},
    {"objective": "geometric", "gains": "linear"},
    {"objective": "geometric", "item_weights": "gains"},
    {"objective": "geometric", "item_weights": "gains", "gains": "linear"},
    {"objective": "consistent", "n_selected": 3},
    {"objective": "geometric", "n_selected": 3},
]


def value_of_changed(changes, f, grades):
    """One user's list of all items in plain NumPy; (N,) scores and grades."""
    delta = (
        np.ones(5) if changes.get("gains") == "linear" else thresholding_probabilities(5)
    )
    weight = 0.05 if changes["objective"] == "consistent" else 0.1
    weights, rated = np.where(grades > 0, 1.0, weight), grades > 0
    if changes["objective"] == "consistent":
        return consistent_gap(f, grades, delta, 1.0, weights)
    gains = cumulative_weights(delta)
    of_items = gains / gains[5] if "item_weights" in changes else np.arange(6) / 5
    precision = graded_precisions(f, grades, delta, 1.0, weights)[rated]
    return np.sum(of_items[grades[rated]] * np.log(precision))


def value_of_repaired(repairs, f, grades):
    """Likewise, the sums of the docstrings."""
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


ABLATIONS = [(varied(**changes), value_of_changed, changes) for changes in CHANGES]
ABLATIONS += [
    (
        partly_repaired(REPAIRS[:n], reg=0.2, learning_rate=1.0),
        value_of_repaired,
        REPAIRS[:n],
    )
    for n in range(len(REPAIRS) + 1)
]


@pytest.mark.parametrize(("ablation", "value_of", "what"), ABLATIONS)
def test_the_gradient_is_that_of_the_sum_by_what_moves(ablation, value_of, what):
    """U moves by all; V and b of the unrated, and of each user's K most misranked items."""
    train = simulate_ratings(12, 20, mean_ratings=8, random_state=0)
    listed = train.to_scipy().toarray().astype(int)
    training, rng = ablation.training(train, None), np.random.default_rng(1)
    state = training.start(3, 0.7, rng)
    U, V = training.parameters(state)
    V[:, 3:] = rng.normal(0, 0.5, V[:, 3:].shape)
    rows = np.column_stack([U, np.ones(train.n_users)])[:, : V.shape[1]]
    moves, marks = np.ones(listed.shape, bool), None
    if training.select is not None:
        marks = training.select(training.data, training.data.scores(rows, V))
        for user in range(train.n_users):
            items, grades = train.row(user)
            picked = adaptive_selection(grades, V[items] @ rows[user], what["n_selected"])
            moves[user, np.delete(items, picked)] = False
        assert not moves.all()
    context = IterationContext(1, range(train.n_users), state.sample_key)
    _, by_user, by_item = ablation.objective.gradients(training.data, U, V, context, marks)

    def summed(scores):
        return sum(value_of(what, *pair) for pair in zip(scores, listed, strict=True))

    def by_users(x):
        return summed(np.column_stack([x, rows[:, 3:]]) @ V.T)

    def by_items(x):
        """With one's own V for each user: as it was where that user's does not move."""
        return summed(np.where(moves, rows @ x.T, rows @ V.T))

    assert relative_error(by_user, central_difference(by_users, U)) < 1e-5
    assert relative_error(by_item, central_difference(by_items, V)) < 1e-5


# ------------------------------------------------------------------ what needs what


def test_chance_selects_as_many_and_its_seed_repeats_it(train):
    fits = [
        varied(n_selected=3, selection="random", n_iter=5, random_state=seed).fit(train)
        for seed in (0, 0, 1)
    ]
    one, same, other = (model.predict(0) for model in fits)
    assert np.array_equal(one, same)
    assert not np.allclose(one, other)
    adaptive = varied(n_selected=3, n_iter=5, random_state=0).fit(train)
    assert not np.allclose(one, adaptive.predict(0))


def test_without_one_goes_what_needs_it():
    assert without("smooth ranks") == ("1/Z", "item bias", "Adagrad", "large start")
    assert without("unrated in ranks") == (
        "smooth ranks", "1/Z", "item bias", "Adagrad", "large start",
    )  # fmt: skip
    assert without("large start") == CONSISTENT[:-1]


@pytest.mark.parametrize(
    ("make", "wrong", "word"),
    [
        (varied, {"objective": "paper"}, "objective must be one of"),
        (
            varied,
            {"objective": "consistent", "item_weights": "gains"},
            "has no item_weights",
        ),
        (varied, {"n_selected": 0}, "n_selected"),
        (
            partly_repaired,
            {"repairs": ("smooth ranks", "logarithm"), **PRINTED},
            "'logarithm' makes no sense without 'stars for w",
        ),
        (partly_repaired, {"repairs": ("ranks",), **PRINTED}, "repairs must be one of"),
    ],
)
def test_what_makes_no_sense_is_refused(make, wrong, word):
    with pytest.raises(ValueError, match=word):
        make(**wrong)
