"""Fair tuning: where its parts come from, that trials repeat, and what is chosen."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from gapfm_teach import GAPfm, Ratings, simulate_ratings, split_given
from gapfm_teach.evaluation import top_n_per_user
from gapfm_teach.lab.baselines import MeanRating, Popularity
from gapfm_teach.lab.tuning import N_VALIDATIONS, SYSTEMS, System, best_settings, tune
from gapfm_teach.learning.recommender import Recommender
from gapfm_teach.splits import hold_out, without


@pytest.fixture(scope="module")
def train():
    ratings = simulate_ratings(80, 60, mean_ratings=30, random_state=0)
    return split_given(ratings, 12, min_test=2, random_state=1)[0]


QUICK = {
    "PopRec": System(Popularity),
    "Shrunken": System(MeanRating, {"shrinkage": [0.0, 1.0, 10.0, 100.0]}),
    "GAPfm": System(GAPfm, {"learning_rate": [0.001, 0.03]}, {"n_iter": 3}),
}


def triples(ratings):
    return set(ratings.to_frame().itertuples(index=False, name=None))


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


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_grid_point_can_be_built(name):
    system = SYSTEMS[name]
    settings = system.draw(20, np.random.default_rng(0))
    assert len({json.dumps(s) for s in settings}) == len(settings) <= 20
    for point in settings:
        assert isinstance(system.build(point, 0), Recommender)


def test_all_get_the_same_budget_and_the_same_parts(train):
    trials = tune(QUICK, train, n_trials=3)
    counts = trials["system"].value_counts()
    assert counts.to_dict() == {"PopRec": 1, "Shrunken": 3, "GAPfm": 2}
    assert trials["split"].nunique() == 1
    assert trials["NDCG@5"].between(0, 1).all()


def test_a_system_is_shown_the_fitting_part_alone(train):
    seen = []

    class Spy(Popularity):
        def fit(self, train, validation=None):
            seen.append((train, validation))
            return super().fit(train, validation)

    tune({"spy": System(Spy)}, train, random_state=4)
    assert len(seen) == N_VALIDATIONS
    assert len({frozenset(triples(given)) for given, _ in seen}) == N_VALIDATIONS
    for given, validation in seen:
        assert validation is None
        assert triples(given) < triples(train)


def test_a_trial_is_the_mean_over_the_validation_parts(train):
    [trial] = tune({"PopRec": QUICK["PopRec"]}, train, random_state=4).to_dict("records")
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

    trials = [
        tune({"aside": System(Aside)}, train, known=k)["NDCG@5"].item()
        for k in (None, known)
    ]
    assert trials[0] < 0.5 * trials[1]


def test_without_is_the_set_difference(train):
    fitting, validation = hold_out(train, random_state=0)
    assert triples(without(train, validation)) == triples(fitting)
    assert triples(without(train, fitting)) == triples(validation)


@pytest.mark.slow
def test_the_table_repeats_and_others_do_not_disturb_it(train):
    once = tune(QUICK, train, n_trials=2, random_state=5)
    pd.testing.assert_frame_equal(once, tune(QUICK, train, n_trials=2, random_state=5))
    alone = tune({"Shrunken": QUICK["Shrunken"]}, train, n_trials=2, random_state=5)
    shared = once[once["system"] == "Shrunken"].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, shared)


def test_equal_grids_are_tried_at_equal_settings(train):
    grid = {"learning_rate": [0.001, 0.003, 0.01, 0.03]}
    pair = {
        "a": System(GAPfm, grid, {"n_iter": 2}),
        "b": System(GAPfm, grid, {"n_iter": 3}),
    }
    trials = tune(pair, train, n_trials=2)
    a, b = (trials.loc[trials["system"] == name, "settings"].tolist() for name in "ab")
    assert a == b
    assert len(set(a)) == 2


@pytest.mark.slow
def test_a_stored_table_is_taken_up_where_it_stopped(train):
    stored = []
    whole = tune(QUICK, train, n_trials=3, callback=lambda table: stored.append(table))
    assert [len(table) for table in stored] == list(range(1, len(whole) + 1))
    text = stored[2].to_csv(index=False)
    again = []
    resumed = tune(
        QUICK, train, n_trials=3, done=pd.read_csv(io.StringIO(text)),
        callback=lambda table: again.append(table),
    )  # fmt: skip
    assert len(again) == len(whole) - 3
    pd.testing.assert_frame_equal(
        resumed.drop(columns="error"), whole.drop(columns="error")
    )


def test_a_table_of_other_data_or_another_seed_is_not_taken_over(train):
    done = tune({"PopRec": QUICK["PopRec"]}, train).assign(**{"NDCG@5": 2.0})
    same = tune({"PopRec": QUICK["PopRec"]}, train, done=done)
    assert same["NDCG@5"].tolist() == [2.0]
    other = tune({"PopRec": QUICK["PopRec"]}, train, random_state=1, done=done)
    assert other["NDCG@5"].max() <= 1


@pytest.mark.slow
def test_ranking_is_the_other_task(train):
    trials = tune({"Shrunken": QUICK["Shrunken"]}, train, task="ranking")
    assert {"NDCG@1", "NDCG@3", "NDCG@5"} <= set(trials.columns)
    assert not any(column.startswith("GAP") for column in trials.columns)
    with pytest.raises(ValueError, match="task"):
        tune(QUICK, train, task="rating")


def test_a_diverging_trial_is_a_row_and_never_the_best(train):
    wild = {"GAPfm": System(GAPfm, {"learning_rate": [1e200, 0.01]}, {"n_iter": 3})}
    trials = tune(wild, train).set_index("settings")
    failed = trials.loc['{"learning_rate": 1e+200}']
    assert np.isnan(failed["NDCG@5"])
    assert "learning_rate" in failed["error"]
    assert best_settings(trials.reset_index()) == {"GAPfm": {"learning_rate": 0.01}}
    with pytest.raises(ValueError, match="all 1 trials of GAPfm failed"):
        best_settings(trials.reset_index().query("error != ''"))


def test_the_best_is_the_highest_and_the_first_of_equals():
    rows = [("a", 0.1, 1), ("a", 0.3, 2), ("a", 0.3, 3), ("b", 0.2, 4)]
    trials = pd.DataFrame(
        [
            {"system": s, "P@5": p, "error": "", "settings": f'{{"reg": {v}}}'}
            for s, p, v in rows
        ]
    )
    assert best_settings(trials, "P@5") == {"a": {"reg": 2}, "b": {"reg": 4}}
