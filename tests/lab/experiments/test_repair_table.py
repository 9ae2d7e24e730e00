"""Notebook 09's result tables: against lists ranked one by one, and by hand."""

import json

import numpy as np
import pandas as pd
import pytest

from gapfm_teach import ndcg, simulate_ratings
from gapfm_teach.lab.experiments import repair_table
from gapfm_teach.lab.experiments.results import leads, spread_of_starts, step_by_step, wide
from gapfm_teach.lab.protocols import PROTOCOLS, split


def test_sources_show_the_average_users_list_to_all():
    ratings = simulate_ratings(40, 60, mean_ratings=35, random_state=0)
    settings = {
        "GAPfm": {"n_iter": 5},
        "GAPfm, geometric": {"reg": 0.5, "unrated_weight": 0.1, "n_iter": 9},
    }
    results = pd.DataFrame(
        {
            "given": 8,
            "system": list(settings),
            "settings": [json.dumps(4 * [one]) for one in settings.values()],
        }
    )
    found = repair_table.sources(ratings, results, 8, seeds=[3])
    assert found.index.tolist() == [
        "grade-weighted popularity", "printed", "geometric, one list for all", "geometric",
    ]  # fmt: skip
    train, _, test = split("catalogue", ratings, 8, 3)
    model = PROTOCOLS["repair"].system("GAPfm, geometric")
    model = model.build(settings["GAPfm, geometric"], 3).fit(train)
    shared = model.item_factors_ @ model.user_factors_.mean(axis=0) + model.item_bias_
    values = {"geometric": [], "geometric, one list for all": []}
    for user in range(train.n_users):
        grades = np.zeros(train.n_items, dtype=int)
        grades[test.row(user)[0]] = test.row(user)[1]
        rated_by_anybody = np.union1d(train.indices, test.indices)
        listed = np.setdiff1d(rated_by_anybody, train.row(user)[0])
        own = model.predict(user)
        values["geometric"].append(ndcg(grades[listed], own[listed], at=5))
        values["geometric, one list for all"].append(
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


def test_leads_are_seen_from_the_reference_and_say_what_is_clear():
    rows = [
        (10, "A", -0.05, -0.07, -0.03, 0.001),
        (30, "A", 0.02, -0.01, 0.05, 0.3),
        (10, "C", -0.01, -0.03, 0.01, 0.04),
    ]
    names = ["given", "system", "difference", "ci_low", "ci_high", "p_holm"]
    table = pd.DataFrame(rows, columns=names)
    table = table.assign(reference="B", metric="NDCG@5", n_splits=5)
    found = leads(table, "B", "NDCG@5")
    assert found.index.tolist() == ["C", "A"]  # nearest first
    assert found.loc["A"].tolist() == ["+.050* [+.030, +.070]", "-.020 [-.050, +.010]"]
    assert found.loc["C", 10] == "+.010* [-.010, +.030]"
    few = leads(table.assign(n_splits=4), "B", "NDCG@5")
    assert few.loc["A"].tolist() == ["+.050 [+.030, +.070]", "-.020 [-.050, +.010]"]
    with pytest.raises(ValueError, match=r"no comparisons with 'D' by 'NDCG@5'; .* with B"):
        leads(table, "D", "NDCG@5")


def test_each_step_has_its_mean_and_what_it_changed():
    known = {"given": 10, "metric": "NDCG@5"}
    change = {"change": [-0.05, -0.1, 0.001]}
    rows = [known | {"system": "printed", "mean": [0.3, 0.2, 0.4]}]
    rows += [
        known | {"system": "+ ranks", "mean": [0.25, 0.2, 0.3], "clear": False} | change
    ]
    rows += [known | {"system": "+ bias", "mean": [0.2, 0.1, 0.3], "clear": True} | change]
    rows += [known | {"system": "printed", "mean": [0.9, 0.8, 1.0], "metric": "AP@5"}]
    found = step_by_step(rows)[10]
    assert found.to_dict() == {
        "printed": ".300",
        "+ ranks": ".250 (-.050 [-.100, +.001])",
        "+ bias": ".200 (-.050* [-.100, +.001])",
    }


def test_the_spread_of_starts_is_that_of_single_trainings():
    """Means of a hundred splits whose starts lie apart as N(0, 0.03), splits as N(0, 0.1)."""
    rng = np.random.default_rng(0)
    trained = rng.normal(0.0, 0.1, 100) + rng.normal(0.0, 0.03, (40, 100))
    rows = pd.DataFrame(
        {
            "given": 10, "metric": "NDCG@5", "n_splits": 100, "mean": trained.mean(axis=1),
            "split_sd": trained.std(axis=1, ddof=1),
            "system": [f"geometric, start {k}" for k in range(40)],
        }
    )  # fmt: skip
    other = rows.iloc[:1].assign(system="geometric", mean=9.0)
    found = spread_of_starts(pd.concat([rows, other]), "NDCG@5").loc[10]
    assert found["starts"] == pytest.approx(0.03, rel=0.3)
    assert found["splits"] == pytest.approx(np.hypot(0.1, 0.03), rel=0.2)
