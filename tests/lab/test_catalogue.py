"""Lists of the whole catalogue: every measure against its definition on the full list."""

import numpy as np
import pytest

from gapfm_lab.baselines import Popularity
from gapfm_lab.catalogue import catalogue_per_user
from gapfm_teach import Ratings, metrics, split_given, thresholding_probabilities
from gapfm_teach.datasets import simulate_ratings
from gapfm_teach.evaluation import top_n_per_user


class Table:
    """Scores from a table, all different, so that no list has ties."""

    def __init__(self, n_users, n_items):
        rng = np.random.default_rng(5)
        self.scores = rng.permutation(n_users * n_items).reshape(n_users, n_items) / 100

    def predict(self, user, items):
        return self.scores[user, items]


@pytest.fixture(scope="module")
def parts():
    ratings = simulate_ratings(60, 90, random_state=3)
    return split_given(ratings, 5, min_test=3, random_state=0)


@pytest.fixture(scope="module")
def found(parts):
    train, test = parts
    return catalogue_per_user(Table(train.n_users, train.n_items), train, test)


def full_list(train, test, user):
    """Grades and scores of all candidates of a user, written from the protocol's words."""
    offered = set(train.indices.tolist()) | set(test.indices.tolist())
    items = np.array(sorted(offered - set(train.row(user)[0].tolist())))
    grade_of = dict(zip(*(part.tolist() for part in test.row(user)), strict=True))
    grades = np.array([grade_of.get(item, 0) for item in items.tolist()])
    return grades, Table(train.n_users, train.n_items).scores[user, items]


def average_precision_at_5(grades, scores):
    ranked = grades[np.argsort(-scores)] > 0
    precisions = [ranked[: r + 1].mean() for r in range(5) if ranked[r]]
    return sum(precisions) / min(5, ranked.sum())


def test_each_measure_is_that_of_the_full_list(parts, found):
    train, test = parts
    delta = thresholding_probabilities(train.max_grade)
    measured = 0
    for user in range(test.n_users):
        if test.row(user)[0].size < 5:
            continue
        grades, scores = full_list(train, test, user)
        row = found.loc[test.users[user]]
        due = {
            "P@5": np.mean(grades[np.argsort(-scores)][:5] == train.max_grade),
            "NDCG@5": metrics.ndcg(grades, scores, at=5),
            "GAP@5 (ideal)": metrics.graded_average_precision(
                grades, scores, delta=delta, at=5, normalizer="ideal"
            ),
            "AP@5": average_precision_at_5(grades, scores),
            "GP@5": metrics.graded_precision(grades, scores, at=5, delta=delta),
            "GR@5": metrics.graded_recall(grades, scores, at=5, delta=delta),
            "ERR@5": metrics.expected_reciprocal_rank(
                grades, scores, at=5, max_grade=train.max_grade
            ),
        }
        assert row.to_dict() == pytest.approx(due)
        measured += 1
    assert measured == len(found) > 20
    assert (found > 0).any().all()


def with_scale(ratings, max_grade, cap=5):
    grades = np.minimum(ratings.grades, cap)
    return Ratings(
        ratings.indptr,
        ratings.indices,
        grades,
        n_items=ratings.n_items,
        max_grade=max_grade,
    )


def test_the_scale_is_the_longer_one_of_the_two(parts):
    train, test = parts
    model = Table(train.n_users, train.n_items)
    both = catalogue_per_user(model, train, test)
    assert both.equals(catalogue_per_user(model, with_scale(train, 4, cap=4), test))
    low = with_scale(test, 4, cap=4)
    of_five = catalogue_per_user(model, train, with_scale(low, 5))
    assert of_five.equals(catalogue_per_user(model, train, low))
    assert not of_five.equals(catalogue_per_user(model, with_scale(train, 4, cap=4), low))


def test_shared_measures_are_those_of_top_n_lists(parts):
    train, test = parts
    model = Popularity().fit(train)  # full of ties, which the seed breaks in the same way
    ours = catalogue_per_user(model, train, test, random_state=7)
    theirs = top_n_per_user(model, train, test, n_candidates=None, random_state=7)
    shared = ["P@5", "NDCG@5", "GAP@5 (ideal)"]
    np.testing.assert_allclose(ours[shared], theirs[shared])


def test_bad_input_is_refused(parts):
    train, test = parts
    with pytest.raises(ValueError, match="at must be"):
        catalogue_per_user(Popularity().fit(train), train, test, at=0)
