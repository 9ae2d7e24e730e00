"""Every metric against its definition written as loops, and against scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, ndcg_score

from gapfm_teach.metrics import (
    average_precision,
    expected_reciprocal_rank,
    graded_average_precision,
    graded_precision,
    graded_recall,
    ndcg,
    precision,
)
from gapfm_teach.paper import ranks, thresholding_probabilities

GRADED = {
    "gap": graded_average_precision,
    "gap at 3": lambda y, f: graded_average_precision(y, f, at=3),
    "gap at 3, ideal": lambda y, f: graded_average_precision(
        y, f, at=3, normalizer="ideal"
    ),
    "gap at 3, hits": lambda y, f: graded_average_precision(y, f, at=3, normalizer="hits"),
    "ndcg": ndcg,
    "ndcg at 3": lambda y, f: ndcg(y, f, at=3),
    "precision": lambda y, f: precision(y, f, at=3, threshold=2),
    "err": expected_reciprocal_rank,
    "graded precision": lambda y, f: graded_precision(y, f, at=3),
    "graded recall": lambda y, f: graded_recall(y, f, at=3),
    "ap": lambda y, f: average_precision(np.asarray(y) > 0, f),
}


@st.composite
def ranked_lists(draw, low=0, max_size=12):
    """Grades and distinct scores of one list; `low=1` for rated items only."""
    grades = draw(st.lists(st.integers(low, 5), min_size=1, max_size=max_size))
    scores = draw(st.permutations(range(len(grades))))
    return np.array(grades), np.array(scores, dtype=float)


def random_list(seed, n=15, unrated=True):
    rng = np.random.default_rng(seed)
    return rng.integers(0 if unrated else 1, 6, size=n), rng.permutation(n) / 3 - 2


def descending(n):
    return -np.arange(n, dtype=float)


def gap_by_loops(grades, scores, delta, at=None, normalizer="all"):
    """Equations (2)-(4) as printed, l running from 1; ranks counted from their definition."""
    n = len(grades)
    at = at or n
    rank = [1 + sum(other > scores[i] for other in scores) for i in range(n)]
    total = 0.0
    for i in range(n):
        for j in range(n):
            if grades[i] > 0 and grades[j] > 0 and rank[j] <= rank[i] <= at:
                lower = grades[i] if grades[i] < grades[j] else grades[j]
                for level in range(1, lower + 1):
                    total += delta[level - 1] / rank[i]
    counted = {
        "all": range(n),
        "ideal": sorted(range(n), key=lambda i: -grades[i])[:at],
        "hits": [i for i in range(n) if rank[i] <= at],
    }[normalizer]
    z = sum(delta[level - 1] for i in counted for level in range(1, grades[i] + 1))
    return total / z if z else 0.0


# Equation (5)


@pytest.mark.parametrize("max_grade", [2, 3, 5, 10])
def test_thresholding_probabilities_are_equation_5(max_grade):
    expected = [(2**level - 1) / 2**max_grade for level in range(1, max_grade + 1)]
    np.testing.assert_allclose(thresholding_probabilities(max_grade), expected, rtol=1e-15)


def test_thresholding_probabilities_of_one_grade():
    np.testing.assert_array_equal(thresholding_probabilities(1), [1.0])


# Ranks


def test_rank_1_is_the_highest_score_and_ties_keep_the_order_given():
    np.testing.assert_array_equal(ranks([0.5, 2.0, -1.0, 2.0, 0.5]), [3, 1, 5, 2, 4])


def test_many_ties_are_ranked_by_score_then_place():
    scores = np.random.default_rng(0).integers(0, 4, size=300)
    best_first = sorted(range(300), key=lambda i: (-scores[i], i))
    np.testing.assert_array_equal(ranks(scores)[best_first], np.arange(1, 301))


@pytest.mark.parametrize("name", GRADED)
def test_equal_scores_mean_the_order_given(name):
    grades, _ = random_list(1, n=40)
    metric = GRADED[name]
    assert metric(grades, np.zeros(40)) == metric(grades, descending(40))


# GAP


def test_gap_worked_by_hand():
    # 1·3/1 + ½(1 + 1) + ⅓(2 + 1 + 2) + ¼(2 + 1 + 2 + 2), over 3 + 1 + 2 + 2
    value = graded_average_precision([3, 1, 2, 2], descending(4), delta=np.ones(3))
    assert value == pytest.approx((3 + 1 + 5 / 3 + 7 / 4) / 8, rel=1e-15)
    assert value == pytest.approx(0.927083, abs=1e-6)


@pytest.mark.parametrize("at", [None, 1, 4, 15, 40])
@pytest.mark.parametrize("normalizer", ["all", "ideal", "hits"])
@pytest.mark.parametrize("delta", [None, [0.3, 0.1, 0.7, 0.0, 1.2], [1, 1, 1, 1, 1, 1, 1]])
def test_gap_is_the_triple_loop(at, normalizer, delta):
    for seed in range(5):
        grades, scores = random_list(seed)
        weights = thresholding_probabilities(grades.max()) if delta is None else delta
        value = graded_average_precision(
            grades, scores, delta=delta, at=at, normalizer=normalizer
        )
        expected = gap_by_loops(grades, scores, weights, at, normalizer)
        assert value == pytest.approx(expected, rel=1e-12)


@given(ranked_lists(max_size=20), st.lists(st.floats(0.01, 2), min_size=5, max_size=5))
def test_gap_is_the_weighted_mean_of_average_precisions(ranked, delta):
    grades, scores = ranked
    assume(grades.max() > 0)
    levels = range(1, grades.max() + 1)
    weights = [delta[level - 1] * np.sum(grades >= level) for level in levels]
    precisions = [average_precision_score(grades >= level, scores) for level in levels]
    expected = np.average(precisions, weights=weights)
    value = graded_average_precision(grades, scores, delta=delta)
    assert value == pytest.approx(expected, rel=1e-10)


@given(ranked_lists(), st.integers(1, 12))
def test_ideal_normaliser_is_the_best_value_reachable(ranked, at):
    grades, scores = ranked
    assume(grades.max() > 0)
    best = graded_average_precision(grades, grades, at=at)
    value = graded_average_precision(grades, scores, at=at)
    ideal = graded_average_precision(grades, scores, at=at, normalizer="ideal")
    assert graded_average_precision(grades, grades, at=at, normalizer="ideal") == 1
    assert ideal == pytest.approx(value / best, rel=1e-12)


@pytest.mark.parametrize("normalizer", ["all", "ideal", "hits"])
def test_gap_without_hits_is_0_and_without_ratings_nan(normalizer):
    below = [0, 0, 5]
    gap = graded_average_precision
    assert gap(below, descending(3), at=2, normalizer=normalizer) == 0
    assert math.isnan(gap([0, 0], descending(2), at=1, normalizer=normalizer))
    assert math.isnan(gap([], [], normalizer=normalizer))


@given(ranked_lists(max_size=40), st.lists(st.floats(0.01, 2), min_size=5, max_size=5))
def test_no_rounding_lifts_a_share_above_1(ranked, delta):
    grades, _ = ranked
    assume(grades.max() > 0)
    n = len(grades)
    assert 1 - 1e-12 < graded_average_precision(grades, grades, delta=delta) <= 1
    assert 1 - 1e-12 < graded_recall(grades, grades, at=n, delta=delta) <= 1


# What all of them promise


@pytest.mark.parametrize("name", GRADED)
@given(ranked=ranked_lists())
@settings(max_examples=40)
def test_only_the_order_of_the_scores_counts(name, ranked):
    grades, scores = ranked
    value = GRADED[name](grades, scores)
    for mapped in (np.exp(scores), 1e6 * scores - 3, np.arctan(scores)):
        np.testing.assert_equal(GRADED[name](grades, mapped), value)


@pytest.mark.parametrize("name", GRADED)
def test_the_order_of_the_input_does_not_matter(name):
    grades, scores = random_list(5)
    shuffle = np.random.default_rng(0).permutation(len(grades))
    assert GRADED[name](grades[shuffle], scores[shuffle]) == GRADED[name](grades, scores)


# The binary and the gain-based metrics


def test_average_precision_is_scikit_learns():
    for seed in range(10):
        grades, scores = random_list(seed, n=25)
        relevant = grades >= 3
        expected = average_precision_score(relevant, scores)
        assert average_precision(relevant, scores) == pytest.approx(expected, rel=1e-12)
        assert average_precision(relevant.astype(int), scores) == pytest.approx(expected)


def test_average_precision_of_nothing_relevant_is_nan():
    assert math.isnan(average_precision([False, False], [1, 2]))


@pytest.mark.parametrize("at", [None, 1, 3, 10, 25, 99])
def test_ndcg_is_scikit_learns_with_exponential_gains(at):
    for seed in range(10):
        grades, scores = random_list(seed, n=25)
        expected = ndcg_score([2.0**grades - 1], [scores], k=at)
        assert ndcg(grades, scores, at=at) == pytest.approx(expected, rel=1e-12)


def test_ndcg_without_a_positive_gain_is_nan():
    assert math.isnan(ndcg([0, 0, 0], [1, 2, 3]))


def test_high_grades_do_not_overflow():
    # 2^3000 is beyond float64; the second rank alone keeps the ratio 1/log2(3).
    assert ndcg([3000, 1], [0, 1]) == pytest.approx(1 / math.log2(3))
    assert graded_average_precision([3000, 0], [0, 1]) == pytest.approx(1 / 2)


@pytest.mark.parametrize("at", [1, 3, 15, 20])
def test_precision_counts_the_top(at):
    grades, scores = random_list(6)
    best_first = sorted(range(len(grades)), key=lambda i: -scores[i])[:at]
    for threshold in range(1, 6):
        hits = sum(1 for i in best_first if grades[i] >= threshold)
        assert precision(grades, scores, at=at, threshold=threshold) == hits / at


def err_by_walking(ranked, max_grade, at):
    """The mean of 1/rank over every possible walk down the list: stop at r, or nowhere."""
    total, still_reading = 0.0, 1.0
    for rank, grade in enumerate(ranked[:at], start=1):
        satisfied = (2.0**grade - 1) / 2.0**max_grade
        total += still_reading * satisfied / rank
        still_reading *= 1 - satisfied
    return total


@pytest.mark.parametrize("at", [None, 1, 4, 50])
@pytest.mark.parametrize("max_grade", [None, 5, 7])
def test_err_is_the_cascade(at, max_grade):
    for seed in range(5):
        grades, scores = random_list(seed)
        ranked = grades[np.argsort(-scores)]
        expected = err_by_walking(ranked, max_grade or grades.max(), at)
        value = expected_reciprocal_rank(grades, scores, at=at, max_grade=max_grade)
        assert value == pytest.approx(expected, rel=1e-12)


def test_err_of_an_unrated_list_is_0():
    assert expected_reciprocal_rank([0, 0, 0], [1, 2, 3]) == 0


# Appendix D


@given(ranked_lists(max_size=20), st.lists(st.floats(0.01, 2), min_size=5, max_size=5))
def test_gap_is_the_sum_of_recall_steps_times_graded_precision(ranked, delta):
    grades, scores = ranked
    assume(grades.max() > 0)
    total, recall_before = 0.0, 0.0
    for n in range(1, len(grades) + 1):
        recall = graded_recall(grades, scores, at=n, delta=delta)
        precision_here = graded_precision(grades, scores, at=n, delta=delta)
        total += (recall - recall_before) * precision_here
        recall_before = recall
    value = graded_average_precision(grades, scores, delta=delta)
    assert total == pytest.approx(value, rel=1e-10)


def test_graded_precision_by_hand():
    # Grades shown: 3, 1, 2, 0. Δ = 0.5, 1, 1.5. At n = 3, c = 2: (1/1 + 0.5/1 + 1/1) / 3.
    at = {
        n: graded_precision([3, 1, 2, 0], descending(4), at=n, delta=[0.5, 0.5, 0.5])
        for n in (1, 2, 3, 4)
    }
    # At n = 4 nothing is rated there: all three rated items pass the lowest threshold.
    assert at == pytest.approx({1: 1, 2: 1, 3: 2.5 / 3, 4: 3 / 4})


@given(ranked_lists(), st.integers(1, 15))
def test_graded_precision_and_recall_with_one_grade_are_the_plain_ones(ranked, at):
    grades, scores = np.minimum(ranked[0], 1), ranked[1]
    expected = precision(grades, scores, at=at, threshold=1)
    assert graded_precision(grades, scores, at=at) == pytest.approx(expected)
    if grades.any():
        found = expected * at / grades.sum()
        assert graded_recall(grades, scores, at=at) == pytest.approx(found)


def test_graded_recall_without_ratings_is_nan():
    assert math.isnan(graded_recall([0, 0], [1, 2], at=1))
