"""Equations (6)-(11) against loops, complex step and 50-digit arithmetic."""

import math

import mpmath
import numpy as np
import pytest
from scipy.special import expit

from gapfm_teach.gradcheck import complex_step, relative_error
from gapfm_teach.paper import (
    item_gradients,
    logistic,
    logistic_derivative,
    objective,
    pair_weights,
    smoothed_gap,
    smoothed_gap_gradient,
    thresholding_probabilities,
    user_gradient,
)
from gapfm_teach.ratings import Ratings

SPREADS = [0.1, 1.0, 5.0, 30.0]
REG = 0.05


def random_user(seed, spread, n_factors=3):
    """One user's u, V, grades and δ: 1-60 items, 1-10 grades, |score| up to `spread`."""
    rng = np.random.default_rng(seed)
    n_items, max_grade = rng.integers(1, 61), rng.integers(1, 11)
    grades = rng.integers(1, max_grade + 1, size=n_items)
    u, V = rng.normal(size=n_factors), rng.normal(size=(n_items, n_factors))
    u *= spread / np.abs(V @ u).max()
    # Give both factors a like size, so that one step suits both.
    size = math.sqrt(np.abs(u).max())
    return u / size, V * size, grades, thresholding_probabilities(max_grade)


def user_objective(u, V, grades, delta):
    """The part of (9) that belongs to this user and these items; accepts complex factors."""
    return smoothed_gap(V @ u, grades, delta) - REG / 2 * (np.sum(u**2) + np.sum(V**2))


def beta_by_loops(y_i, y_j, delta):
    """Equation (4) as printed."""
    lower, upper = sum(delta[:y_i]), sum(delta[:y_j])
    return (y_i < y_j) * lower + (y_j <= y_i) * upper


def smoothed_gap_by_loops(scores, grades, delta, g=lambda x: 1 / (1 + math.exp(-x))):
    """Equation (8) as printed."""
    return sum(
        g(f_i) * sum(beta_by_loops(y_i, y_j, delta) * g(f_j - f_i) for f_j, y_j in rated)
        for rated in [list(zip(scores, grades, strict=True))]
        for f_i, y_i in rated
    )


# (4), (6), (7)


def test_logistic_is_scipys_and_never_overflows():
    x = np.concatenate([np.linspace(-800, 800, 101), [-1e5, 0, 1e5]])
    np.testing.assert_allclose(logistic(x), expit(x), rtol=1e-14, atol=1e-300)


def test_logistic_derivative_keeps_its_digits():
    with mpmath.workdps(50):
        for x in (-700.0, -40.0, -1.0, 0.0, 1.0, 40.0, 700.0):
            e = mpmath.exp(-mpmath.mpf(x))
            exact = float(e / (1 + e) ** 2)
            assert float(logistic_derivative(x)) == pytest.approx(exact, rel=1e-13)


def test_beta_is_equation_4():
    delta = thresholding_probabilities(5)
    grades = np.array([5, 1, 3, 3, 2])
    expected = [[beta_by_loops(a, b, delta) for b in grades] for a in grades]
    np.testing.assert_allclose(pair_weights(grades, delta), expected, rtol=1e-15)


def test_an_unrated_item_has_no_weight_with_anything():
    weights = pair_weights([0, 3, 5], thresholding_probabilities(5))
    assert not weights[0].any()
    assert not weights[:, 0].any()


# (8) and (9)


@pytest.mark.parametrize("spread", SPREADS)
def test_smoothed_gap_is_equation_8(spread):
    for seed in range(4):
        u, V, grades, delta = random_user(seed, spread)
        expected = smoothed_gap_by_loops(V @ u, grades, delta)
        assert smoothed_gap(V @ u, grades, delta) == pytest.approx(expected, rel=1e-12)


def test_smoothed_gap_of_nothing_is_0():
    assert smoothed_gap([], [], [1.0]) == 0


@pytest.mark.parametrize("delta", [None, [0.2, 0.5, 0.1, 0.4, 0.3]])
def test_objective_is_equation_9(delta):
    rng = np.random.default_rng(0)
    rows = [{0: 5, 2: 1, 3: 4}, {1: 2}, {}, {0: 1, 1: 5, 2: 3, 4: 5}]
    ratings = Ratings(
        np.cumsum([0] + [len(row) for row in rows]),
        [item for row in rows for item in row],
        [grade for row in rows for grade in row.values()],
        n_items=6,
        max_grade=5,
    )
    U, V = rng.normal(size=(4, 3)), rng.normal(size=(6, 3))
    weights = [(2**level - 1) / 32 for level in range(1, 6)] if delta is None else delta
    expected = -0.3 / 2 * (sum(x * x for x in U.ravel()) + sum(x * x for x in V.ravel()))
    for m, row in enumerate(rows):
        scores = [sum(U[m, d] * V[i, d] for d in range(3)) for i in row]
        expected += smoothed_gap_by_loops(scores, row.values(), weights)
    value = objective(U, V, ratings, delta=delta, reg=0.3)
    assert value == pytest.approx(expected, rel=1e-13)


# (10) and (11)


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("seed", range(8))
def test_gradients_agree_with_complex_step(seed, spread):
    u, V, grades, delta = random_user(seed, spread)
    blind = 1e-15 * pair_weights(grades, delta).sum()
    for gradient, f, x in (
        (user_gradient, lambda x: user_objective(x, V, grades, delta), u),
        (item_gradients, lambda x: user_objective(u, x, grades, delta), V),
    ):
        value = gradient(u, V, grades, delta=delta, reg=REG)
        judge = complex_step(f, x)
        assert np.abs(value - judge).max() < 1e-10 * np.abs(judge).max() + blind


def exact_gradient(scores, grades, delta):
    """∂F/∂f of (8) by differences of 1e-20 in 60-digit arithmetic; shares no derivation."""

    def g(x):
        return 1 / (1 + mpmath.exp(-x))

    with mpmath.workdps(60):
        step, gradient = mpmath.mpf(10) ** -20, []
        f = [mpmath.mpf(float(score)) for score in scores]
        exact_delta = [mpmath.mpf(float(weight)) for weight in delta]
        for k in range(len(f)):
            up, down = [*f], [*f]
            up[k] += step
            down[k] -= step
            rise = smoothed_gap_by_loops(up, grades, exact_delta, g)
            fall = smoothed_gap_by_loops(down, grades, exact_delta, g)
            gradient.append(float((rise - fall) / (2 * step)))
    return np.array(gradient)


NEAR = np.array([0.0, 0.03, -0.02, 0.011, 0.0])
TRAPS = {
    **{f"all near {centre:+d}": centre + NEAR for centre in (-40, -5, 0, 5, 20, 40)},
    **{f"all equal to {centre:+d}": np.full(5, float(centre)) for centre in (-40, 0, 40)},
    "two clusters near 40": 38 + np.array([0.0, 2.0, 0.001, 1.999, 1.0]),
    "spread over ±800": np.array([-800.0, 800.0, 0.3, -300.0, 20.0]),
    "at both ends of ±800": np.array([-800.0, 800.0, 799.0, -799.5, -1.0]),
}


@pytest.mark.parametrize("name", TRAPS)
def test_gradient_is_right_where_naive_forms_cancel_or_overflow(name):
    scores, grades = TRAPS[name], np.array([1, 5, 2, 3, 5])
    delta = thresholding_probabilities(5)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        c = smoothed_gap_gradient(scores, grades, delta)
        u, V = np.array([1.0]), scores[:, None]
        du = user_gradient(u, V, grades, delta=delta, reg=0.0)
        dV = item_gradients(u, V, grades, delta=delta, reg=0.0)
    exact = exact_gradient(scores, grades, delta)
    assert np.abs(exact).max() > 0
    assert relative_error(c, exact) < 1e-13
    assert relative_error(dV[:, 0], exact) < 1e-13
    largest_term = np.abs(scores * exact).max()
    assert abs(du[0] - scores @ exact) <= 1e-13 * largest_term
