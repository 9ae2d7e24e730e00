"""Fair tuning: where its parts come from, what is tried, and what is chosen."""

import json

import numpy as np
import pytest

from gapfm_lab import tuning
from gapfm_lab.baselines import MeanRating, Popularity
from gapfm_lab.systems import SYSTEMS, System
from gapfm_lab.tuning import N_VALIDATIONS, folds_of, tune
from gapfm_teach import GAPfm, Ratings, simulate_ratings, split_given
from gapfm_teach.evaluation import top_n_per_user
from gapfm_teach.splits import hold_out
from gapfm_teach.training.recommender import Recommender


@pytest.fixture(scope="module")
def train():
    ratings = simulate_ratings(80, 60, mean_ratings=30, random_state=0)
    return split_given(ratings, 12, min_test=2, random_state=1)[0]


@pytest.fixture(scope="module")
def folds(train):
    return folds_of(train, train, 4)


SHRUNKEN = System(MeanRating, {"shrinkage": [1.0, 10.0, 100.0]})


def triples(ratings):
    return set(ratings.to_frame().itertuples(index=False, name=None))


# ------------------------------------------------------------------ validation parts


def test_held_out_ratings_come_from_half_of_the_users(train):
    fitting, validation = hold_out(train, random_state=0)
    assert triples(fitting) | triples(validation) == triples(train)
    assert not triples(fitting) & triples(validation)
    counts = np.diff(validation.indptr)
    assert sorted(set(counts.tolist())) == [0, 5]
    assert (counts == 5).sum() == round(train.n_users / 2)
    assert (fitting.n_items, fitting.max_grade) == (train.n_items, train.max_grade)


def test_users_with_few_ratings_keep_them():
    ratings = Ratings([0, 3, 13], [0, 1, 2, *range(10)], [1] * 13)
    _, validation = hold_out(ratings, random_state=0)
    assert np.diff(validation.indptr).tolist() == [0, 5]
    with pytest.raises(ValueError, match="n_held_out=7"):
        hold_out(ratings, 7)


def test_a_system_is_shown_the_fitting_parts_alone(train):
    seen = []

    class Spy(Popularity):
        def fit(self, train, validation=None):
            seen.append((train, validation))
            return super().fit(train, validation)

    tune(System(Spy), folds_of(train, train, 4), "top_n")
    assert len(seen) == N_VALIDATIONS
    assert len({frozenset(triples(given)) for given, _ in seen}) == N_VALIDATIONS
    for given, validation in seen:
        assert validation is None
        assert triples(given) < triples(train)


def test_known_ratings_are_no_candidates():
    """A system that puts what was left aside on top loses by it only if that counts as unrated."""
    ratings = simulate_ratings(80, 60, mean_ratings=30, random_state=0)
    known, _ = split_given(ratings, 20, min_test=1, random_state=1)
    train, aside = split_given(known, 12, min_test=1, random_state=2)

    class Aside(Popularity):
        def _scores(self, user, items):
            scores = np.zeros(aside.n_items)
            scores[aside.row(user)[0]] = 1.0
            return scores[items]

    values = [
        tune(System(Aside), folds_of(train, k, 0), "top_n").best()["NDCG@5"]
        for k in (train, known)
    ]
    assert values[0] < 0.5 * values[1]


# ------------------------------------------------------------------ what is tried


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_grid_point_can_be_built(name):
    system = SYSTEMS[name]
    points = system.points()
    assert len({json.dumps(s) for s in points}) == len(points)
    assert len(points) == np.prod([len(values) for values in system.grid.values()])
    for values in system.grid.values():
        assert list(values) == sorted(values)
    for point in points[:: max(1, len(points) // 5)]:
        assert isinstance(system.build(point, 0), Recommender)
    assert len(system.draw(3, np.random.default_rng(0))) == min(3, len(points))


def test_a_trial_is_the_mean_over_the_validation_parts(train):
    trial = tune(
        System(Popularity), folds_of(train, train, 4), "top_n", random_state=4
    ).best()
    found = []
    for k in range(N_VALIDATIONS):
        rng = np.random.default_rng([4, k])
        fitting, validation = hold_out(train, random_state=rng)
        model = Popularity().fit(fitting)
        found.append(
            top_n_per_user(model, fitting, validation, random_state=4)["P@5"].mean()
        )
    assert len(set(found)) > 1
    assert trial["P@5"] == pytest.approx(np.mean(found))


def test_all_points_are_tried_once_and_the_best_everywhere(folds, monkeypatch):
    monkeypatch.setattr(tuning, "FINALISTS", 2)
    grid = {"shrinkage": [0.5, 1.0, 2.0, 5.0, 10.0, 20.0]}
    monkeypatch.setattr(tuning, "MOST_WIDENINGS", 0)
    search = tune(System(MeanRating, grid), folds, "top_n")
    trials = search.trials
    assert sorted(trials["n_folds"].tolist()) == [1, 1, 1, 1, 3, 3]
    assert search.n_fits == 4 + 6
    finalists = trials[trials["n_folds"] == 3]
    first = {}
    for point in System(MeanRating, grid).points():
        model = MeanRating(**point).fit(folds[0].fitting)
        found = top_n_per_user(model, folds[0].seen, folds[0].validation, random_state=0)
        first[json.dumps(point)] = found["NDCG@5"].mean()
    best = sorted(first, key=lambda text: -first[text])[:2]
    assert set(finalists["settings"]) == set(best)
    assert search.best()["NDCG@5"] == finalists["NDCG@5"].max()


def test_the_grid_widens_while_the_best_is_at_an_edge(folds):
    """A measure of its own decides where the best is: the larger, the better."""

    class Sized(Popularity):
        def __init__(self, size=1.0, n_iter=1):
            super().__init__()
            self.size = size

        def _scores(self, user, items):
            held = np.zeros(folds[0].fitting.n_items)
            if self.size <= 40.0:
                for fold in folds:
                    held[fold.validation.row(user)[0]] = 1.0
            return (held * self.size + np.linspace(0, 10, held.size))[items]

    system = System(Sized, {"size": [0.5, 1.0, 2.0], "n_iter": [1, 2]})
    search = tune(system, folds, "top_n")
    assert list(search.system.grid["size"]) == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0]
    assert search.chosen()["size"] == 16.0
    assert search.system.edges(search.chosen()) == ["size"]  # thrice is the most
    assert list(search.system.grid["n_iter"]) == [1, 2]
    settled = tune(System(Sized, {"size": [0.5, 16.0, 32.0, 512.0]}), folds, "top_n")
    assert settled.system.edges(settled.chosen()) == []


def test_edges_are_where_a_row_of_numbers_ends():
    system = System(
        GAPfm,
        {"reg": [1.0, 2.0, 4.0], "n_iter": [50, 100], "selection": ["a", "b"], "x": [3]},
    )
    low = {"reg": 1.0, "n_iter": 50, "selection": "a", "x": 3}
    assert system.edges(low) == ["reg", "n_iter"]
    assert system.wider(low).grid["reg"] == [0.5, 1.0, 2.0, 4.0]
    assert system.wider(low).grid["n_iter"] == [25, 50, 100]
    high = low | {"reg": 4.0, "n_iter": 100, "selection": "b"}
    assert system.edges(high) == ["reg"]
    assert system.wider(high).grid["reg"] == [1.0, 2.0, 4.0, 8.0]
    middle = high | {"reg": 2.0}
    assert system.wider(middle) == system


def test_a_budget_draws_points_and_widens_nothing(folds):
    search = tune(SHRUNKEN, folds, "top_n", n_trials=2)
    assert len(search.trials) == 2
    assert search.system == SHRUNKEN
    one, other = (
        tune(SHRUNKEN, folds, "top_n", n_trials=2, random_state=s).trials for s in (5, 5)
    )
    assert one["settings"].tolist() == other["settings"].tolist()


# ------------------------------------------------------------------ tasks, failures


def test_ranking_is_another_task(folds):
    search = tune(SHRUNKEN, folds, "ranking")
    assert {"NDCG@1", "NDCG@3", "NDCG@5"} <= set(search.trials.columns)
    with pytest.raises(ValueError, match="task"):
        tune(SHRUNKEN, folds, "rating")


def test_a_diverging_trial_is_a_row_and_never_the_best(folds):
    wild = System(GAPfm, {"learning_rate": [0.01, 1e200]}, {"n_iter": 3})
    search = tune(wild, folds, "top_n", n_trials=2)
    failed = search.trials.set_index("settings").loc['{"learning_rate": 1e+200}']
    assert np.isnan(failed["NDCG@5"])
    assert "learning_rate" in failed["error"]
    assert search.chosen() == {"learning_rate": 0.01}
    hopeless = System(GAPfm, {"learning_rate": [1e200]}, {"n_iter": 3})
    with pytest.raises(ValueError, match="all 1 trials failed"):
        tune(hopeless, folds, "top_n").best()
