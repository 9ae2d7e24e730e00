"""The two protocols against their definitions: metrics.py user by user, sklearn, ranx, counting."""

import importlib.util
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from gapfm_teach import (
    GAPfm,
    Ratings,
    average_precision,
    evaluate_ranking,
    evaluate_top_n,
    evaluation,
    graded_average_precision,
    ndcg,
    precision,
    simulate_ratings,
    split_given,
    thresholding_probabilities,
)
from gapfm_teach.evaluation import ranking_per_user, top_n_per_user


class Fixed:
    """A model with given scores (n_users, n_items) that keeps the lists it was asked about."""

    def __init__(self, scores):
        self.scores = np.asarray(scores, dtype=float)
        self.lists = {}

    def predict(self, user, items=None):
        self.lists[int(user)] = items
        return self.scores[user] if items is None else self.scores[user][items]


class Factors(Fixed):
    """Scores that are products of factors, and a bias when one is given."""

    def __init__(self, U, V, bias=0.0):
        super().__init__(U @ V.T + bias)
        self.user_factors_, self.item_factors_ = U, V


def split(n_items=120, seed=0):
    ratings = simulate_ratings(60, n_items, mean_ratings=25, random_state=seed)
    return split_given(ratings, 8, min_test=3, random_state=1)


@pytest.fixture(scope="module")
def data():
    return split()


def random_scores(test, seed=0):
    return np.random.default_rng(seed).normal(size=(test.n_users, test.n_items))


def by_metric(table):
    return table.set_index("metric")["mean"]


def grades_in_list(test, user, items):
    grades = np.zeros(test.n_items, dtype=int)
    grades[test.row(user)[0]] = test.row(user)[1]
    return grades[items]


# ------------------------------------------------------------------ the measures


@pytest.mark.parametrize("at", [1, 5, 40, 500])
@pytest.mark.parametrize("n_candidates", [20, None])
@pytest.mark.parametrize("decimals", [0, 9], ids=["ties", "no ties"])
def test_every_user_agrees_with_the_metrics_of_the_list(data, at, n_candidates, decimals):
    train, test = data
    model = Fixed(random_scores(test).round(decimals))
    result = top_n_per_user(
        model, train, test, n_candidates=n_candidates, at=at, random_state=0
    )
    delta = thresholding_probabilities(5)
    users = np.flatnonzero(np.diff(test.indptr) >= 5)
    for user, row in zip(users, result.itertuples(), strict=True):
        items = model.lists[user]
        grades, scores = grades_in_list(test, user, items), model.scores[user, items]
        expected = [
            precision(grades, scores, at=at, threshold=5),
            ndcg(grades, scores, at=at),
            *(
                graded_average_precision(
                    grades, scores, delta=delta, at=at, normalizer=reading
                )
                for reading in ("ideal", "all", "hits")
            ),
        ]
        assert row.Index == test.users[user]
        assert list(row[1:]) == pytest.approx(expected, abs=1e-12)
    assert list(result.columns) == [
        f"P@{at}",
        f"NDCG@{at}",
        f"GAP@{at} (ideal)",
        f"GAP@{at} (all)",
        f"GAP@{at} (hits)",
    ]


JUDGE = """
import sys
import numpy as np
from ranx import evaluate
lists = np.load(sys.argv[1])
scores = evaluate(lists["qrels"], lists["run"], sys.argv[3:], return_mean=False)
np.savez(sys.argv[2], **scores)
"""


def ranx_scores(folder, model, test, users, metrics):
    """ranx on the lists the model was asked about, in another process: importing ranx changes
    the threading layer of numba."""
    qrels = np.zeros((len(users), test.n_items, 2))
    run = np.full((len(users), test.n_items, 2), -1.0)  # -1: places after a list's end
    for k, user in enumerate(users):
        items, grades = test.row(user)
        best = np.argsort(-grades, kind="stable")
        qrels[k, : items.size] = np.column_stack([items[best], grades[best]])
        ranked = model.lists[user][np.argsort(-model.scores[user, model.lists[user]])]
        run[k, : ranked.size, 0] = ranked
        run[k, :, 1] = -np.arange(test.n_items)
    np.savez(folder / "lists.npz", qrels=qrels, run=run)
    paths = [str(folder / "lists.npz"), str(folder / "scores.npz")]
    subprocess.run([sys.executable, "-c", JUDGE, *paths, *metrics], check=True)
    return np.load(folder / "scores.npz")


@pytest.mark.skipif(
    importlib.util.find_spec("ranx") is None,
    reason="ranx is not installed; it comes with the dev extra",
)
def test_ranx_finds_the_same_precision_ndcg_and_average_precision(data, tmp_path):
    train, test = data
    model = Fixed(random_scores(test))
    result = top_n_per_user(model, train, test, n_candidates=40, random_state=0)
    users = np.flatnonzero(np.diff(test.indptr) >= 5)
    levels = range(1, 6)
    metrics = [
        "precision@5-l5",
        "ndcg_burges@5",
        "map-l4",
        *(f"map@5-l{k}" for k in levels),
    ]
    judge = ranx_scores(tmp_path, model, test, users, metrics)
    exact = {"rtol": 0, "atol": 1e-12}
    np.testing.assert_allclose(result["P@5"], judge["precision@5-l5"], **exact)
    np.testing.assert_allclose(result["NDCG@5"], judge["ndcg_burges@5"], **exact)
    # GAP is a mean of the average precisions at all thresholds, weighted by δ_l × relevant items.
    counts = [[np.sum(test.row(user)[1] >= level) for level in levels] for user in users]
    weights = np.array(counts) * thresholding_probabilities(5)
    precisions = np.column_stack([judge[f"map@5-l{level}"] for level in levels])
    gap = np.sum(weights * precisions, axis=1) / weights.sum(axis=1)
    np.testing.assert_allclose(result["GAP@5 (all)"], gap, **exact)
    for k, user in enumerate(users):
        liked = grades_in_list(test, user, model.lists[user]) >= 4
        if liked.any():
            ap = average_precision(liked, model.scores[user, model.lists[user]])
            assert ap == pytest.approx(judge["map-l4"][k], abs=1e-12)


def test_full_ranking_agrees_with_sklearn_and_counting(data):
    train, test = data
    scores = random_scores(test)
    table = by_metric(evaluate_top_n(Fixed(scores), train, test, n_candidates=None))
    someone_rated = np.union1d(train.indices, test.indices)
    ndcgs, precisions = [], []
    for user in np.flatnonzero(np.diff(test.indptr) >= 5):
        unseen = np.setdiff1d(someone_rated, train.row(user)[0])
        gains = np.zeros(test.n_items)
        items, grades = test.row(user)
        gains[items] = 2.0**grades - 1
        ndcgs.append(ndcg_score([gains[unseen]], [scores[user][unseen]], k=5))
        top = unseen[np.argsort(-scores[user][unseen])[:5]]
        precisions.append(np.mean(gains[top] == 31))
    assert table["NDCG@5"] == pytest.approx(np.mean(ndcgs))
    assert table["P@5"] == pytest.approx(np.mean(precisions))


def test_ranking_of_rated_items_agrees_with_sklearn(data):
    _, test = data
    scores = random_scores(test, seed=3)
    result = ranking_per_user(Fixed(scores), test, at=(1, 5))
    for n in (1, 5):
        expected = []
        for user in range(test.n_users):
            items, grades = test.row(user)
            expected.append(ndcg_score([2.0**grades - 1], [scores[user][items]], k=n))
        assert result[f"NDCG@{n}"].to_numpy() == pytest.approx(np.array(expected))
        table = by_metric(evaluate_ranking(Fixed(scores), test, at=(1, 5)))
        assert table[f"NDCG@{n}"] == pytest.approx(np.mean(expected))


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


def with_items(ratings, positions, n_items):
    """The same ratings, item i standing at positions[i] among n_items."""
    frame = {m: ratings.row(m) for m in range(ratings.n_users)}
    rows = [(positions[items], grades) for items, grades in frame.values()]
    order = [np.argsort(items) for items, _ in rows]
    return Ratings(
        ratings.indptr,
        np.concatenate([items[o] for (items, _), o in zip(rows, order, strict=True)]),
        np.concatenate([grades[o] for (_, grades), o in zip(rows, order, strict=True)]),
        n_items=n_items,
        max_grade=ratings.max_grade,
    )


@pytest.mark.parametrize("n_candidates", [25, None])
@pytest.mark.parametrize(("added", "liking"), [(0, 0), (300, 0), (300, 99)])
def test_renumbering_items_and_adding_unrated_ones_changes_nothing_in_expectation(
    data, n_candidates, added, liking
):
    train, test = data
    popular = np.bincount(train.indices, minlength=train.n_items) // 2  # with many ties
    n_items = train.n_items + added
    positions = np.random.default_rng(5).permutation(n_items)[: train.n_items]
    scores = np.full(n_items, liking)
    scores[positions] = popular
    before = popular, (train, test)
    after = scores, [with_items(part, positions, n_items) for part in (train, test)]
    means = []
    for score, pair in (before, after):
        model = Fixed(np.tile(score, (train.n_users, 1)))
        tables = [
            top_n_per_user(model, *pair, n_candidates=n_candidates, random_state=seed)
            for seed in range(40)
        ]
        means.append([t[["P@5", "NDCG@5", "GAP@5 (ideal)"]].mean() for t in tables])
    difference = np.diff(np.mean(means, axis=1), axis=0)
    standard_error = np.sqrt(np.var(means, axis=1).sum(axis=0) / 40)
    assert (np.abs(difference) < 4 * standard_error).all()


# ------------------------------------------------------------------ factors, batches, seeds


def test_factors_and_predict_give_the_same_table(data):
    train, test = data
    rng = np.random.default_rng(0)
    model = Factors(rng.normal(size=(test.n_users, 4)), rng.normal(size=(test.n_items, 4)))
    for n_candidates in (20, None):
        arguments = {"n_candidates": n_candidates, "random_state": 3}
        by_factors = top_n_per_user(model, train, test, **arguments)
        assert all(items is None for items in model.lists.values())  # no list was asked for
        by_predict = top_n_per_user(Fixed(model.scores), train, test, **arguments)
        np.testing.assert_allclose(by_factors, by_predict, atol=1e-12)
    ranked = ranking_per_user(model, test)
    np.testing.assert_allclose(ranked, ranking_per_user(Fixed(model.scores), test))


def test_a_bias_beside_the_factors_is_not_lost(data):
    train, test = data
    rng = np.random.default_rng(0)
    U, V = rng.normal(size=(test.n_users, 4)), rng.normal(size=(test.n_items, 4))
    biased = Factors(U, V, bias=rng.normal(size=test.n_items))
    result = top_n_per_user(biased, train, test, random_state=0)
    assert result.equals(top_n_per_user(Fixed(biased.scores), train, test, random_state=0))
    assert not result.equals(top_n_per_user(Factors(U, V), train, test, random_state=0))


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


# ------------------------------------------------------------------ bad input


def test_scores_that_are_no_numbers_are_named(data):
    train, test = data
    scores = random_scores(test)
    user = int(np.flatnonzero(np.diff(test.indptr) >= 5)[2])
    item = int(test.row(user)[0][0])
    scores[user, item] = np.nan
    for call in (
        lambda: evaluate_top_n(Fixed(scores), train, test),
        lambda: evaluate_ranking(Fixed(scores), test),
    ):
        with pytest.raises(
            ValueError, match=f"finite, got nan for item {item} and user {user}"
        ):
            call()
    U, V = np.ones((test.n_users, 2)), np.ones((test.n_items, 2))
    V[item] = np.inf
    with pytest.raises(ValueError, match=f"got inf for item {item}"):
        evaluate_top_n(Factors(U, V), train, test, n_candidates=None)


def test_a_model_of_other_data_is_refused(data):
    train, test = data
    U, V = np.ones((test.n_users, 2)), np.ones((test.n_items - 1, 2))
    with pytest.raises(
        ValueError, match=r"factors for \(users, items\).*fit it to the train"
    ):
        evaluate_top_n(Factors(U, V), train, test)

    class Short(Fixed):
        def predict(self, user, items=None):
            return self.scores[user][:3]

    with pytest.raises(ValueError, match=r"gave shape \(3,\) for"):
        evaluate_top_n(Short(random_scores(test)), train, test)


def test_parts_that_share_ratings_are_refused(data):
    train, test = data
    with pytest.raises(
        ValueError, match=f"test repeats {train.n_ratings} ratings of train"
    ):
        evaluate_top_n(Fixed(random_scores(test)), train, train)
    with pytest.raises(TypeError, match="test must be Ratings, got DataFrame"):
        evaluate_ranking(Fixed(random_scores(test)), test.to_frame())
    with pytest.raises(ValueError, match="at names no rank"):
        evaluate_ranking(Fixed(random_scores(test)), test, at=())
