"""Measures with smooth ranks, and their gradients: against differences, exact metrics, the kernel."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from smooth_measures import measure_of, shape_of

from gapfm_teach import (
    average_precision,
    expected_reciprocal_rank,
    graded_average_precision,
    graded_precision,
    graded_recall,
    kernels,
    thresholding_probabilities,
)
from gapfm_teach.consistent.related_measures import (
    consistent_expected_reciprocal_rank,
    consistent_graded_precision,
    consistent_graded_recall,
    smooth_cutoff,
    stopping_probabilities,
)
from gapfm_teach.gradcheck import central_difference, complex_step, relative_error
from gapfm_teach.training.objectives import SMOOTH_RANKS, grade_fractions

DELTA = thresholding_probabilities(5)
every_measure = pytest.mark.parametrize("name", SMOOTH_RANKS)


def a_list(seed, n_rated=15, n_unrated=10, spread=1.0, max_grade=5):
    """Grades in descending order, 0 for the unrated at the end; scores; weights."""
    rng = np.random.default_rng(seed)
    rated = np.sort(rng.integers(1, max_grade + 1, n_rated))[::-1]
    grades = np.concatenate([rated, np.zeros(n_unrated, dtype=np.int64)])
    weights = np.repeat([1.0, 7.3], [n_rated, n_unrated])
    return grades, rng.normal(0, spread, n_rated + n_unrated), weights


def power(x, p):
    return np.log(x) if p == 0 else (x**p - 1) / p


def by_definition(name, scores, grades, weights, tau, n):
    """The formulas of the docstrings in plain loops, item by item; grades to 5."""

    def g(x):
        return 1 / (1 + np.exp(-x))

    items = range(len(scores))
    gain = {0: 0.0} | {
        y: sum((2**k - 1) / 32 for k in range(1, y + 1)) for y in range(1, 6)
    }
    if name == "average_precision":
        gain = dict.fromkeys(gain, 1.0) | {0: 0.0}
    rank = [
        0.5 + sum(weights[j] * g((scores[j] - scores[i]) / tau) for j in items)
        for i in items
    ]
    best = sorted((gain[y] for y in grades if y), reverse=True)
    c = best[min(n, len(best)) - 1]
    total = 0.0
    for i in items:
        others = [(j, g((scores[j] - scores[i]) / tau)) for j in items if j != i]
        own = gain[grades[i]]
        inside = 1 / (1 + (rank[i] / (n + 0.5)) ** (1 / tau))
        if name in ("consistent", "average_precision"):
            pairs = own + sum(min(own, gain[grades[j]]) * t for j, t in others)
            total += pairs / rank[i] / sum(best)
        elif name == "geometric" and own:
            pairs = own + sum(min(own, gain[grades[j]]) * t for j, t in others)
            total += grades[i] / 5 * power(pairs / own / rank[i], shape_of(name, n))
        elif name == "graded_recall":
            total += own * inside / sum(best)
        elif name == "graded_precision":
            total += min(own, c) / c * inside / n
        elif name == "expected_reciprocal_rank":
            arrive = np.prod([1 - (2.0 ** grades[j] - 1) / 32 * t for j, t in others])
            total += (2.0 ** grades[i] - 1) / 32 / rank[i] * arrive
    return total


def exact(name, grades, scores, n):
    """By `metrics`, but for GP@n: there c is the user's n-th best grade, counted by hand."""
    if name == "consistent":
        return graded_average_precision(grades, scores, delta=DELTA)
    if name == "average_precision":
        return average_precision(grades > 0, scores)
    if name == "graded_recall":
        return graded_recall(grades, scores, at=n, delta=DELTA)
    if name == "expected_reciprocal_rank":
        return expected_reciprocal_rank(grades, scores, max_grade=5)
    gain = np.append(0.0, np.cumsum(DELTA))[grades]
    if name == "geometric":
        total = 0.0
        for i in np.flatnonzero(grades):
            shown = scores >= scores[i]
            precision = np.minimum(gain[i], gain[shown]).sum() / gain[i] / shown.sum()
            total += grades[i] / 5 * power(precision, shape_of(name, n))
        return total
    best = np.sort(gain[gain > 0])[::-1]
    c = best[min(n, best.size) - 1]
    top = np.argsort(-scores)[:n]
    return np.minimum(gain[top] / c, 1.0).sum() / n


# ---------------------------------------------------------------- values


@every_measure
@pytest.mark.parametrize("n", [1, 3, 20])
@pytest.mark.parametrize("tau", [0.5, 1.0, 3.0])
def test_value_is_the_formula_written_out(name, n, tau):
    grades, scores, weights = a_list(n)
    value, _ = measure_of(name, 5, n)
    expected = by_definition(name, scores, grades, weights, tau, n)
    assert value(scores, grades, tau=tau, weights=weights) == pytest.approx(
        expected, rel=1e-12
    )


@every_measure
@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), n_rated=st.integers(1, 15), n=st.integers(1, 20))
def test_tends_to_the_exact_measure_as_tau_to_0(name, seed, n_rated, n):
    grades, _, _ = a_list(seed, n_rated)
    scores = np.random.default_rng(seed).permutation(grades.size) * 0.5
    value, gradient = measure_of(name, 5, n)
    expected = exact(name, grades, scores, n)
    assert value(scores, grades, tau=1e-3) == pytest.approx(expected, abs=1e-9)
    assert np.abs(gradient(scores, grades, tau=1e-3)).max() < 1e-5


def test_precision_is_the_metrics_one_where_the_item_shown_at_rank_n_is_nth_best():
    grades = np.array([5, 4, 2, 5, 0, 1, 3])
    order = np.array([3, 6, 1, 4, 0, 2, 5])  # ranks 1 to 7: grades 5 3 4 0 5 2 1
    scores = np.empty(7)
    scores[order] = -np.arange(7.0)
    for n, same in ((1, True), (3, True), (2, False)):  # best: 5 5 4; shown: 5 3 4
        shown = graded_precision(grades, scores, at=n, delta=DELTA)
        counted = exact("graded_precision", grades, scores, n)
        assert (counted == pytest.approx(shown)) == same
        found = consistent_graded_precision(scores, grades, DELTA, n, 1e-3)
        assert (found == pytest.approx(shown)) == same


def test_the_cutoff_is_half_at_half_past_n_and_keeps_a_tail():
    assert smooth_cutoff(5.5, 5, 1.0) == 0.5
    assert smooth_cutoff(np.array([5.0, 6.0]), 5, 1e-3).tolist() == pytest.approx([1, 0])
    ranks = np.array([1e3, 1e6])
    np.testing.assert_allclose(smooth_cutoff(ranks, 5, 1.0), 5.5 / ranks, rtol=0.01)


@pytest.mark.parametrize("max_grade", [1, 2, 5, 10, 60])
def test_stopping_probabilities_are_errs_and_below_1(max_grade):
    p = stopping_probabilities(max_grade)
    expected = [(2**y - 1) / 2**max_grade for y in range(max_grade + 1)]
    np.testing.assert_allclose(p, expected, rtol=1e-15)
    assert (p < 1).all()


# ---------------------------------------------------------------- gradients


@every_measure
@pytest.mark.parametrize("tau", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("n_rated", [1, 4, 15])
def test_gradient_matches_both_numerical_derivatives(name, n_rated, weighted, tau):
    grades, scores, weights = a_list(n_rated, n_rated)
    rest = {"grades": grades, "tau": tau, "weights": weights if weighted else None}
    value, gradient = measure_of(name, 5)
    for at in (scores, np.round(scores)):  # without ties, and with
        found = gradient(at, **rest)
        by_complex = complex_step(lambda f: value(f, **rest), at)
        assert relative_error(found, by_complex) < 1e-11
        # A difference of values near 1 has no more digits than that.
        by_difference = central_difference(lambda f: value(f, **rest), at)
        assert np.abs(found - by_difference).max() < 1e-7 * np.abs(found).max() + 1e-9


@every_measure
@settings(deadline=None)
@given(seed=st.integers(0, 10**6), shift=st.floats(-300, 300), tau=st.floats(0.1, 10))
def test_a_constant_added_to_all_scores_changes_nothing(name, seed, shift, tau):
    grades, scores, weights = a_list(seed, 7, 5)
    value, gradient = measure_of(name, 5, 3)
    before, after = (
        value(f, grades, tau=tau, weights=weights) for f in (scores, scores + shift)
    )
    assert after == pytest.approx(before, rel=1e-9)
    slope = gradient(scores, grades, tau=tau, weights=weights)
    assert abs(slope.sum()) <= 1e-13 * np.abs(slope).sum() + 1e-300


@every_measure
@settings(deadline=None)
@given(seed=st.integers(0, 10**6), tau=st.floats(0.05, 10), n=st.integers(1, 12))
def test_values_stay_in_bounds(name, seed, tau, n):
    grades, scores, weights = a_list(seed, 9, 3)
    value, _ = measure_of(name, 5, n)
    # The soft cut-off lets in more than n items, and precision divides by n.
    most = max(1, 9 / n) if name == "graded_precision" else 1
    least = 0
    if name == "geometric":  # 0 for the best list; no rank is below W
        most, lowest = 0, power(1 / weights.sum(), shape_of(name, n))
        least = 9 * lowest
    assert least <= value(scores, grades, tau=tau, weights=weights) <= most


@every_measure
def test_an_unrated_item_is_never_lifted_and_the_only_rated_one_never_lowered(name):
    grades, scores, weights = a_list(5)
    _, gradient = measure_of(name, 5)
    assert (gradient(scores, grades, weights=weights)[grades == 0] < 0).all()
    assert gradient([0.0, 1.0, 2.0], [3, 0, 0])[0] > 0


@every_measure
def test_nothing_rated_is_as_in_the_metrics(name):
    value, gradient = measure_of(name, 5)
    none_or_0 = exact(name, np.zeros(2, int), np.array([1.0, 2.0]), 5) if (
        name != "graded_precision"
    ) else 0.0  # fmt: skip
    assert value([1.0, 2.0], [0, 0]) == pytest.approx(none_or_0, nan_ok=True)
    assert gradient([1.0, 2.0], [0, 0]).tolist() == [0.0, 0.0]


# ---------------------------------------------------------------- the kernel


def kernel(name, grades, scores, tau, n, max_grade=5, weight=7.3):
    """Value and gradient of the compiled code."""
    kind, rated, shape = SMOOTH_RANKS[name].kind, grades[grades > 0], shape_of(name, n)
    gains = SMOOTH_RANKS[name].gains(max_grade)[rated]
    item_weights = grade_fractions(max_grade)[rated]
    kernels.normalize_gains(kind, shape, gains)
    coefficients, scratch = np.empty(grades.size), np.empty((3, grades.size))
    value = kernels.consistent_sums(
        scores, gains, item_weights, kind, shape, weight, tau, None, scratch, coefficients
    )
    return value, coefficients


@every_measure
@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_rated=st.integers(1, 40),
    n_unrated=st.integers(0, 39),
    spread=st.sampled_from([0.0, 1e-9, 0.1, 1.0, 30.0, 600.0, 5000.0]),
    shift=st.sampled_from([-1000.0, 0.0, 40.0, 1000.0]),
    tau=st.sampled_from([0.1, 1.0, 3.0]),
    n=st.integers(1, 50),
    max_grade=st.sampled_from([1, 2, 5, 10]),
)
def test_kernel_is_the_twin_of_the_numpy_version(
    name, seed, n_rated, n_unrated, spread, shift, tau, n, max_grade
):
    grades, scores, weights = a_list(seed, n_rated, n_unrated, spread, max_grade)
    scores = scores + shift
    value, coefficients = kernel(name, grades, scores, tau, n, max_grade)
    by_numpy, gradient = measure_of(name, max_grade, n)
    assert value == pytest.approx(
        by_numpy(scores, grades, tau=tau, weights=weights), rel=1e-10
    )
    expected = gradient(scores, grades, tau=tau, weights=weights)
    # Differences of numbers as large as 1/τ: what cancels leaves rounding behind.
    allowed = 1e-10 * np.abs(expected).max() + 1e-15 / min(1.0, tau)
    assert np.abs(coefficients - expected).max() <= allowed


@pytest.mark.parametrize("max_grade", [5, 60])
def test_a_product_of_thousands_of_small_factors_leaves_numbers(max_grade):
    """Nobody arrives at the bottom; where 1 - p rounds to 0 nothing is divided by it."""
    grades, scores = np.full(3000, max_grade), np.linspace(800.0, -500.0, 3000)
    value, coefficients = kernel(
        "expected_reciprocal_rank", grades, scores, 1.0, 5, max_grade
    )
    assert np.isfinite(coefficients).all()
    assert 0.1 < value <= 1
    few = slice(None, 300)
    value, coefficients = kernel(
        "expected_reciprocal_rank", grades[few], scores[few], 1.0, 5, max_grade
    )
    _, gradient = measure_of("expected_reciprocal_rank", max_grade)
    np.testing.assert_allclose(
        coefficients, gradient(scores[few], grades[few]), rtol=1e-9, atol=1e-14
    )


@every_measure
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_kernel_hides_neither_nan_nor_infinity(name, bad):
    grades, scores = np.array([4, 1, 0, 0]), np.array([0.3, bad, -0.2, 0.1])
    value, coefficients = kernel(name, grades, scores, 1.0, 5)
    assert not np.isfinite(value)
    assert not np.isfinite(coefficients).all()


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize("rated", [3, 0])
@pytest.mark.parametrize(
    "function", [consistent_graded_recall, consistent_graded_precision]
)
@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"cutoff": 0}, ValueError, "cutoff must be at least 1, got 0"),
        ({"cutoff": 2.5}, TypeError, "cutoff must be a whole number, got 2.5"),
        ({"tau": 0}, ValueError, "tau must be finite and above 0"),
        ({"scores": [1.0]}, ValueError, "scores has length 1 but there are 2 grades"),
        ({"grades": [3, -1]}, ValueError, r"grades\[1\] is -1"),
        ({"grades": [6, 0]}, ValueError, "delta has 5 entries but the highest grade is 6"),
        ({"weights": [1.0]}, ValueError, "weights must be 2 finite numbers"),
    ],
)
def test_bad_input_is_named(function, change, error, words, rated):
    """Also where nothing is rated."""
    good = {"scores": [1.0, 2.0], "grades": [rated, 0], "delta": DELTA, "cutoff": 5}
    with pytest.raises(error, match=words):
        function(**(good | change))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"max_grade": 3}, "max_grade must be at least 4, got 3"),
        ({"scores": [1.0, np.nan]}, r"scores\[1\] is nan"),
        ({"tau": -1}, "tau must be finite and above 0"),
    ],
)
def test_bad_input_of_the_cascade_is_named(change, words):
    good = {"scores": [1.0, 2.0], "grades": [4, 0], "max_grade": 5}
    with pytest.raises(ValueError, match=words):
        consistent_expected_reciprocal_rank(**(good | change))


def test_another_measure_is_refused_by_name():
    with pytest.raises(ValueError, match=r"objective must be one of 'consistent'.*'ndcg'"):
        measure_of("ndcg", 5)
