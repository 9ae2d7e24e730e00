"""The consistent objective and its gradients: against finite differences, exact GAP, the catalogue."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapfm_teach import (
    graded_average_precision,
    kernels,
    simulate_ratings,
    thresholding_probabilities,
)
from gapfm_teach.consistent.gap import consistent_gap, consistent_gap_gradient
from gapfm_teach.consistent.measures import consistent_objective, sample_unrated
from gapfm_teach.consistent.ranks import consistent_rank
from gapfm_teach.gradcheck import central_difference, complex_step, relative_error

DELTA = thresholding_probabilities(5)


def a_list(seed, n=25, n_unrated=10, spread=1.0):
    """Grades in descending order, 0 for the unrated at the end; scores; weights."""
    rng = np.random.default_rng(seed)
    rated = np.sort(rng.integers(1, 6, n - n_unrated))[::-1]
    grades = np.concatenate([rated, np.zeros(n_unrated, dtype=np.int64)])
    weights = np.repeat([1.0, 7.3], [n - n_unrated, n_unrated])
    return grades, rng.normal(0, spread, n), weights


# ---------------------------------------------------------------- the gradient in NumPy


@pytest.mark.parametrize("tau", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_gradient_matches_both_numerical_derivatives(seed, weighted, tau):
    grades, scores, weights = a_list(seed)
    rest = (grades, DELTA, tau, weights if weighted else None)
    gradient = consistent_gap_gradient(scores, *rest)
    by_complex = complex_step(lambda f: consistent_gap(f, *rest), scores)
    by_difference = central_difference(lambda f: consistent_gap(f, *rest), scores)
    assert relative_error(gradient, by_complex) < 1e-12
    assert relative_error(gradient, by_difference) < 1e-7


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), shift=st.floats(-300, 300), tau=st.floats(0.1, 10))
def test_a_constant_added_to_all_scores_changes_nothing(seed, shift, tau):
    grades, scores, weights = a_list(seed, 12, 5)
    rest = (grades, DELTA, tau, weights)
    before, after = consistent_gap(scores, *rest), consistent_gap(scores + shift, *rest)
    assert after == pytest.approx(before, rel=1e-9)
    gradient = consistent_gap_gradient(scores, *rest)
    assert abs(gradient.sum()) <= 1e-13 * np.abs(gradient).sum() + 1e-300


def test_tends_to_gap_and_its_gradient_to_0_as_tau_does():
    grades, _, _ = a_list(4)
    scores = np.random.default_rng(4).permutation(25) * 0.5
    exact = graded_average_precision(grades, scores, delta=DELTA)
    off = [
        abs(consistent_gap(scores, grades, DELTA, tau) - exact) for tau in (1, 0.1, 0.01)
    ]
    assert off[0] > off[1] > off[2]
    assert off[2] < 1e-12
    assert np.abs(consistent_gap_gradient(scores, grades, DELTA, 0.01)).max() < 1e-12


def test_raising_all_scores_is_no_way_out_of_a_wrong_order():
    """What the objective as printed permits: its supremum is reached in any order."""
    grades = np.array([1, 2, 3, 4, 5, 0, 0, 0])
    right, wrong = 3.0 * np.argsort(np.argsort(grades, kind="stable")), -3.0 * np.arange(8)
    for shift in (0.0, 5.0, 50.0):
        at_best = consistent_gap(right + shift, grades, DELTA)
        assert consistent_gap(wrong + shift, grades, DELTA) < at_best
        assert consistent_gap(-right + shift, grades, DELTA) < 0.5 * at_best
    assert consistent_gap(right, grades, DELTA) > 0.9


def test_the_gradient_lifts_a_low_good_item_and_lowers_a_high_unrated_one():
    gradient = consistent_gap_gradient([0.0, 1.0, 2.0], [5, 3, 0], DELTA)
    assert gradient[0] > 0 > gradient[2]


def test_nothing_rated_gives_zeros():
    assert consistent_gap_gradient([1.0, 2.0], [0, 0], DELTA).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], [1.0, np.nan]])
@pytest.mark.parametrize("function", [consistent_gap, consistent_gap_gradient])
def test_weights_that_are_none_are_named(function, weights):
    with pytest.raises(ValueError, match="weights must be 2 finite numbers"):
        function([0.3, 0.1], [5, 0], DELTA, 1.0, weights)


# ---------------------------------------------------------------- the sample


@settings(deadline=None)
@given(
    seed=st.integers(0, 10**6), n_items=st.integers(1, 60), n=st.integers(0, 80),
    share=st.floats(0, 1),
)  # fmt: skip
def test_a_sample_is_of_unrated_items_and_the_kernel_draws_the_same(
    seed, n_items, n, share
):
    rng = np.random.default_rng(seed)
    rated = np.flatnonzero(rng.random(n_items) < share)
    uniforms = rng.random(n)
    items, stand_for = sample_unrated(rated, uniforms, n_items)
    left = np.setdiff1d(np.arange(n_items), rated)
    assert items.size == min(n, left.size)
    assert np.unique(items).size == items.size or n < left.size
    assert np.isin(items, left).all()
    assert stand_for * items.size == pytest.approx(left.size if n else 0)
    out = np.full(n, -1)
    assert kernels.draw_unrated(rated, uniforms, n_items, out) == items.size
    assert out[: items.size].tolist() == items.tolist()


@pytest.mark.parametrize(
    ("rated", "uniforms", "words"),
    [
        ([0, 1], [-0.5, 0.2], r"uniforms must be .* from 0 to below 1, got .*-0\.5"),
        ([0, 1], [1.0, 0.2], "uniforms must be"),
        ([0, 1], [np.nan, 0.2], "uniforms must be .*nan"),
        ([0, 1], 0.3, "uniforms must be a row"),
        ([0, 10], [0.5], r"rated must be positions 0 to 9, got rated\[1\] = 10"),
    ],
)
def test_a_sample_that_cannot_be_is_refused(rated, uniforms, words):
    with pytest.raises(ValueError, match=words):
        sample_unrated(rated, uniforms, 10)


def test_the_objective_names_what_does_not_fit():
    ratings = simulate_ratings(6, 20, mean_ratings=6, random_state=0)
    U, V, b = np.zeros((6, 3)), np.zeros((20, 3)), np.zeros(20)
    for change, words in (
        (
            {"uniforms": np.zeros((5, 4))},
            r"uniforms has shape \(5, 4\).*each of the 6 users",
        ),
        ({"unrated_weight": -1}, "unrated_weight must be .*got -1"),
        ({"tau": 0}, "tau must be"),
        ({"reg": -1}, "reg must be"),
    ):
        with pytest.raises(ValueError, match=words):
            consistent_objective(U, V, b, ratings, **({"reg": 0.1} | change))


def test_every_unrated_item_is_as_likely_as_every_other():
    rng, counts, draws = np.random.default_rng(0), np.zeros(20), 20_000
    for _ in range(draws):
        np.add.at(counts, sample_unrated(np.array([0, 3, 19]), rng.random(5), 20)[0], 1)
    expected = np.full(17, draws * 5 / 17)
    assert (counts[[0, 3, 19]] == 0).all()
    left = np.delete(counts, [0, 3, 19])
    assert np.abs(left - expected).max() < 5 * np.sqrt(expected[0])


def test_a_sample_estimates_the_rank_in_the_catalogue():
    rng = np.random.default_rng(1)
    scores, rated = rng.normal(0, 1, 400), np.arange(0, 400, 40)
    whole = consistent_rank(scores)[rated]
    found = []
    for _ in range(3000):
        others, stand_for = sample_unrated(rated, rng.random(40), 400)
        weights = np.repeat([1.0, stand_for], [rated.size, others.size])
        listed = np.concatenate([rated, others])
        found.append(consistent_rank(scores[listed], weights=weights)[: rated.size])
    error = np.std(found, axis=0) / np.sqrt(len(found))
    assert (np.abs(np.mean(found, axis=0) - whole) < 5 * error).all()
    assert (error < 0.01 * whole).all()
    # Jensen: 1/R̂ is convex, so a sample makes it too large in the mean.
    assert (np.mean(1 / np.array(found), axis=0) > 1 / whole).all()


def test_a_sample_as_large_as_the_catalogue_is_the_catalogue():
    ratings = simulate_ratings(6, 20, mean_ratings=6, random_state=0)
    rng = np.random.default_rng(2)
    U, V, b = rng.normal(size=(6, 3)), rng.normal(size=(20, 3)), rng.normal(size=20)
    whole = consistent_objective(U, V, b, ratings, reg=0.1)
    uniforms = rng.random((6, 30))
    assert consistent_objective(U, V, b, ratings, reg=0.1, uniforms=uniforms) == whole
    few = consistent_objective(U, V, b, ratings, reg=0.1, uniforms=uniforms[:, :4])
    assert few != whole
