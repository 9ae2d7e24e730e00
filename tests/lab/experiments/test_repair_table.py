"""Notebook 09's result tables: against lists ranked one by one, and by hand."""

import json

import numpy as np
import pandas as pd
import pytest

from gapfm_teach import ndcg, simulate_ratings
from gapfm_teach.lab.experiments import repair_table
from gapfm_teach.lab.experiments.results import gains, wide
from gapfm_teach.lab.protocols import PROTOCOLS, split


def test_sources_show_the_average_users_list_to_all():
    ratings = simulate_ratings(40, 60, mean_ratings=35, random_state=0)
    settings = {"GAPfm": {"n_iter": 5}, "GAPfm, consistent": {"reg": 0.01, "n_iter": 9}}
    results = pd.DataFrame(
        {
            "given": 8,
            "system": list(settings),
            "settings": [*map(json.dumps, settings.values())],
        }
    )
    found = repair_table.sources(ratings, results, 8, seeds=[3])
    assert found.index.tolist() == [
        "grade-weighted popularity", "printed", "repaired, one list for all", "repaired",
    ]  # fmt: skip
    train, _, test = split("catalogue", ratings, 8, 3)
    model = PROTOCOLS["repair"].system("GAPfm, consistent")
    model = model.build(settings["GAPfm, consistent"], 3).fit(train)
    shared = model.item_factors_ @ model.user_factors_.mean(axis=0) + model.item_bias_
    values = {"repaired": [], "repaired, one list for all": []}
    for user in range(train.n_users):
        grades = np.zeros(train.n_items, dtype=int)
        grades[test.row(user)[0]] = test.row(user)[1]
        rated_by_anybody = np.union1d(train.indices, test.indices)
        listed = np.setdiff1d(rated_by_anybody, train.row(user)[0])
        own = model.predict(user)
        values["repaired"].append(ndcg(grades[listed], own[listed], at=5))
        values["repaired, one list for all"].append(
            ndcg(grades[listed], shared[listed], at=5)
        )
    for name, per_user in values.items():
        assert found.loc[name, "NDCG@5"] == pytest.approx(np.mean(per_user))


# ------------------------------------------------------------------ the table


@pytest.fixture
def results():
    rows = [
        (10, "A", "NDCG@5", 0.20, 0.19, 0.21),
        (10, "B", "NDCG@5", 0.25, 0.22, 0.28),
        (30, "A", "NDCG@5", 0.30, 0.28, 0.32),
        (30, "B", "NDCG@5", 0.24, 0.22, 0.29),
        (10, "A", "P@5", 0.1, 0.1, 0.1),
    ]
    return pd.DataFrame(
        rows, columns=["given", "system", "metric", "mean", "ci_low", "ci_high"]
    )


def test_wide_has_the_best_system_first(results):
    table = wide(results, "NDCG@5")
    assert table.index.tolist() == ["B", "A"]
    assert table.loc["A"].tolist() == [
        ".200\N{NO-BREAK SPACE}±.010",
        ".300\N{NO-BREAK SPACE}±.020",
    ]


def test_gains_say_which_intervals_are_apart(results):
    table = gains(results, "B", ["NDCG@5"])
    assert table.loc[("NDCG@5", "A")].tolist() == ["+25.0%*", "-20.0%"]
    with pytest.raises(ValueError, match=r"no results of 'C'; there are A, B"):
        gains(results, "C")


# ------------------------------------------------------------------ three tests


def test_three_tests_differ_in_what_is_searched_for_and_among_what():
    ratings = simulate_ratings(40, 60, mean_ratings=35, random_state=0)
    results = pd.DataFrame({"given": [8], "system": "GAPfm", "settings": ['{"n_iter": 5}']})
    found = repair_table.three_tests(ratings, results, 8, ["GAPfm"], seeds=[3])
    train, known, ten = split("top_n", ratings, 8, 3)
    model = PROTOCOLS["repair"].system("GAPfm").build({"n_iter": 5}, 3).fit(train)
    values = {name: [] for name in found}
    original = ratings.to_scipy().toarray()
    anybody = np.flatnonzero(original.any(axis=0))
    for user in range(train.n_users):
        everything = original[list(ratings.users).index(train.users[user])]
        mine, hidden = train.row(user)[0], ten.row(user)[0]
        only_ten = np.zeros_like(everything)
        only_ten[hidden] = everything[hidden]
        scores = model.predict(user)
        not_mine = np.setdiff1d(anybody, mine)
        offered = np.setdiff1d(anybody, known.row(user)[0])
        for name, grades, listed in [
            ("all others", everything, not_mine),
            ("ten, the rest as if unrated", only_ten, not_mine),
            ("ten, the rest in no list", only_ten, offered),
        ]:
            values[name].append(ndcg(grades[listed].astype(int), scores[listed], at=5))
    for name, per_user in values.items():
        assert found.loc["GAPfm", name] == pytest.approx(np.mean(per_user))
    assert found.loc["GAPfm"].nunique() == 3
