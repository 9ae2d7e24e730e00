"""The two protocols against straightforward recomputation."""

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from gapfm_teach import (
    GAPfm,
    Ratings,
    evaluate_ranking,
    evaluate_top_n,
    simulate_ratings,
    split_given,
)
from gapfm_teach.evaluation import summarize


class Fixed:
    """A model with given scores (n_users, n_items)."""

    def __init__(self, scores):
        self.scores = np.asarray(scores, dtype=float)

    def predict(self, user, items=None):
        return self.scores[user] if items is None else self.scores[user][items]


@pytest.fixture(scope="module")
def data():
    ratings = simulate_ratings(60, 120, mean_ratings=25, random_state=0)
    return split_given(ratings, 8, min_test=6, random_state=1)


def by_metric(table):
    return table.set_index("metric")["mean"]


def test_full_ranking_agrees_with_sklearn_and_counting(data):
    train, test = data
    scores = np.random.default_rng(0).normal(size=(test.n_users, test.n_items))
    table = by_metric(evaluate_top_n(Fixed(scores), train, test, n_candidates=None))
    ndcgs, precisions = [], []
    for user in range(test.n_users):
        unseen = np.setdiff1d(np.arange(test.n_items), train.row(user)[0])
        gains = np.zeros(test.n_items)
        items, grades = test.row(user)
        gains[items] = 2.0**grades - 1
        ndcgs.append(ndcg_score([gains[unseen]], [scores[user][unseen]], k=5))
        top = unseen[np.argsort(-scores[user][unseen])[:5]]
        precisions.append(np.mean(gains[top] == 31))
    assert table["NDCG@5"] == pytest.approx(np.mean(ndcgs))
    assert table["P@5"] == pytest.approx(np.mean(precisions))


def test_training_items_never_stand_in_a_list(data):
    train, test = data
    scores = np.zeros((test.n_users, test.n_items))
    for user in range(test.n_users):
        scores[user, train.row(user)[0]] = 100.0  # a model that only knows what it has seen
        scores[user, test.row(user)[0]] = test.row(user)[1]
    table = by_metric(evaluate_top_n(Fixed(scores), train, test, random_state=0))
    assert table["NDCG@5"] == pytest.approx(1.0)
    assert table["GAP@5 (ideal)"] == pytest.approx(1.0)
    assert table["GAP@5 (hits)"] == pytest.approx(1.0)


def test_ties_are_broken_at_random_not_by_position(data):
    train, test = data
    flat = Fixed(np.zeros((test.n_users, test.n_items)))
    means = [
        by_metric(evaluate_top_n(flat, train, test, n_candidates=20, random_state=seed))[
            "NDCG@5"
        ]
        for seed in range(15)
    ]
    random_scores = np.random.default_rng(1).normal(size=(15, test.n_users, test.n_items))
    expected = [
        by_metric(
            evaluate_top_n(Fixed(s), train, test, n_candidates=20, random_state=seed)
        )["NDCG@5"]
        for seed, s in enumerate(random_scores)
    ]
    spread = np.std(means) / np.sqrt(15) + np.std(expected) / np.sqrt(15)
    assert abs(np.mean(means) - np.mean(expected)) < 4 * spread


def test_users_with_fewer_than_five_held_out_ratings_do_not_count(data):
    train, test = data
    sizes = np.diff(test.indptr)
    model = GAPfm(n_iter=1, random_state=0).fit(train)
    table = evaluate_top_n(model, train, test, random_state=0)
    assert (table["n_users"] == np.sum(sizes >= 5)).all()
    few = Ratings(
        np.zeros(train.n_users + 1, int), [], [], n_items=train.n_items, max_grade=5
    )
    with pytest.raises(ValueError, match="no user has 5 ratings in test"):
        evaluate_top_n(model, train, few)


def test_ranking_of_rated_items_agrees_with_sklearn(data):
    _, test = data
    scores = np.random.default_rng(3).normal(size=(test.n_users, test.n_items))
    table = by_metric(evaluate_ranking(Fixed(scores), test, at=(1, 5)))
    for n in (1, 5):
        expected = []
        for user in range(test.n_users):
            items, grades = test.row(user)
            expected.append(ndcg_score([2.0**grades - 1], [scores[user][items]], k=n))
        assert table[f"NDCG@{n}"] == pytest.approx(np.mean(expected))


def test_same_seed_same_table(data):
    train, test = data
    model = Fixed(np.random.default_rng(0).normal(size=(test.n_users, test.n_items)))
    one, two = (
        evaluate_top_n(model, train, test, n_candidates=30, random_state=4)
        for _ in range(2)
    )
    assert one.equals(two)


def test_what_does_not_belong_together_is_named(data):
    train, test = data
    model = Fixed(np.zeros((test.n_users, test.n_items)))
    small = Fixed(np.zeros((test.n_users, 5)))
    with pytest.raises(ValueError, match=r"model scores \(5,\) items, test has 120"):
        evaluate_top_n(small, train, test)
    with pytest.raises(TypeError, match="train must be Ratings, got Fixed"):
        evaluate_top_n(train=model, model=train, test=test)
    with pytest.raises(TypeError, match="test must be Ratings, got NoneType"):
        evaluate_ranking(model, None)
    for at in (5, ()):
        with pytest.raises(ValueError, match="at must be one or more truncations, got"):
            evaluate_ranking(model, test, at=at)


def test_intervals_cover_the_mean_of_the_population():
    import pandas as pd

    rng = np.random.default_rng(0)
    covered = 0
    for repeat in range(200):
        table = summarize(pd.DataFrame({"x": rng.exponential(size=60)}), repeat)
        covered += bool(table["ci_low"][0] <= 1.0 <= table["ci_high"][0])
    assert (
        0.88 <= covered / 200 <= 0.99
    )  # 95% in name; the bootstrap of 60 skewed values a bit less
