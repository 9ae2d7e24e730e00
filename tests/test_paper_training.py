"""Algorithm 2 of `paper`: against finite differences of (9), and the compiled model against it."""

import numpy as np
import pytest

from gapfm_teach import GAPfm, Ratings, graded_average_precision, simulate_ratings
from gapfm_teach.gradcheck import central_difference
from gapfm_teach.paper import (
    adaptive_selection,
    gap,
    gradient_ascent,
    iteration,
    objective,
    thresholding_probabilities,
)

RATINGS = simulate_ratings(60, 40, mean_ratings=12, random_state=1)
STEP = {"learning_rate": 0.02, "reg": 0.05}


def only(user):
    """The ratings of one user."""
    items, grades = RATINGS.row(user)
    return Ratings([0, len(items)], items, grades, n_items=RATINGS.n_items, max_grade=5)


@pytest.fixture
def factors():
    rng = np.random.default_rng(0)
    return rng.normal(size=(RATINGS.n_users, 2)), rng.normal(size=(RATINGS.n_items, 2))


def test_a_batch_iteration_climbs_the_gradient_of_the_objective(factors):
    U, V = factors
    U_new, V_new = iteration(U, V, RATINGS, **STEP)
    by_user = central_difference(lambda X: objective(X, V, RATINGS, reg=0.05), U)
    by_item = central_difference(lambda X: objective(U, X, RATINGS, reg=0.05), V)
    np.testing.assert_allclose((U_new - U) / 0.02, by_user, atol=1e-7)
    np.testing.assert_allclose((V_new - V) / 0.02, by_item, atol=1e-7)


def test_in_turn_each_user_sees_what_the_last_one_left(factors):
    """Users one by one, each with ratings of nobody else, are batch iterations of one user."""
    U, V = factors
    _, expected = iteration(U, V, RATINGS, in_turn=True, **STEP)
    for m in range(RATINGS.n_users):
        items, _ = RATINGS.row(m)
        _, after = iteration(U[[m]], V, only(m), **STEP)
        V = V.copy()
        V[items] = after[items]
    np.testing.assert_allclose(V, expected, rtol=1e-12)


def test_only_the_selected_items_of_a_user_move(factors):
    U, V = factors
    alone = only(0)
    items, grades = alone.row(0)
    _, V_new = iteration(U[[0]], V, alone, learning_rate=0.02, reg=0.0, n_selected=3)
    chosen = adaptive_selection(grades, V[items] @ U[0], 3)
    assert set(np.flatnonzero((V_new != V).any(axis=1))) == set(items[chosen])


@pytest.mark.parametrize("update", ["batch", "sequential"])
@pytest.mark.parametrize("n_selected", [None, 5])
def test_the_compiled_model_is_the_paper(update, n_selected):
    how = {**STEP, "n_factors": 3, "n_iter": 20, "update": update, "n_selected": n_selected}
    U, V = gradient_ascent(RATINGS, random_state=0, **how)
    model = GAPfm(random_state=0, **how).fit(RATINGS)
    np.testing.assert_allclose(model.user_factors_, U, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.item_factors_, V, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"update": "both"}, "update must be one of"),
        ({"n_iter": 0}, "n_iter must be at least 1"),
        ({"learning_rate": 0.0}, "learning_rate must be finite and above 0"),
        ({"reg": -1.0}, "reg must be finite and at least 0"),
    ],
)
def test_bad_arguments_are_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        gradient_ascent(RATINGS, **{**STEP, **wrong})


def test_gap_is_that_of_the_metrics():
    rng = np.random.default_rng(2)
    for n in (1, 2, 7, 40):
        grades, scores = rng.integers(0, 6, n), rng.normal(size=n)
        delta = thresholding_probabilities(5)
        expected = graded_average_precision(grades, scores, delta=delta)
        assert gap(grades, scores, delta) == pytest.approx(expected, nan_ok=True)
