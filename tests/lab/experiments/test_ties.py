"""Ties in Algorithm 1: how many there are, and the lists that come of each order."""

import numpy as np
import pytest

from gapfm_teach import GAPfm, Ratings, adaptive_selection, simulate_ratings, split_given
from gapfm_teach.lab.experiments import ties
from gapfm_teach.lab.protocols import measure, split


@pytest.fixture(scope="module")
def ratings():
    return simulate_ratings(60, 60, mean_ratings=30, random_state=0)


@pytest.fixture(scope="module")
def model(ratings):
    train = split_given(ratings, 12, min_test=5, random_state=1)[0]
    return GAPfm(3, learning_rate=0.02, n_iter=15, random_state=0).fit(train)


def picked(model, user, order):
    """The four items that Algorithm 1 picks of a user whose items stand in another order."""
    items, grades = model.train_.row(user)
    items, grades = items[order], grades[order]
    return set(items[adaptive_selection(grades, model.predict(user, items), 4)].tolist())


def test_the_shares_are_those_counted_user_by_user(model):
    found, n_users = ties.tie_shares(model, 4), model.train_.n_users
    alike = cuts = others = 0
    for user in range(n_users):
        items, grades = model.train_.row(user)
        alike += sum(np.sum(grades == y) > 1 for y in grades)
        f = model.predict(user, items)
        by_grade, by_score = (
            np.argsort(np.argsort(-x, kind="stable")) for x in (grades, f)
        )
        distance = np.sort(abs(by_grade - by_score))[::-1]
        cuts += distance[3] == distance[4]
        usual, reverse = (picked(model, user, np.arange(12)[::step]) for step in (1, -1))
        others += len(usual - reverse)
    assert found["grade"] == pytest.approx(alike / (12 * n_users))
    assert found["score"] == 0
    assert found["cut"] == pytest.approx(cuts / n_users)
    assert found["by number, reversed"] == pytest.approx(others / (4 * n_users))
    assert 0 < found["shuffled"] < found["random K"]
    assert found["random K"] == pytest.approx(1 - 4 / 12, abs=0.1)


def test_without_ties_the_order_of_the_items_changes_nothing():
    rng = np.random.default_rng(0)
    grades = np.concatenate([rng.permutation(5) + 1 for _ in range(20)])
    items = np.concatenate([np.sort(rng.permutation(9)[:5]) for _ in range(20)])
    train = Ratings(np.arange(0, 101, 5), items, grades)
    model = GAPfm(2, n_iter=3, random_state=0).fit(train)
    found = ties.tie_shares(model, 1)
    assert found["grade"] == found["score"] == 0
    assert ties.tie_shares(model, 5 - 1)["cut"] > 0  # distances still tie


def test_the_table_is_that_of_the_models_lists(ratings):
    options = {"learning_rate": 0.02, "n_iter": 8}
    table = ties.tie_orders(ratings, (0, 1), k=4, n_given=12, **options)
    assert set(table["order"]) == set(ties.ORDERS) - {ties.BY_NUMBER}
    found = {"adaptive": [], "reversed": []}
    for seed in (0, 1):
        train, known, test = split("catalogue", ratings, 12, seed)
        model = GAPfm(n_selected=4, random_state=seed, **options).fit(train)
        found["adaptive"].append(measure("catalogue", model, known, test, seed))
    rows = table[table["order"] == "by number, reversed"].set_index("metric")
    usual = np.mean([each["NDCG@5"].mean() for each in found["adaptive"]])
    assert rows.loc["NDCG@5", "mean_by_number"] == pytest.approx(usual)
    row = rows.loc["NDCG@5"]
    assert row["difference"] == pytest.approx(row["mean"] - row["mean_by_number"])
    assert row["ci_low"] < row["difference"] < row["ci_high"]


def test_reversed_is_algorithm_1_with_the_items_numbered_the_other_way(ratings):
    """Training from a start that is turned round as well ends in the same lists."""
    train = split_given(ratings, 12, min_test=5, random_state=1)[0]
    other = train.to_scipy()[:, ::-1].tocsr()
    other.sort_indices()
    turned = Ratings(other.indptr, other.indices, other.data, n_items=train.n_items)
    rng = np.random.default_rng(0)
    U, V = (rng.normal(0, 0.01, (n, 10)) for n in (train.n_users, train.n_items))
    ends = []
    for part, start, order in (
        (train, (U, V), "by number, reversed"),
        (turned, (U, V[::-1].copy()), ties.BY_NUMBER),
    ):
        select = ties.selecting(ties.ORDERS[order], 4, rng)
        ends.append(
            ties.ascended(
                part, start, learning_rate=0.02, reg=0.001, n_iter=8, select=select
            )
        )
    np.testing.assert_allclose(ends[0].item_factors_, ends[1].item_factors_[::-1])
