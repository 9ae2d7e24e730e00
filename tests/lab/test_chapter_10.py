"""What chapter 10 computes: against the plain-NumPy objective, and tables made by hand."""

import numpy as np
import pandas as pd
import pytest

from gapfm_lab import chapter_10
from gapfm_teach import GAPfm, simulate_ratings, split_given
from gapfm_teach.consistent.measures import consistent_measure, consistent_objective

OPTIONS = {"learning_rate": 0.3, "init_scale": 0.3, "n_negatives": 10, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    ratings = simulate_ratings(25, 40, mean_ratings=18, random_state=0)
    return split_given(ratings, 6, min_test=5, random_state=1)


@pytest.fixture(scope="module")
def trained(data):
    return {
        name: GAPfm(objective=objective, n_iter=4, **OPTIONS).fit(data[0])
        for name, objective in chapter_10.FAMILY.items()
    }


# ------------------------------------------------------------------ training


def test_smooth_measures_are_the_objectives_of_plain_numpy(data, trained):
    """With more samples than items every unrated item is taken: no draw to agree on."""
    train, models = data[0], trained
    found = chapter_10.smooth_measures(models, train)
    model = models["ERR"]
    for name, objective in chapter_10.FAMILY.items():
        total = consistent_objective(
            model.user_factors_, model.item_factors_, model.item_bias_, train,
            tau=model.objective_.temperature, unrated_weight=model.objective_.unrated_weight, reg=0.0,
            objective=objective, cutoff=chapter_10.CUTOFF,
        )  # fmt: skip
        assert found.loc["ERR", name] == pytest.approx(total / train.n_users, rel=1e-10)


def test_exact_measures_are_the_limits_of_the_smooth_ones(data, trained):
    """At a temperature far below the distance of two scores, on the whole list."""
    train, models = data[0], trained
    found = chapter_10.exact_measures(models, train)
    assert found.index.tolist() == found.columns.tolist() == list(chapter_10.FAMILY)
    for name, objective in chapter_10.FAMILY.items():
        value, _ = consistent_measure(objective, train.max_grade, chapter_10.CUTOFF)
        values = []
        for user in range(train.n_users):
            items, user_grades = train.row(user)
            grades = np.zeros(train.n_items, int)
            grades[items] = user_grades
            places = np.argsort(np.argsort(-models["AP"].predict(user)))
            values.append(value(-places, grades, tau=1e-3))
        assert found.loc["AP", name] == pytest.approx(np.mean(values), rel=1e-9)


# ------------------------------------------------------------------ who wins


MEANS = {
    "GAPfm, geometric": 0.3, "GAPfm": 0.1, "GAP": 0.2, "AP": 0.15, "GP@5": 0.2, "GR@5": 0.25,
    "ERR": 0.05,
}  # fmt: skip


def stored(means: dict, apart=(), metrics=chapter_10.MEASURES, given=(10,)) -> pd.DataFrame:
    """As `against_gap` gives it, where the intervals of `apart` leave 0 out."""
    rows = pd.DataFrame([
        {"given": n, "system": name, "metric": metric, "mean": means[name]}
        for n in given for metric in metrics for name in means
    ])  # fmt: skip
    pairs = rows[rows["system"] != "GAP"].assign(reference="GAP", n_splits=5)
    pairs["difference"] = pairs["mean"] - means["GAP"]
    half = abs(pairs["difference"]) * pairs["system"].isin(apart).map(
        {True: 0.9, False: 1.1}
    )
    half += 0.001 * (pairs["difference"] == 0)
    pairs["ci_low"], pairs["ci_high"] = (
        pairs["difference"] - half,
        pairs["difference"] + half,
    )
    return chapter_10.against_gap(rows, pairs.drop(columns="mean"))


def test_a_difference_to_gap_is_apart_where_its_interval_leaves_0_out():
    found = stored(MEANS, ("AP", "ERR"), metrics=("GR@5",)).set_index("system")
    assert found.loc[found["apart"]].index.tolist() == ["AP", "ERR"]
    assert found["difference"].to_dict() == pytest.approx(
        {name: mean - 0.2 for name, mean in MEANS.items()}
    )
    assert found["relative"].to_dict() == pytest.approx(
        {name: mean / 0.2 - 1 for name, mean in MEANS.items()}
    )


def test_who_wins_by_each_measure():
    found = chapter_10.winners(stored(MEANS, given=(30, 10)))
    assert found.index.tolist() == [(n, m) for n in (10, 30) for m in chapter_10.MEASURES]
    assert set(found["best"]) == {"geometric"}
    of_ten = found.loc[10]
    assert of_ten["own"].tolist() == ["", "", *chapter_10.FAMILY]
    assert of_ten.loc["ERR@5", "its place"] == 5
    assert of_ten.loc["GR@5", "its place"] == 1
