"""The lists that are ranked: what stands in them, in which order, and for which models."""

import tracemalloc

import numpy as np
import pytest
from evaluation_sample import (
    Factors,
    Fixed,
    grades_in_list,
    random_scores,
    split,
)

from gapfm_teach import (
    GAPfm,
    Ratings,
    evaluate_top_n,
    evaluation,
)
from gapfm_teach.evaluation import ranking_per_user, top_n_per_user


@pytest.fixture(scope="module")
def data():
    return split()


# ------------------------------------------------------------------ the lists


def test_lists_hold_the_held_out_items_and_distinct_unrated_ones(data):
    train, test = data
    model = Fixed(random_scores(test))
    top_n_per_user(model, train, test, n_candidates=30, random_state=0)
    someone_rated = np.union1d(train.indices, test.indices)
    assert someone_rated.size < test.n_items  # else the next lines would not see such items
    for user, items in model.lists.items():
        held_out = test.row(user)[0]
        others = np.setdiff1d(items, held_out)
        assert np.unique(items).size == items.size == held_out.size + others.size
        assert np.isin(others, someone_rated).all()
        assert not np.isin(items, train.row(user)[0]).any()
        unrated = someone_rated.size - held_out.size - train.row(user)[0].size
        assert others.size == min(30, unrated)


@pytest.mark.slow
def test_every_unrated_item_is_drawn_and_placed_equally_often(data):
    train, test = data
    model = Fixed(random_scores(test))
    user, rounds = int(np.flatnonzero(np.diff(test.indptr) >= 5)[-1]), 300
    drawn = np.zeros(test.n_items)
    first = []
    for seed in range(rounds):
        top_n_per_user(model, train, test, n_candidates=20, random_state=seed)
        drawn[model.lists[user]] += 1
        first.append(grades_in_list(test, user, model.lists[user])[0] > 0)
    held_out, seen = test.row(user)[0], train.row(user)[0]
    unrated = np.setdiff1d(np.union1d(train.indices, test.indices), np.r_[held_out, seen])
    share = 20 / unrated.size
    sd = np.sqrt(rounds * share * (1 - share))
    assert np.abs(drawn[unrated] - rounds * share).max() < 4.5 * sd
    assert (drawn[held_out] == rounds).all()
    share = held_out.size / (held_out.size + 20)
    assert abs(np.sum(first) - rounds * share) < 4 * np.sqrt(rounds * share * (1 - share))


@pytest.mark.slow
def test_all_scores_equal_is_a_random_order(data):
    """Expected share of grade 5 at the top: that of the whole list."""
    train, test = data
    flat = Fixed(np.zeros((test.n_users, test.n_items)))
    sizes = np.diff(test.indptr)
    shares = [np.sum(test.row(m)[1] == 5) / (sizes[m] + 20) for m in range(test.n_users)]
    expected = np.mean(np.array(shares)[sizes >= 5])
    means = [
        top_n_per_user(flat, train, test, n_candidates=20, random_state=seed)["P@5"].mean()
        for seed in range(60)
    ]
    assert abs(np.mean(means) - expected) < 4 * np.std(means) / np.sqrt(60)


# ------------------------------------------------------------------ factors, batches, seeds


def test_factors_and_predict_give_the_same_table(data):
    train, test = data
    rng = np.random.default_rng(0)
    model = Factors(rng.normal(size=(test.n_users, 4)), rng.normal(size=(test.n_items, 4)))
    for n_candidates in (20, None):
        arguments = {"n_candidates": n_candidates, "random_state": 3}
        by_factors = top_n_per_user(model, train, test, **arguments)
        asked = [items.tolist() for items in model.lists.values()]
        assert (
            len(asked) <= 4
        )  # to see that the factors say it all; then no list is asked for
        assert all(items == list(range(test.n_items)) for items in asked)
        by_predict = top_n_per_user(Fixed(model.scores), train, test, **arguments)
        np.testing.assert_allclose(by_factors, by_predict, atol=1e-12)
    ranked = ranking_per_user(model, test)
    np.testing.assert_allclose(ranked, ranking_per_user(Fixed(model.scores), test))


@pytest.mark.parametrize("also", ["a bias", "a way for cold users", "no real factors"])
def test_factors_that_do_not_say_it_all_are_not_used(data, also):
    train, test = data
    rng = np.random.default_rng(0)
    U, V = rng.normal(size=(test.n_users, 4)), rng.normal(size=(test.n_items, 4))
    model = Factors(U, V, bias=rng.normal(size=test.n_items) if also == "a bias" else 0)
    if also == "a way for cold users":
        cold = np.flatnonzero(np.diff(test.indptr) >= 5)[3]
        U[cold], model.scores[cold] = 0.0, rng.normal(size=test.n_items)
    elif also == "no real factors":
        model.user_factors_, model.item_factors_ = np.ones(test.n_users), None
    result = top_n_per_user(model, train, test, random_state=0)
    assert result.equals(top_n_per_user(Fixed(model.scores), train, test, random_state=0))


def test_the_lists_do_not_depend_on_the_batches(data, monkeypatch):
    train, test = data
    model = GAPfm(n_iter=2, random_state=0).fit(train)
    whole = top_n_per_user(model, train, test, n_candidates=30, random_state=0)
    for places in (1, 500):
        monkeypatch.setattr(evaluation, "PLACES_AT_ONCE", places)
        parts = top_n_per_user(model, train, test, n_candidates=30, random_state=0)
        assert parts.equals(whole)


def test_memory_stays_far_below_a_users_by_items_matrix(monkeypatch):
    n_users, n_items = 2000, 3000
    rng = np.random.default_rng(0)
    first = rng.integers(n_items - 100, size=n_users)
    items = first[:, None] + np.arange(10) * 10
    parts = [
        Ratings(
            np.arange(n_users + 1) * 5,
            items[:, start::2].ravel(),
            rng.integers(1, 6, n_users * 5),
            n_items=n_items,
        )
        for start in (0, 1)
    ]
    model = GAPfm(n_factors=2, n_iter=1, learning_rate=1e-6, random_state=0).fit(parts[0])
    monkeypatch.setattr(evaluation, "PLACES_AT_ONCE", 100_000)
    evaluate_top_n(model, *parts, n_candidates=3, random_state=0)  # compiles
    tracemalloc.start()
    top_n_per_user(model, *parts, n_candidates=None, random_state=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n_users * n_items  # one byte a place; scores alone would take eight


def test_same_seed_same_table_and_same_lists_for_every_system(data):
    train, test = data
    model, other = Fixed(random_scores(test)), Fixed(random_scores(test, seed=1))
    one, two = (
        evaluate_top_n(model, train, test, n_candidates=30, random_state=4)
        for _ in range(2)
    )
    assert one.equals(two)
    evaluate_top_n(other, train, test, n_candidates=30, random_state=4)
    assert all((other.lists[m] == items).all() for m, items in model.lists.items())
    assert list(one.columns) == ["metric", "mean", "ci_low", "ci_high", "n_users"]


def test_users_with_fewer_than_five_held_out_ratings_do_not_count(data):
    train, test = data
    sizes = np.diff(test.indptr)
    assert (sizes < 5).any()
    model = GAPfm(n_iter=1, random_state=0).fit(train)
    table = evaluate_top_n(model, train, test, random_state=0)
    assert (table["n_users"] == np.sum(sizes >= 5)).all()
    few = Ratings(
        np.zeros(train.n_users + 1, int), [], [], n_items=train.n_items, max_grade=5
    )
    with pytest.raises(ValueError, match="no user has 5 ratings in test"):
        evaluate_top_n(model, train, few)


def test_relevant_is_the_highest_grade_of_the_scale_not_of_the_test():
    """Without a 5 among the held-out ratings nothing is relevant for P, whatever test says."""
    train = Ratings([0, 1], [0], [5], n_items=8)
    test = Ratings([0, 5], [1, 2, 3, 4, 5], [4, 4, 3, 2, 1], n_items=8)
    assert test.max_grade == 4
    scale = Ratings([0, 5], [1, 2, 3, 4, 5], [4, 4, 3, 2, 1], n_items=8, max_grade=5)
    scores = [np.arange(8.0)]
    found, wanted = (
        top_n_per_user(Fixed(scores), train, part, random_state=0) for part in (test, scale)
    )
    assert found["P@5"].tolist() == [0.0]
    assert found.equals(wanted)


def test_a_model_need_only_predict_given_items(data):
    train, test = data
    rng = np.random.default_rng(0)

    class Strict:
        user_factors_ = rng.normal(size=(test.n_users, 3))
        item_factors_ = rng.normal(size=(test.n_items, 3))

        def predict(self, user, items):
            return self.item_factors_[items] @ self.user_factors_[user]

    scores = Strict.user_factors_ @ Strict.item_factors_.T
    result = top_n_per_user(Strict(), train, test, random_state=0)
    expected = top_n_per_user(Fixed(scores), train, test, random_state=0)
    np.testing.assert_allclose(result, expected, atol=1e-12)


def test_more_candidates_than_there_are_is_all_of_them(data):
    train, test = data
    model = Fixed(random_scores(test))
    everything = top_n_per_user(model, train, test, n_candidates=None, random_state=0)
    for n in (test.n_items, 10**30):
        sampled = top_n_per_user(model, train, test, n_candidates=n, random_state=0)
        assert sampled.equals(everything)
