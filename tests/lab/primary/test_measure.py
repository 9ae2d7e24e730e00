"""A split for the primary table, and what is measured in it."""

import json

import numpy as np
import pytest

from gapfm_lab.baselines import EASE
from gapfm_lab.primary import measure as module
from gapfm_lab.primary.declared import METRIC, Space
from gapfm_lab.primary.measure import measure, split
from gapfm_teach import ndcg, simulate_ratings
from gapfm_teach.training.recommender import Recommender


@pytest.fixture(scope="module")
def ratings():
    return simulate_ratings(90, 120, mean_ratings=40, random_state=3)


class ByTaste(Recommender):
    """Scores that depend on one setting: `good` scores by the item's mean grade, and else by chance."""

    def __init__(self, good: bool, random_state: int):
        self.good, self.random_state = good, random_state

    def _fit(self, train, validation) -> None:
        chance = np.random.default_rng(self.random_state).random(train.n_items)
        total = np.bincount(train.indices, train.grades, minlength=train.n_items)
        self.scores_ = total + 1e-3 * chance if self.good else chance

    def _scores(self, user, items):
        return np.array(self.scores_[items])


def test_a_third_of_the_users_is_for_validation(ratings):
    parts = split(ratings, 10, 5)
    assert parts.validation.sum() == round(parts.train.n_users / 3)
    assert (np.diff(parts.train.indptr) == 10).all()
    again = split(ratings, 10, 5)
    assert (again.validation == parts.validation).all()
    assert (again.train.indices == parts.train.indices).all()
    assert (split(ratings, 10, 6).validation != parts.validation).any()


def test_settings_come_from_validation_users_and_results_from_others(ratings, monkeypatch):
    parts = split(ratings, 10, 0)
    seen = []
    inner = module._per_user

    def watched(model, parts, chosen):
        seen.append(chosen.copy())
        return inner(model, parts, chosen)

    monkeypatch.setattr(module, "_per_user", watched)
    table = measure(Space(ByTaste, choices={"good": (False, True)}), parts)
    assert all((chosen == parts.validation).all() for chosen in seen[:-1])
    assert (seen[-1] == ~parts.validation).all()
    assert json.loads(table["settings"][0]) == {"good": True}
    assert set(table["user"]) == set(parts.train.users[~parts.validation].tolist())


def test_measures_by_their_definitions(ratings):
    parts = split(ratings, 10, 1)
    table = measure(Space(ByTaste, fixed={"good": True}), parts).set_index("user")
    model = ByTaste(True, 1).fit(parts.train)
    candidates = np.union1d(parts.train.indices, parts.test.indices)
    shown = set()
    for user in np.flatnonzero(~parts.validation):
        rated, grades = parts.test.row(user)
        known = parts.train.row(user)[0]
        items = np.setdiff1d(candidates, known)
        order = items[np.argsort(-model.predict(user, items), kind="stable")]
        by_item = np.zeros(ratings.n_items, dtype=int)
        by_item[rated] = grades
        row = table.loc[parts.train.users[user]]
        scores = -np.arange(order.size, dtype=float)
        assert np.isclose(row[METRIC], ndcg(by_item[order], scores, at=5))
        found = by_item[order[:20]] > 0
        assert np.isclose(row["recall@20"], found.sum() / min(20, rated.size))
        first = np.flatnonzero(found)
        assert np.isclose(row["MRR@20"], 1 / (1 + first[0]) if first.size else 0)
        shown.update(order[:5])
    assert np.isclose(table["coverage@5"].iloc[0], len(shown) / candidates.size)


def test_a_training_that_leaves_the_finite_numbers_is_not_chosen(ratings):
    class Diverging(ByTaste):
        def _fit(self, train, validation):
            if self.good:
                raise FloatingPointError("too large")
            super()._fit(train, validation)

    parts = split(ratings, 10, 0)
    table = measure(Space(Diverging, choices={"good": (False, True)}), parts)
    assert json.loads(table["settings"][0]) == {"good": False}


def test_a_seed_goes_to_systems_that_draw():
    assert module.build(Space(ByTaste), {"good": True}, 3).random_state == 3
    assert module.build(Space(EASE, fixed={"reg": 2.0}), {"grades": "y"}, 3).grades == "y"
