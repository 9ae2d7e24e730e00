"""The power mean of graded precisions: GAP at one end, and what lies below it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapfm_teach import thresholding_probabilities
from gapfm_teach.consistent.gap import consistent_gap
from gapfm_teach.consistent.power_mean import (
    consistent_power_mean,
    consistent_power_mean_gradient,
    graded_precisions,
)
from gapfm_teach.metrics import graded_average_precision
from gapfm_teach.paper import cumulative_weights

DELTA = thresholding_probabilities(5)


def a_list(seed, n_rated=9, n_unrated=6):
    rng = np.random.default_rng(seed)
    grades = np.concatenate([rng.integers(1, 6, n_rated), np.zeros(n_unrated, int)])
    return rng.normal(0, 2, n_rated + n_unrated), grades


def mean(precision, weights, p):
    """The power mean as a textbook has it."""
    weights = weights / weights.sum()
    if p == 0:
        return np.exp(np.sum(weights * np.log(precision)))
    return np.sum(weights * precision**p) ** (1 / p)


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), tau=st.floats(0.05, 5))
def test_gap_is_the_arithmetic_mean_weighted_by_worth(seed, tau):
    scores, grades = a_list(seed)
    precision = graded_precisions(scores, grades, DELTA, tau)
    worth = cumulative_weights(DELTA)[grades]
    expected = consistent_gap(scores, grades, DELTA, tau)
    assert np.nansum(worth * precision) / worth.sum() == pytest.approx(expected)
    assert np.isnan(precision).tolist() == (grades == 0).tolist()
    rated = precision[grades > 0]
    assert ((rated > 0) & (rated <= 1 + 1e-12)).all()


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), p=st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]))
def test_the_value_grows_with_the_power_mean_alone(seed, p):
    scores, grades = a_list(seed)
    rated = grades > 0
    precision, v = graded_precisions(scores, grades, DELTA)[rated], grades[rated] / 5
    average = mean(precision, v, p)
    expected = np.log(average) if p == 0 else (average**p - 1) / p
    found = consistent_power_mean(scores, grades, DELTA, p)
    assert found == pytest.approx(v.sum() * expected, rel=1e-9)


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), tau=st.sampled_from([1e-3, 0.5, 2.0]))
def test_the_logarithm_of_gap_lies_above_the_mean_logarithm(seed, tau):
    """Jensen, with GAP's own weights; with others it is no bound of GAP."""
    scores, grades = a_list(seed)
    scores = np.arange(scores.size) + 0.1 * np.tanh(scores)  # no ties
    rated = grades > 0
    precision = graded_precisions(scores, grades, DELTA, tau)[rated]
    worth = cumulative_weights(DELTA)[grades][rated]
    gap = consistent_gap(scores, grades, DELTA, tau)
    means = [mean(precision, worth, p) for p in (-1, 0, 0.5, 1)]
    assert means == sorted(means)
    assert means[-1] == pytest.approx(gap)
    if tau == 1e-3:
        assert means[1] <= graded_average_precision(grades, scores, delta=DELTA) + 1e-9


def test_with_the_grades_for_weights_it_is_no_bound_of_gap():
    """A film of few stars in its place counts more there than in GAP."""
    scores, grades = np.array([3.0, 2.0, 1.0]), np.array([1, 0, 5])
    precision = graded_precisions(scores, grades, DELTA, 1e-3)[grades > 0]
    gap = consistent_gap(scores, grades, DELTA, 1e-3)
    assert mean(precision, grades[grades > 0] / 5, 0) > gap
    assert mean(precision, cumulative_weights(DELTA)[grades][grades > 0], 0) < gap


@pytest.mark.parametrize("seed", range(3))
def test_the_exponent_0_is_where_small_ones_lead(seed):
    scores, grades = a_list(seed)
    at_0, near = (consistent_power_mean(scores, grades, DELTA, p) for p in (0.0, 1e-9))
    assert near == pytest.approx(at_0, rel=1e-7)
    slopes = [consistent_power_mean_gradient(scores, grades, DELTA, p) for p in (0.0, 1e-9)]
    np.testing.assert_allclose(*slopes, rtol=1e-6)


def test_a_film_far_down_is_given_up_by_the_arithmetic_mean_alone():
    """One film among n equals above it: its pull falls as 1/n² there, as 1/n here."""
    pulls = {}
    for n in (100, 1000):
        scores, grades = np.append(np.zeros(n), -4.0), np.append(np.zeros(n, int), 5)
        for p in (0.0, 1.0):
            gradient = consistent_power_mean_gradient(scores, grades, DELTA, p)
            pulls[n, p] = gradient[-1]
    assert pulls[100, 1.0] / pulls[1000, 1.0] == pytest.approx(10, rel=0.05)
    assert pulls[100, 0.0] / pulls[1000, 0.0] == pytest.approx(1, rel=0.05)


def test_bad_exponents_are_named():
    for function in (consistent_power_mean, consistent_power_mean_gradient):
        with pytest.raises(ValueError, match="exponent must be finite and at least -1"):
            function([1.0], [1], DELTA, -2.0)
        with pytest.raises(TypeError, match="exponent must be a number"):
            function([1.0], [1], DELTA, "geometric")
