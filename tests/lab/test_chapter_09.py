"""What chapter 9 computes: against finite differences, brute force, and by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from gapfm_lab import chapter_09
from gapfm_lab.experiments import personality
from gapfm_teach import (
    GAPfm,
    simulate_ratings,
    split_given,
    thresholding_probabilities,
)
from gapfm_teach.consistent.gap import consistent_gap
from gapfm_teach.consistent.measures import consistent_measure
from gapfm_teach.consistent.power_mean import consistent_power_mean
from gapfm_teach.consistent.ranks import consistent_rank
from gapfm_teach.gradcheck import central_difference
from gapfm_teach.paper import logistic, smoothed_gap, smoothed_gap_gradient

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


# ------------------------------------------------------------------ one film


@pytest.mark.parametrize("objective", ["paper", "consistent", "geometric"])
def test_what_an_objective_makes_of_a_film(data, model, objective):
    train, user = data[0], 3
    item = int(train.row(user)[0][2])
    found = chapter_09.watch(model, user, item, objective, unrated_weight=0.2)
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


# ------------------------------------------------------------------ who decides


def test_pulls_are_lengths_of_the_gradients_at_0(data):
    train, _ = data
    found = chapter_09.user_pulls(train)
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


# ------------------------------------------------------------------ where the pull goes


@pytest.fixture(scope="module")
def train():
    ratings = simulate_ratings(60, 80, mean_ratings=25, random_state=0)
    return split_given(ratings, 8, min_test=5, random_state=1)[0]


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_a_pull_is_the_slope_of_the_users_mean(train, p):
    model = GAPfm(3, objective="geometric", n_iter=10, random_state=0).fit(train)
    table = chapter_09.film_pulls(model, p, every=7)
    assert set(table["user"]) == set(range(0, train.n_users, 7))
    items, given = train.row(7)
    grades = np.zeros(train.n_items, int)
    grades[items] = given
    weights, delta = np.where(grades > 0, 1.0, 0.1), thresholding_probabilities(5)

    def value(f):
        return consistent_power_mean(f, grades, delta, p, 1.0, weights)

    slope, ranks = (
        central_difference(value, model.predict(7)),
        consistent_rank(model.predict(7)),
    )
    mine = table[table["user"] == 7].set_index("item")
    np.testing.assert_allclose(mine.loc[items, "pull"], slope[items], atol=1e-7)
    np.testing.assert_allclose(mine.loc[items, "place"], ranks[items], rtol=1e-12)


def test_the_share_is_that_of_the_films_below_the_median():
    table = pd.DataFrame({"place": [1.0, 2.0, 3.0, 4.0], "pull": [1.0, -5.0, 2.0, 1.0]})
    assert chapter_09.share_of_lower_half(table) == pytest.approx(3 / 4)


def test_the_arithmetic_mean_pulls_on_the_upper_half():
    train = simulate_ratings(60, 800, mean_ratings=15, random_state=0)
    model = GAPfm(3, objective="geometric", reg=1.0, n_iter=30, random_state=0).fit(train)
    shares = [
        chapter_09.share_of_lower_half(chapter_09.film_pulls(model, p))
        for p in (1.0, 0.5, 0.0)
    ]
    assert shares == sorted(shares)
    assert shares[0] < 0.8 * shares[-1]


# ------------------------------------------------------------------ lists


def test_personality_counts_the_item_bias(data, model):
    scores = np.array([model.predict(user) for user in range(data[0].n_users)])
    strength = np.linalg.svd(scores, compute_uv=False) ** 2
    average = scores.mean(axis=0)
    expected = np.median([spearmanr(mine, average).statistic for mine in scores])
    found = personality(model)
    assert found["top_share"] == pytest.approx(strength[0] / strength.sum())
    assert found["agreement"] == pytest.approx(expected)
