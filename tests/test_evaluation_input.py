"""Bad input to the evaluation: scores, models, and parts that do not belong together."""

import numpy as np
import pytest
from evaluation_sample import (
    Factors,
    Fixed,
    random_scores,
    split,
)

from gapfm_teach import (
    GAPfm,
    Ratings,
    evaluate_ranking,
    evaluate_top_n,
)


@pytest.fixture(scope="module")
def data():
    return split()


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


def test_parts_of_other_users_or_items_are_refused(data):
    train, test = data
    renamed = Ratings(
        test.indptr, test.indices, test.grades, n_items=test.n_items, max_grade=5,
        users=[f"user {m}" for m in range(test.n_users)], items=test.items,
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"users of train and test differ.*'user 0'"):
        evaluate_top_n(Fixed(random_scores(test)), train, renamed)


def test_what_cannot_predict_is_refused(data):
    train, test = data
    for call in (
        lambda: evaluate_top_n("GAPfm", train, test),
        lambda: evaluate_ranking("GAPfm", test),
    ):
        with pytest.raises(TypeError, match=r"model must have predict\(.*got str"):
            call()
    with pytest.raises(ValueError, match="not fitted yet"):
        evaluate_ranking(GAPfm(), test)
