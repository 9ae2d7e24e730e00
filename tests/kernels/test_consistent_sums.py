"""Consistent measures by interpolation: within what is promised of the pairs, for each measure."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from smooth_measures import measure_of, options_of, shape_of

from gapfm_teach import kernels, simulate_ratings
from gapfm_teach.consistent.fast_sums import interpolated_consistent_gap
from gapfm_teach.consistent.gap import consistent_gap, consistent_gap_gradient
from gapfm_teach.consistent.measures import consistent_objective
from gapfm_teach.consistent.power_mean import graded_precisions
from gapfm_teach.consistent.ranks import consistent_rank, pairwise_sigmoid
from gapfm_teach.consistent.related_measures import smooth_cutoff
from gapfm_teach.paper import thresholding_probabilities
from gapfm_teach.training.data import TrainingData
from gapfm_teach.training.objectives import SMOOTH_RANKS, configured, grade_fractions

SPREADS = (0.0, 1e-310, 1e-12, 0.3, 2.0, 7.0, 20.0, 60.0)
SHAPES = ("uniform", "normal", "two heaps", "a lone best", "a lone worst", "whole numbers")
INTERPOLATED = [name for name in SMOOTH_RANKS if name != "expected_reciprocal_rank"]
lists = {
    "seed": st.integers(0, 10**6),
    "n_rated": st.integers(1, 80),
    "n_unrated": st.integers(0, 80),
    "spread": st.sampled_from(SPREADS),
    "shape": st.sampled_from(SHAPES),
    "shift": st.sampled_from([-1000.0, 0.0, 40.0]),
    "tau": st.sampled_from([0.1, 1.0, 3.0]),
    "weight": st.sampled_from([0.01, 1.0, 300.0]),
    "max_grade": st.sampled_from([1, 2, 5, 10]),
    "tolerance": st.sampled_from([1e-3, 1e-6, 1e-8]),
}


def a_list(seed, n_rated, n_unrated, spread, shape="uniform", max_grade=5):
    """Grades, the rated first and in descending order; scores over exactly `spread`."""
    rng = np.random.default_rng(seed)
    n = n_rated + n_unrated
    f = {
        "uniform": lambda: rng.random(n),
        "normal": lambda: rng.normal(size=n),
        "two heaps": lambda: rng.integers(0, 2, n) + 0.01 * rng.random(n),
        # All others sit in the middle, where interpolation errs most, and one is far from them.
        "a lone best": lambda: np.r_[1.0, np.zeros(n - 2), -1.0][:n],
        "a lone worst": lambda: np.r_[-1.0, np.zeros(n - 2), 1.0][:n],
        "whole numbers": lambda: rng.integers(0, 4, n).astype(float),
    }[shape]() if n > 1 else np.zeros(1)  # fmt: skip
    if np.ptp(f) > 0:
        f = (f - f.min()) / np.ptp(f) - 0.5
    grades = np.zeros(n, dtype=np.int64)
    grades[:n_rated] = np.sort(rng.integers(1, max_grade + 1, n_rated))[::-1]
    return grades, spread * f


def by_kernel(function, name, grades, scores, tau, cutoff, max_grade, weight, *options):
    kind, rated, shape = SMOOTH_RANKS[name].kind, grades[grades > 0], shape_of(name, cutoff)
    gains = SMOOTH_RANKS[name].gains(max_grade)[rated]
    item_weights = grade_fractions(max_grade)[rated]
    kernels.normalize_gains(kind, shape, gains)
    found, scratch = np.full(grades.size, np.nan), np.empty((3, grades.size))
    rest = (*options, scratch, found)
    return function(scores, gains, item_weights, kind, shape, weight, tau, *rest), found


def units(name, grades, scores, tau, cutoff, max_grade, weights):
    """What the promise for each coefficient counts in: (1/τ) Σ_i (d_ik + 1/W) (|m_ik| + |m_ki|)."""
    kind, gains = SMOOTH_RANKS[name].kind, SMOOTH_RANKS[name].gains(max_grade)[grades]
    rated = gains[grades > 0].copy()
    kernels.normalize_gains(kind, shape_of(name, cutoff), rated)
    gains[grades > 0] = rated
    t, rank = pairwise_sigmoid(scores, tau), consistent_rank(scores, tau, weights)
    lower = np.minimum.outer(gains, gains)
    if kind == kernels.POWER:
        numerator = np.sum(lower * t, axis=1) + gains / 2
        precision = np.where(
            grades > 0, numerator / np.where(gains > 0, gains, 1) / rank, 1
        )
        each = grades / max_grade * precision ** shape_of(name, cutoff)
        direct = lower * (each / np.where(grades > 0, numerator, 1))[:, None]
        cost = each / rank
    elif kind == kernels.PAIRS:
        direct = lower / rank[:, None]
        cost = (np.sum(lower * t, axis=1) + gains / 2) / rank**2
    else:
        inside = smooth_cutoff(rank, cutoff, tau)
        outside = smooth_cutoff(
            1 / rank, 1 / (cutoff + 0.5) - 0.5, tau
        )  # 1 - h, all digits
        direct, cost = np.zeros_like(t), gains * inside * outside / (tau * rank)
    m = direct + np.outer(cost, weights)
    return np.sum((t * t.T + 1 / weights.sum()) * (m + m.T), axis=0) / tau


def size_of(name, grades, scores, tau, cutoff, max_grade, weights, value):
    """What the promise for the value counts in: itself, but for the power mean's logarithms."""
    if name != "geometric":
        return abs(value)
    delta = thresholding_probabilities(max_grade)
    precision = graded_precisions(scores, grades, delta, tau, weights)[grades > 0]
    return np.sum(grades[grades > 0] / max_grade * precision ** shape_of(name, cutoff))


def assert_within(tolerance, unit, total, found, known, size=None):
    # Beside the tolerance: what rounding leaves of a rank near 1 where `total` items add to it,
    # and numbers too small to have digits.
    allowed = tolerance + 2e-14 * total
    size = abs(known[0]) if size is None else size
    assert abs(found[0] - known[0]) <= allowed * size + 1e-300
    assert (np.abs(found[1] - known[1]) <= allowed * unit + 1e-300).all()


@pytest.mark.parametrize("name", INTERPOLATED)
@settings(max_examples=100, deadline=None)
@given(cutoff=st.integers(1, 50), **lists)
def test_the_kernel_keeps_the_promise(
    name, seed, n_rated, n_unrated, spread, shape, shift, tau, weight, max_grade, tolerance,
    cutoff,
):  # fmt: skip
    grades, scores = a_list(seed, n_rated, n_unrated, spread, shape, max_grade)
    scores = scores * tau + shift
    weights = np.where(grades > 0, 1.0, weight)
    found = by_kernel(
        kernels.consistent_chebyshev_sums, name, grades, scores, tau, cutoff, max_grade,
        weight, tolerance,
    )  # fmt: skip
    value, gradient = measure_of(name, max_grade, cutoff)
    rest = {"tau": tau, "weights": weights}
    known = value(scores, grades, **rest), gradient(scores, grades, **rest)
    about = (name, grades, scores, tau, cutoff, max_grade, weights)
    unit, size = units(*about), size_of(*about, known[0])
    assert_within(tolerance, unit, weights.sum() / min(1, tau), found, known, size)
    pairs = by_kernel(
        kernels.consistent_pair_sums, name, grades, scores, tau, cutoff, max_grade, weight
    )
    assert_within(1e-10, unit, weights.sum() / min(1, tau), pairs, known, size)


@pytest.mark.parametrize("name", ["graded_precision", "graded_recall"])
def test_the_promise_holds_where_the_cutoff_is_sharp(name):
    """R̂^(1/τ) makes 1/τ times as much of what R̂ errs by."""
    tau = 1e-4
    for seed in range(60):
        grades, scores = a_list(seed, 1 + seed // 5, seed % 5, 7.0, "whole numbers")
        scores, weights = scores * tau, np.ones(grades.size)
        rest = (name, grades, scores, tau, 1 + seed % 3, 5, 1.0)
        found = by_kernel(kernels.consistent_chebyshev_sums, *rest, 1e-3)
        value, gradient = measure_of(name, 5, 1 + seed % 3)
        known = (function(scores, grades, tau=tau) for function in (value, gradient))
        unit = units(*rest[:-1], weights)
        assert_within(1e-3, unit, grades.size / tau, found, tuple(known))


def test_the_promise_holds_where_few_items_stand_for_very_many():
    """At the top of the list R̂ is near 1, whatever the rest of it weighs."""
    weight, delta = 1e5, thresholding_probabilities(5)
    for seed in range(40):
        n_rated, n_unrated = 1 + seed % 3, 1 + seed // 3
        grades, scores = a_list(seed, n_rated, n_unrated, 20.0, "a lone best")
        weights = np.where(grades > 0, 1.0, weight)
        rest = ("consistent", grades, scores, 1.0, 5, 5)
        unit = units(*rest, weights)
        value, gradient = measure_of("consistent", 5)
        known = tuple(of(scores, grades, weights=weights) for of in (value, gradient))
        kernel = by_kernel(kernels.consistent_chebyshev_sums, *rest, weight, 1e-3)
        twin = interpolated_consistent_gap(
            scores, grades, delta, 1.0, weights, tolerance=1e-3
        )
        for found in (kernel, twin):
            assert_within(1e-3, unit, weights.sum(), found, known)


@settings(max_examples=100, deadline=None)
@given(**lists)
def test_the_twin_keeps_the_promise(
    seed, n_rated, n_unrated, spread, shape, shift, tau, weight, max_grade, tolerance
):
    grades, scores = a_list(seed, n_rated, n_unrated, spread, shape, max_grade)
    scores = scores * tau + shift
    weights = np.where(grades > 0, 1.0, weight)
    rest = (grades, thresholding_probabilities(max_grade), tau, weights)
    found = interpolated_consistent_gap(scores, *rest, tolerance=tolerance)
    known = consistent_gap(scores, *rest), consistent_gap_gradient(scores, *rest)
    unit = units("consistent", grades, scores, tau, 5, max_grade, weights)
    assert_within(tolerance, unit, weights.sum() / min(1, tau), found, known)
    # Items in any order, as the kernel cannot have them.
    mixed = np.random.default_rng(seed).permutation(grades.size)
    again = interpolated_consistent_gap(
        scores[mixed], grades[mixed], *rest[1:3], weights[mixed], tolerance=tolerance
    )
    assert again[0] == pytest.approx(found[0], rel=1e-9)
    rounding = (1e-9 + 2e-14 * weights.sum()) * unit
    assert (np.abs(again[1] - found[1][mixed]) <= rounding[mixed]).all()


# ---------------------------------------------------------------- the choice


@pytest.mark.slow
@pytest.mark.parametrize("name", INTERPOLATED)
@pytest.mark.parametrize("shape", ["normal", "a lone best"])
@pytest.mark.parametrize(("n_rated", "n_unrated"), [(1500, 200), (300, 2500)])
def test_long_lists_go_by_nodes_and_stay_within_the_promise(
    name, shape, n_rated, n_unrated
):
    grades, scores = a_list(1, n_rated, n_unrated, 8.0, shape)
    rest = (name, grades, scores, 1.0, 5, 5, 3.0)
    value, chosen = by_kernel(kernels.consistent_sums, *rest, kernels.TOLERANCE)
    fast, by_nodes = by_kernel(kernels.consistent_chebyshev_sums, *rest, 1e-8)
    assert value == fast
    np.testing.assert_array_equal(chosen, by_nodes)
    weights = np.where(grades > 0, 1.0, 3.0)
    unit = units(name, grades, scores, 1.0, 5, 5, weights)
    known = by_kernel(kernels.consistent_pair_sums, *rest)
    assert not np.array_equal(chosen, known[1])
    size = size_of(*rest[:6], weights, known[0])
    assert_within(1e-8, unit, weights.sum(), (value, chosen), known, size)
    # A constant added to all scores changes nothing.
    assert abs(chosen.sum()) <= 1e-8 * unit.sum()


@pytest.mark.parametrize(
    ("name", "n_rated", "spread", "weight"),
    [
        ("consistent", 40, 1.0, 1.0),  # short
        ("graded_recall", 150, 1300.0, 1.0),  # more nodes than items
        ("consistent", 2000, 1500.0, 1.0),  # too far apart for shared exponentials
        ("graded_precision", 2000, 5.0, 1e9),  # rounding would take R̂'s digits
        ("expected_reciprocal_rank", 2000, 5.0, 1.0),  # no sums, but products
    ],
)
def test_others_go_pair_by_pair(name, n_rated, spread, weight):
    grades, scores = a_list(2, n_rated, 20, spread)
    rest = (name, grades, scores, 1.0, 5, 5, weight)
    value, chosen = by_kernel(kernels.consistent_sums, *rest, kernels.TOLERANCE)
    known, by_pairs = by_kernel(kernels.consistent_pair_sums, *rest)
    assert value == known
    np.testing.assert_array_equal(chosen, by_pairs)


@pytest.mark.parametrize("name", INTERPOLATED)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_long_lists_hide_neither_nan_nor_infinity(name, bad):
    grades, scores = a_list(3, 2000, 20, 5.0)
    scores[7] = bad
    value, found = by_kernel(
        kernels.consistent_sums, name, grades, scores, 1.0, 5, 5, 1.0, kernels.TOLERANCE
    )
    assert not np.isfinite(value)
    assert not np.isfinite(found).all()


@pytest.mark.parametrize("name", INTERPOLATED)
def test_a_pass_over_short_and_long_lists(name):
    """The NumPy objective, pair by pair; and the same bits for any number of threads."""
    train = simulate_ratings(60, 1500, mean_ratings=300, random_state=0)
    counts = np.diff(train.indptr)
    assert counts.min() < 60
    assert counts.max() > 600
    rng = np.random.default_rng(4)
    U, V = rng.normal(0, 0.7, (train.n_users, 3)), rng.normal(0, 0.7, (train.n_items, 3))
    b, uniforms = rng.normal(0, 0.5, train.n_items), rng.random((train.n_users, 9))
    options = {"temperature": 0.8, "unrated_weight": 0.4, **options_of(name, 3)}
    objective, results = configured(name, options), []
    for n in (1, 2, kernels.MOST_THREADS):
        with kernels.using_threads(n):
            results.append(
                objective.sampled_gradients(TrainingData(train), U, np.c_[V, b], uniforms)
            )
    for more in results[1:]:
        for one, other in zip(results[0], more, strict=True):
            np.testing.assert_array_equal(one, other)
    settings = {"unrated_weight": 0.4, "reg": 0.0, "uniforms": uniforms}
    settings |= options_of(name, 3)
    known = consistent_objective(U, V, b, train, tau=0.8, objective=name, **settings)
    assert results[0][0] == pytest.approx(known, rel=1e-8)


# ---------------------------------------------------------------- the twin's input


def test_nothing_rated_gives_nan_and_zeros():
    value, gradient = interpolated_consistent_gap([1.0, 2.0], [0, 0], [1.0])
    assert np.isnan(value)
    assert gradient.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scores": [1.0, np.nan]}, r"scores\[1\] is nan"),
        ({"scores": [1.0]}, "scores has length 1 but there are 2 grades"),
        ({"grades": [4, 0]}, "delta has 3 entries but the highest grade is 4"),
        ({"weights": [1.0, -2.0]}, "weights must be 2 finite numbers"),
        ({"tau": 0.0}, "tau must be finite and above 0"),
        ({"tolerance": 0.0}, "tolerance must be finite and above 0"),
    ],
)
def test_bad_input_is_named(change, words):
    good = {"scores": [1.0, 2.0], "grades": [3, 0], "delta": [0.1, 0.2, 0.4]}
    with pytest.raises(ValueError, match=words):
        interpolated_consistent_gap(**(good | change))
