"""The sums by interpolation: within the tolerance asked for of the pairs, of mpmath, of the twin."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapfm_teach import kernels, paper
from gapfm_teach.consistent.fast_sums import chebyshev_nodes, interpolated_smoothed_gap
from gapfm_teach.paper import thresholding_probabilities

RANGES = (0.0, 1e-12, 1e-3, 0.3, 2.0, 7.0, 14.0, 30.0, 60.0)


def a_user(seed, n_items, max_grade, spread, middle=0.0, shape="uniform"):
    """Scores f over exactly `spread`, grades in descending order, their weights Δ(y) and δ."""
    rng = np.random.default_rng(seed)
    f = {
        "uniform": lambda: rng.random(n_items),
        "normal": lambda: rng.normal(size=n_items),
        "two heaps": lambda: rng.integers(0, 2, n_items) + 0.01 * rng.random(n_items),
    }[shape]()
    if n_items > 1:
        f = (f - f.min()) / max(np.ptp(f), 1e-300) - 0.5
    grades = np.sort(rng.integers(1, max_grade + 1, n_items))[::-1]
    delta = thresholding_probabilities(max_grade)
    return middle + spread * f, grades, np.append(0.0, np.cumsum(delta))[grades], delta


def units(f, weights):
    """What the two promises of `chebyshev_sums` count in: of the value, of each coefficient."""
    g, h = paper.logistic(f), paper.logistic(-f)
    before = np.concatenate([[0.0], np.cumsum(weights[::-1])[:-1]])[::-1]  # of lower grades
    total = (
        weights * np.arange(1, f.size + 1) + before
    )  # Σ_j β_ij: own for the grades above
    return g @ total, g.max() * h.max() * total


def run(function, f, weights, *options):
    coefficients = np.empty(f.size)
    return function(f, weights, *options, coefficients), coefficients


def assert_within(tolerance, f, weights, found, known):
    # Beside the tolerance: what rounding alone makes, of the pairs as well.
    allowed = [unit * (tolerance + 1e-13) for unit in units(f, weights)]
    assert abs(found[0] - known[0]) <= allowed[0]
    assert (np.abs(found[1] - known[1]) <= allowed[1]).all()


def test_units_add_up_beta():
    f, grades, weights, delta = a_user(3, 17, 5, 2.0)
    total = paper.pair_weights(grades, delta).sum(axis=1)
    value, each = units(f, weights)
    assert value == pytest.approx(paper.logistic(f) @ total)
    np.testing.assert_allclose(each / each[0], total / total[0])


@pytest.mark.parametrize("spread", RANGES)
@pytest.mark.parametrize("max_grade", [1, 2, 5, 10])
def test_error_against_the_pairs_stays_under_the_tolerance(max_grade, spread):
    for n_items in (1, 2, 3, 10, 301, 2500):
        for middle in (-50.0, -8.0, 0.0, 1.5, 20.0):
            for shape in ("uniform", "normal", "two heaps"):
                f, _, weights, _ = a_user(
                    n_items, n_items, max_grade, spread, middle, shape
                )
                known = run(kernels.pair_sums, f, weights)
                for tolerance in (1e-3, 1e-8, 1e-11):
                    found = run(kernels.chebyshev_sums, f, weights, tolerance)
                    assert_within(tolerance, f, weights, found, known)


@pytest.mark.parametrize("shape", ["uniform", "normal"])
@pytest.mark.parametrize("spread", [0.5, 3.0, 8.0, 14.0])
def test_of_the_largest_coefficient_too_where_scores_are_spread_as_trained_ones_are(
    spread, shape
):
    """Stronger than the promise, which leaves room for a lone item far from all the others."""
    for middle in (-5.0, 0.0, 5.0):
        f, _, weights, _ = a_user(1, 1000, 5, spread, middle, shape)
        value, known = run(kernels.pair_sums, f, weights)
        fast, found = run(kernels.chebyshev_sums, f, weights, 1e-8)
        assert fast == pytest.approx(value, rel=1e-8)
        assert np.abs(found - known).max() <= 1e-8 * np.abs(known).max()


@pytest.mark.parametrize(("spread", "middle"), [(0.0, 0.3), (4.0, -30.0), (60.0, 10.0)])
def test_against_equation_8_and_its_gradient_in_mpmath(spread, middle):
    f, grades, weights, delta = a_user(4, 9, 4, spread, middle)
    beta = paper.pair_weights(grades, delta)
    with mpmath.workdps(60):
        x = [mpmath.mpf(float(score)) for score in f]

        def g(z):
            return 1 / (1 + mpmath.exp(-z))

        def gap(*x):
            pairs = [(i, j) for i in range(9) for j in range(9)]
            return mpmath.fsum(
                float(beta[i, j]) * g(x[i]) * g(x[j] - x[i]) for i, j in pairs
            )

        value = float(gap(*x))
        # Central differences at 60 digits: exact far beyond double precision.
        step, slopes = mpmath.mpf(10) ** -20, []
        for i in range(9):
            up, down = list(x), list(x)
            up[i], down[i] = x[i] + step, x[i] - step
            slopes.append(float((gap(*up) - gap(*down)) / (2 * step)))
    for tolerance in (1e-4, 1e-8, 1e-11):
        found = run(kernels.chebyshev_sums, f, weights, tolerance)
        assert_within(tolerance, f, weights, found, (value, np.array(slopes)))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_items=st.integers(0, 60),
    max_grade=st.integers(1, 10),
    spread=st.sampled_from(RANGES),
    middle=st.sampled_from([-20.0, 0.0, 3.0]),
    tolerance=st.sampled_from([1e-3, 1e-8, 1e-11]),
)
def test_the_twin_keeps_the_promise(seed, n_items, max_grade, spread, middle, tolerance):
    f, grades, weights, delta = a_user(seed, n_items, max_grade, spread, middle)
    found = interpolated_smoothed_gap(f, grades, delta, tolerance=tolerance)
    if n_items == 0:
        assert found[0] == 0.0
        assert found[1].shape == (0,)
        return
    known = (
        paper.smoothed_gap(f, grades, delta),
        paper.smoothed_gap_gradient(f, grades, delta),
    )
    assert_within(tolerance, f, weights, found, known)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-8, 1e-12])
def test_kernel_and_twin_take_as_many_nodes(tolerance):
    for spread in (0.0, 1e-310, 1e-5, 0.7, 5.0, 60.0, 1400.0):
        nodes = kernels.chebyshev_nodes(spread, tolerance)
        assert nodes == chebyshev_nodes(spread, tolerance)
        assert nodes >= 1


@pytest.mark.parametrize("spread", [0.01, 0.5, 2.0, 5.0, 14.0, 30.0, 60.0])
@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-8, 1e-11])
def test_so_many_nodes_suffice_for_any_one_item(spread, tolerance):
    """Sums are no worse than their terms, so the terms settle it for every list of scores.

    A tenth of the tolerance for t, on which smooth ranks depend; half of it for t (2 t - 1), as a
    coefficient adds two errors.
    """
    degree, half = chebyshev_nodes(spread, tolerance) - 1, spread / 2
    x = np.linspace(-half, half, 997)
    terms = (
        (paper.logistic, 0.1),
        (lambda z: paper.logistic(z) * (2 * paper.logistic(z) - 1), 0.5),
        (paper.logistic_derivative, 1.0),
    )
    for term, most in terms:
        for f in np.linspace(-half, half, 33):
            line = np.polynomial.Chebyshev.interpolate(
                lambda x, f=f, term=term: term(f - x), degree, [-half, half]
            )
            assert np.abs(line(x) - term(f - x)).max() <= most * tolerance + 1e-12


@pytest.mark.parametrize("bad", [0.0, -1e-8, np.nan, np.inf])
def test_the_twin_refuses_a_tolerance_that_is_none(bad):
    with pytest.raises(ValueError, match="tolerance must be finite and above 0"):
        interpolated_smoothed_gap([0.1, 0.2], [2, 1], [0.5, 1.0], tolerance=bad)


# ------------------------------------------------------------------ the automatic choice


def user_sums(f, weights, tolerance):
    scratch = np.full((5, f.size + 8), np.nan)  # what stands there must not matter
    return run(kernels.user_sums, f, weights, tolerance, scratch)


@pytest.mark.parametrize("n_items", [1, 2, 7, 8, 9, 61, 150, 900, 5000])
@pytest.mark.parametrize("spread", [0.0, 1.0, 9.0, 60.0, 1300.0, 5000.0])
def test_the_automatic_choice_keeps_the_promise(n_items, spread):
    f, _, weights, _ = a_user(n_items, n_items, 5, spread, 2.0)
    assert_within(
        1e-8, f, weights, user_sums(f, weights, 1e-8), user_sums(f, weights, None)
    )


@pytest.mark.parametrize(
    ("n_items", "spread", "by_nodes"),
    [(40, 6.0, False), (5000, 6.0, True), (1000, 1300.0, False)],
)
def test_nodes_for_many_items_whose_range_does_not_take_too_many(n_items, spread, by_nodes):
    f, _, weights, _ = a_user(0, n_items, 5, spread)
    chosen = user_sums(f, weights, 1e-3)[1]
    pairs = run(kernels.pair_sums, f, weights)[1]
    nodes = run(kernels.chebyshev_sums, f, weights, 1e-3)[1]
    assert not np.array_equal(pairs, nodes)
    np.testing.assert_array_equal(chosen, nodes if by_nodes else pairs)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(("n_items", "place"), [(4, 1), (1500, 0), (1500, 700)])
def test_a_score_that_is_no_number_is_not_hidden(bad, n_items, place):
    f, _, weights, _ = a_user(0, n_items, 5, 3.0)
    f[place] = bad
    _, coefficients = user_sums(f, weights, 1e-8)
    assert not np.isfinite(coefficients).all()
