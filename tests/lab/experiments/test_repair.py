"""What notebook 09 computes: against finite differences, brute force, and by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from gapfm_teach import (
    GAPfm,
    Ratings,
    graded_average_precision,
    simulate_ratings,
    split_given,
    thresholding_probabilities,
)
from gapfm_teach.exercises import EXERCISES
from gapfm_teach.gradcheck import central_difference
from gapfm_teach.lab.experiments import personality, repair
from gapfm_teach.repaired.gap import consistent_gap
from gapfm_teach.repaired.measures import (
    consistent_measure,
    consistent_objective,
    sample_unrated,
)
from gapfm_teach.repaired.ranks import consistent_rank
from gapfm_teach.smooth import logistic, smoothed_gap, smoothed_gap_gradient

DELTA = thresholding_probabilities(5)


@pytest.fixture(scope="module")
def data():
    ratings = simulate_ratings(30, 40, mean_ratings=18, random_state=0)
    return split_given(ratings, 6, min_test=5, random_state=1)


@pytest.fixture(scope="module")
def model(data):
    return GAPfm(
        3, objective="consistent", init_scale=0.3, n_iter=10, n_threads=1, random_state=0
    ).fit(data[0])


# ------------------------------------------------------------------ the theorem


@settings(deadline=None)
@given(
    seed=st.integers(0, 10**6), spread=st.sampled_from([0.0, 0.1, 1.0, 10.0, 300.0]),
    tau=st.floats(0.1, 10), unrated=st.floats(0, 9),
)  # fmt: skip
def test_no_list_with_a_wrong_pair_comes_near_1(seed, spread, tau, unrated):
    rng = np.random.default_rng(seed)
    grades = np.append(rng.integers(1, 6, 5), [0, 0, 0])
    weights = np.append(np.ones(5), np.full(3, unrated))
    scores = rng.normal(0, spread, 8)
    worth = np.append(0.0, np.cumsum(DELTA))[grades]
    lost = 1 - consistent_gap(scores, grades, DELTA, tau, weights)
    for i in range(5):
        for j in range(8):
            if scores[j] >= scores[i]:
                pair = weights[j] * max(0.0, worth[i] - worth[j])
                assert lost >= pair / (2 * weights.sum() * worth.sum()) - 1e-12


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(2, 9), unrated=st.integers(0, 4))
def test_what_a_swap_of_neighbours_gains(seed, size, unrated):
    rng = np.random.default_rng(seed)
    grades = rng.permutation(np.append(rng.integers(1, 6, size), np.zeros(unrated, int)))
    worths, places = np.append(0.0, np.cumsum(DELTA))[grades], -np.arange(grades.size)
    before = graded_average_precision(grades, places, delta=DELTA)
    for r in range(1, grades.size):
        swapped = grades.copy()
        swapped[[r - 1, r]] = grades[[r, r - 1]]
        gain = graded_average_precision(swapped, places, delta=DELTA) - before
        solution = EXERCISES["swap-gain"].solution(worths, r)
        assert solution == pytest.approx(gain, abs=1e-12)
        assert np.sign(round(solution, 12)) == np.sign(worths[r] - worths[r - 1])


@pytest.mark.parametrize("unrated", [0.0, 0.3, 1.0])
def test_worst_bounds_are_those_of_the_least_pair(data, unrated):
    train, found = data[0], repair.worst_bounds(data[0], unrated)
    for user in (0, 4, 11):
        worth = np.append(0.0, np.cumsum(DELTA))[train.row(user)[1]]
        weighted = [(w, 1.0) for w in worth] + [(0.0, unrated)]
        costs = [v * (w - worse) for w in worth for worse, v in weighted]
        W = worth.size + unrated * (train.n_items - worth.size)
        least = min(cost for cost in costs if cost > 0)
        assert found[user] == pytest.approx(least / (2 * W * worth.sum()))


def test_without_a_pair_there_is_no_bound():
    one = Ratings([0, 2], [0, 1], [3, 3], n_items=4)
    assert np.isnan(repair.worst_bounds(one, 0.0)).tolist() == [True]
    assert repair.worst_bounds(one)[0] == pytest.approx(1 / (2 * 4 * 2))


# ------------------------------------------------------------------ one film


@pytest.mark.parametrize("objective", ["paper", "consistent", "geometric"])
def test_what_an_objective_makes_of_a_film(data, model, objective):
    train, user = data[0], 3
    item = int(train.row(user)[0][2])
    found = repair.watch(model, user, item, objective, unrated_weight=0.2)
    ups = []
    for other in range(train.n_users):
        rated, grades = train.row(other)
        f, slope = model.predict(other), np.zeros(train.n_items)
        if objective == "paper":
            slope[rated] = smoothed_gap_gradient(f[rated], grades, DELTA)
        else:
            listed, weights = np.zeros(train.n_items, dtype=int), np.full(f.size, 0.2)
            listed[rated], weights[rated] = grades, 1.0
            slope = consistent_measure(objective, 5)[1](f, listed, weights=weights)
        ups.append(np.clip(slope[rated], 0, None))
        if other == user:
            mine, scores, ranked = slope[item], f, weights if objective != "paper" else None
    assert found["pull"] == pytest.approx(mine / np.concatenate(ups).mean())
    assert found["rank"] == 1 + np.sum(scores > scores[item])
    believed = 1 / logistic(scores[item])
    if objective != "paper":
        believed = consistent_rank(scores, 1.0, ranked)[item]
    assert found["believed"] == pytest.approx(believed)


# ------------------------------------------------------------------ pulls and samples


def test_pulls_are_lengths_of_the_gradients_at_0(data):
    train, _ = data
    found = repair.pulls(train)
    for user in (0, 7, 13):
        items, grades = train.row(user)
        full = np.append(grades, np.zeros(train.n_items - items.size, dtype=int))
        at_0 = np.zeros(train.n_items)
        slope = central_difference(
            lambda f, full=full: consistent_gap(f, full, DELTA), at_0
        )
        assert found["consistent"][user] == pytest.approx(
            np.linalg.norm(slope[: items.size]), rel=1e-6
        )
        slope = central_difference(
            lambda f, grades=grades: smoothed_gap(f, grades, DELTA), at_0[: items.size]
        )
        length = np.linalg.norm(slope)
        assert found["printed"][user] == pytest.approx(length, rel=1e-6)
        Z = sum(DELTA[:grade].sum() for grade in grades)
        assert found["divided"][user] == pytest.approx(length / Z, rel=1e-6)
    assert found["n_rated"].tolist() == np.diff(train.indptr).tolist()


def test_sampling_error_is_that_of_the_lists_drawn(data, model):
    train, _ = data
    found = repair.sampling_error(
        model, train, [4], tau=0.7, unrated_weight=0.5, every=5, n_draws=3, random_state=5
    )
    rng, gaps = np.random.default_rng(5), []
    for user in (0, 5, 10):
        rated, grades = train.row(user)
        scores, values = model.predict(user), []
        draws = [rng.random(4) for _ in range(3)]
        whole = np.setdiff1d(np.arange(train.n_items), rated), 1.0
        for others, each in [
            whole,
            *(sample_unrated(rated, draw, train.n_items) for draw in draws),
        ]:
            values.append(
                consistent_gap(
                    scores[np.append(rated, others)],
                    np.append(grades, np.zeros(others.size, dtype=int)),
                    DELTA,
                    0.7,
                    np.repeat([1.0, 0.5 * each], [rated.size, others.size]),
                )
            )
        gaps.append(np.mean(values[1:]) / values[0] - 1)
    assert found["gap"].item() == pytest.approx(np.mean(gaps))


def test_the_whole_catalogue_has_no_sampling_error(data, model):
    found = repair.sampling_error(model, data[0], [40, 4], tau=1, every=5, n_draws=4)
    assert found["n"].tolist() == [4, 40]
    assert np.abs(found.iloc[1, 1:]).max() < 1e-12
    assert np.abs(found.iloc[0, 1:]).min() > 1e-6


# ------------------------------------------------------------------ climbing


def test_climbing_by_adagrad_is_what_gapfm_does(data):
    options = {"n_negatives": 9, "reg": 0.01}
    found = repair.climb(*data, 0.1, 0.2, n_iter=6, **options)
    history = (
        GAPfm(
            objective="consistent", init_scale=0.1, learning_rate=0.2, n_iter=6,
            random_state=0, **options,
        )
        .fit(*data)
        .history_
    )  # fmt: skip
    np.testing.assert_array_equal(found["held_out_gap"], history["validation_gap"])


def test_popularity_gap_is_that_of_one_list_for_all(data):
    train, validation = data
    worth, found = np.append(0.0, np.cumsum(DELTA)), []
    scores = np.bincount(train.indices, weights=worth[train.grades], minlength=40)
    for user in range(train.n_users):
        grades = np.zeros(train.n_items, dtype=int)
        grades[validation.row(user)[0]] = validation.row(user)[1]
        listed = np.setdiff1d(np.arange(train.n_items), train.row(user)[0])
        found.append(graded_average_precision(grades[listed], scores[listed], delta=DELTA))
    assert repair.popularity_gap(train, validation) == pytest.approx(np.mean(found))


@pytest.mark.slow
def test_plain_ascent_follows_the_gradient(data):
    """Lengths before two plain steps, with derivatives that know nothing of the formula."""
    train, validation = data
    found = repair.climb(
        train, validation, 0.5, 0.5, plain=True, n_iter=2, n_factors=2, n_negatives=40,
        reg=0.01, unrated_weight=1.0,
    )  # fmt: skip
    rng = np.random.default_rng(0)
    parts = [rng.normal(0, 0.5, (n, 2)) for n in (train.n_users, train.n_items)]
    parts.append(np.zeros(train.n_items))
    for iteration in range(2):
        slopes = []
        for place in range(3):

            def value(x, place=place, parts=parts):
                return consistent_objective(
                    *parts[:place], x, *parts[place + 1 :], train, reg=0.01
                )

            slopes.append(central_difference(value, parts[place], 1e-5))
        lengths = found.loc[iteration, ["user_factors", "item_factors", "item_bias"]]
        expected = [np.linalg.norm(slope) for slope in slopes]
        np.testing.assert_allclose(lengths.to_numpy(float), expected, rtol=1e-5)
        parts = [x + 0.5 * slope for x, slope in zip(parts, slopes, strict=True)]


# ------------------------------------------------------------------ lists


def test_personality_counts_the_item_bias(data, model):
    scores = np.array([model.predict(user) for user in range(data[0].n_users)])
    strength = np.linalg.svd(scores, compute_uv=False) ** 2
    average = scores.mean(axis=0)
    expected = np.median([spearmanr(mine, average).statistic for mine in scores])
    found = personality(model)
    assert found["top_share"] == pytest.approx(strength[0] / strength.sum())
    assert found["agreement"] == pytest.approx(expected)
