"""What notebook 09 computes: against finite differences, brute force, and by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from gapfm_teach import (
    GAPfm,
    simulate_ratings,
    split_given,
    thresholding_probabilities,
)
from gapfm_teach.gradcheck import central_difference
from gapfm_teach.lab.experiments import personality, repair
from gapfm_teach.repaired.gap import consistent_gap
from gapfm_teach.repaired.measures import (
    consistent_measure,
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


# ------------------------------------------------------------------ lists


def test_personality_counts_the_item_bias(data, model):
    scores = np.array([model.predict(user) for user in range(data[0].n_users)])
    strength = np.linalg.svd(scores, compute_uv=False) ** 2
    average = scores.mean(axis=0)
    expected = np.median([spearmanr(mine, average).statistic for mine in scores])
    found = personality(model)
    assert found["top_share"] == pytest.approx(strength[0] / strength.sum())
    assert found["agreement"] == pytest.approx(expected)
