"""The measures of both protocols: metrics.py user by user, and sklearn."""

import numpy as np
import pytest
from evaluation_sample import Fixed, by_metric, grades_in_list, random_scores, split
from sklearn.metrics import ndcg_score

from gapfm_teach import (
    evaluate_ranking,
    evaluate_top_n,
    graded_average_precision,
    ndcg,
    precision,
    thresholding_probabilities,
)
from gapfm_teach.evaluation import ranking_per_user, top_n_per_user


@pytest.fixture(scope="module")
def data():
    return split()


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
