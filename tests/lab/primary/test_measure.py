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


def triples(ratings):
    return set(ratings.to_frame().itertuples(index=False, name=None))


@pytest.mark.parametrize("task", ["ranking", "catalogue", "top_n"])
def test_a_split_gives_every_user_the_same_number_and_nothing_twice(ratings, task):
    train, known, test, *_ = split(task, ratings, 12, 3)
    counts = np.diff(ratings.indptr)
    least = 12 + (module.N_TEST + 1 if task == "top_n" else 10)
    assert train.users.tolist() == ratings.users[counts >= least].tolist()
    assert set(np.diff(train.indptr).tolist()) == {12}
    assert triples(train) <= triples(known)
    assert not triples(known) & triples(test)
    of_these = ratings.to_frame()[lambda df: df["user"].isin(train.users)]
    assert len(triples(known) | triples(test)) == len(of_these)
    if task == "top_n":
        assert set(np.diff(test.indptr).tolist()) == {module.N_TEST}
    else:
        assert triples(known) == triples(train)


class Oracle(Recommender):
    """Puts ratings that were left aside on top, then those of the test, by their grades."""

    def __init__(self, scores):
        self.scores = scores

    def _fit(self, train, validation) -> None:
        pass

    def _scores(self, user, items):
        return self.scores[user, items]


def test_ratings_left_aside_are_no_candidates(ratings):
    parts = split("top_n", ratings, 12, 0)
    dense = [part.to_scipy().toarray() for part in parts[:3]]
    aside = (dense[1] > 0) & (dense[0] == 0)
    assert aside.any()
    space = Space(Oracle, fixed={"scores": np.where(aside, 100.0, dense[2])})
    table = measure(space, parts)
    ideal = [f"{of}{m}" for of in ("", module.ALL) for m in ("NDCG@5", "GAP@5 (ideal)")]
    np.testing.assert_allclose(table[ideal], 1.0)


def test_each_metric_has_the_settings_best_by_it_and_nothing_is_fitted_twice(ratings):
    """One system is perfect but for the best film, the other finds that alone."""
    parts = split("catalogue", ratings, 12, 0)
    grades = parts.test.to_scipy().toarray().astype(float)
    best = grades == 5
    first = best & (np.cumsum(best, axis=1) == 1)
    lists = {"long": np.where(best, 0.5, grades), "short": first.astype(float)}
    fitted = []

    class Either(Oracle):
        def __init__(self, which):
            fitted.append(which)
            super().__init__(lists[which])

    space = Space(Either, choices={"which": ("long", "short")})
    table = measure(space, parts, tuned_for=("AP@5", "P@5"))
    settings = json.loads(table["settings"][0])
    assert settings == {"AP@5": {"which": "long"}, "P@5": {"which": "short"}}
    assert table["n_fits"][0] == 2
    assert sorted(fitted[:2]) == ["long", "short"]
    for metric, which in (("AP@5", "long"), ("P@5", "short")):
        alone = measure(Space(Either, fixed={"which": which}), parts)
        np.testing.assert_array_equal(table[metric], alone[metric])


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
    parts = split("catalogue", ratings, 10, 5)
    assert parts.validation.sum() == round(parts.train.n_users / 3)
    assert (np.diff(parts.train.indptr) == 10).all()
    again = split("catalogue", ratings, 10, 5)
    assert (again.validation == parts.validation).all()
    assert (again.train.indices == parts.train.indices).all()
    assert (split("catalogue", ratings, 10, 6).validation != parts.validation).any()


def test_settings_come_from_validation_users_and_results_from_others(ratings, monkeypatch):
    parts = split("catalogue", ratings, 10, 0)
    seen = []
    inner = module._of_users

    def watched(table, parts, chosen):
        seen.append(chosen.copy())
        return inner(table, parts, chosen)

    monkeypatch.setattr(module, "_of_users", watched)
    table = measure(Space(ByTaste, choices={"good": (False, True)}), parts)
    assert all((chosen == parts.validation).all() for chosen in seen[:-1])
    assert (seen[-1] == ~parts.validation).all()
    assert json.loads(table["settings"][0]) == {"good": True}
    assert set(table["user"]) == set(parts.train.users[~parts.validation].tolist())


def test_measures_by_their_definitions(ratings):
    parts = split("catalogue", ratings, 10, 1)
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

    parts = split("catalogue", ratings, 10, 0)
    table = measure(Space(Diverging, choices={"good": (False, True)}), parts)
    assert json.loads(table["settings"][0]) == {"good": False}


def test_a_seed_goes_to_systems_that_draw():
    assert module.build(Space(ByTaste), {"good": True}, 3).random_state == 3
    assert module.build(Space(EASE, fixed={"reg": 2.0}), {"grades": "y"}, 3).grades == "y"
