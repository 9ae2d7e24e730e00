"""The paper's small step from two starts: the law, the lists, and how users count."""

import numpy as np
import pandas as pd
import pytest

from gapfm_teach import GAPfm, simulate_ratings, split_given, top_n_per_user
from gapfm_teach.lab.baselines import Popularity
from gapfm_teach.lab.experiments.paper_step import METRICS, paper_step
from gapfm_teach.splits import given_only


@pytest.fixture(scope="module")
def parts():
    ratings = simulate_ratings(300, 80, mean_ratings=30, random_state=0)
    return split_given(ratings, 20, min_test=5, random_state=1)


@pytest.fixture(scope="module")
def rows(parts):
    table = paper_step(*parts, learning_rate=1e-3, n_iter=20)
    return table.set_index(["system", "iterations"])


def test_popularity_is_measured_as_everything_is(parts, rows):
    train, probe = parts
    model = Popularity().fit(given_only(train, 10, random_state=0))
    due = top_n_per_user(model, train, probe, random_state=0).mean()[METRICS]
    assert rows.loc[("PopRec", 0), METRICS].to_numpy(float) == pytest.approx(due.to_numpy())


def test_from_a_small_start_the_law_holds_and_the_model_agrees(parts, rows):
    train, probe = parts
    row = rows.loc[("normal, sd 0.01", 20)]
    assert row["measured"] == pytest.approx(row["predicted"], rel=1e-2)
    assert row["predicted"] == pytest.approx((1 + 1e-3 * row["σ"]) ** 20)
    given = given_only(train, 10, random_state=0)
    model = GAPfm(learning_rate=1e-3, n_iter=20, random_state=0).fit(given)
    due = top_n_per_user(model, train, probe, random_state=0).mean()[METRICS]
    assert row[METRICS].to_numpy(float) == pytest.approx(due.to_numpy())


def test_a_uniform_start_is_off_the_flat_region(rows):
    """Scores are of order 1 from the first, where g is flatter: what grows grows by less."""
    grown = rows["measured"].unstack()[20] - 1
    assert 0 < grown["uniform, 0 to 1"] < 0.5 * grown["normal, sd 0.01"]
    lists = rows["NDCG@5"].unstack()
    assert lists.loc["uniform, 0 to 1", 0] < lists.loc["uniform, 0 to 1", 20]


def test_users_who_rate_the_same_make_the_step_larger(parts):
    """Of each user twice, σ is √2 times as large."""
    both = [type(part).from_frame(_twice(part.to_frame()), max_grade=5) for part in parts]
    options = {"n_given": 20, "learning_rate": 1e-3, "n_iter": 1}
    one, two = (
        paper_step(*pair, **options)["σ"].dropna().iloc[0] for pair in (parts, both)
    )
    assert two == pytest.approx(np.sqrt(2) * one, rel=1e-6)


def _twice(frame):
    return pd.concat([frame, frame.assign(user=frame["user"].max() + 1 + frame["user"])])
