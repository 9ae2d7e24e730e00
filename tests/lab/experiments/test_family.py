"""What notebook 10 computes: against the plain-NumPy objective, and tables made by hand."""

import json

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from gapfm_teach import GAPfm, simulate_ratings, split_given
from gapfm_teach.lab.catalogue import catalogue_per_user
from gapfm_teach.lab.experiments import family
from gapfm_teach.repaired.measures import consistent_measure, consistent_objective
from gapfm_teach.splits import subset

OPTIONS = {"learning_rate": 0.3, "init_scale": 0.3, "n_negatives": 10, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    ratings = simulate_ratings(25, 40, mean_ratings=18, random_state=0)
    return split_given(ratings, 6, min_test=5, random_state=1)


@pytest.fixture(scope="module")
def trained(data):
    return family.train_all(*data, iterations=(1, 4), **OPTIONS)


# ------------------------------------------------------------------ training


def test_models_are_those_that_each_objective_trains(data, trained):
    models, _ = trained
    for name, objective in family.FAMILY.items():
        alone = GAPfm(objective=objective, n_iter=4, **OPTIONS).fit(data[0])
        np.testing.assert_array_equal(models[name].item_factors_, alone.item_factors_)


def test_rows_are_exact_measures_of_both_lists_at_the_iterations_named(data, trained):
    models, log = trained
    keys = log[["objective", "iteration", "lists"]]
    assert not keys.duplicated().any()
    assert len(log) == len(family.FAMILY) * 2 * 2
    last = log[(log["lists"] == "held out") & (log["iteration"] == 4)]
    for name, row in last.set_index("objective").iterrows():
        expected = catalogue_per_user(models[name], *data, random_state=0).mean()
        assert row[expected.index].to_dict() == pytest.approx(expected.to_dict())


def test_training_lists_hold_all_items(data):
    """A model that knows the training ratings is perfect on them, and only if they compete."""
    train, _ = data

    class Knows:
        def predict(self, user, items):
            scores = np.zeros(train.n_items)
            rated, grades = train.row(user)
            scores[rated] = grades
            return scores[items]

    nothing = subset(train, np.zeros(train.n_ratings, dtype=bool), "")
    found = catalogue_per_user(Knows(), nothing, train, random_state=0).mean()
    assert found["GAP@5 (ideal)"] == pytest.approx(1.0)
    assert found["NDCG@5"] == pytest.approx(1.0)


def test_smooth_measures_are_the_objectives_of_plain_numpy(data, trained):
    """With more samples than items every unrated item is taken: no draw to agree on."""
    train, (models, _) = data[0], trained
    found = family.smooth_measures(models, train)
    model = models["ERR"]
    for name, objective in family.FAMILY.items():
        total = consistent_objective(
            model.user_factors_, model.item_factors_, model.item_bias_, train,
            tau=model.objective_.temperature, unrated_weight=model.objective_.unrated_weight, reg=0.0,
            objective=objective, cutoff=family.CUTOFF,
        )  # fmt: skip
        assert found.loc["ERR", name] == pytest.approx(total / train.n_users, rel=1e-10)


def test_exact_measures_are_the_limits_of_the_smooth_ones(data, trained):
    """At a temperature far below the distance of two scores, on the whole list."""
    train, (models, _) = data[0], trained
    found = family.exact_measures(models, train)
    assert found.index.tolist() == found.columns.tolist() == list(family.FAMILY)
    for name, objective in family.FAMILY.items():
        value, _ = consistent_measure(objective, train.max_grade, family.CUTOFF)
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


def stored(means: dict, apart=(), metrics=family.MEASURES, given=(10,)) -> pd.DataFrame:
    """As `against_gap` gives it, where the intervals of `apart` leave 0 out."""
    rows = pd.DataFrame([
        {"given": n, "system": name, "metric": metric, "mean": means[name]}
        for n in given for metric in metrics for name in means
    ])  # fmt: skip
    pairs = rows[rows["system"] != "GAP"].assign(reference="GAP", p_value=1e-9, n_splits=5)
    pairs["difference"] = pairs["mean"] - means["GAP"]
    half = abs(pairs["difference"]) * pairs["system"].isin(apart).map(
        {True: 0.9, False: 1.1}
    )
    half += 0.001 * (pairs["difference"] == 0)
    pairs["ci_low"], pairs["ci_high"] = (
        pairs["difference"] - half,
        pairs["difference"] + half,
    )
    other = pairs.assign(reference="GAPfm", ci_low=1.0, ci_high=1.0)
    return family.against_gap(rows, pd.concat([other, pairs]).drop(columns="mean"))


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
    compared = stored(MEANS, ("GAPfm, geometric", "ERR", "GAPfm"), given=(30, 10))
    found = family.winners(compared)
    assert found.index.tolist() == [(n, m) for n in (10, 30) for m in family.MEASURES]
    assert set(found["best of five"]) == {"GR@5"}
    assert set(found["best of all"]) == {"geometric"}
    assert set(found["interval ahead of GAP"]) == {"geometric"}
    assert set(found["interval behind GAP"]) == {"GAPfm, ERR"}
    of_ten = found.loc[10]
    assert of_ten["own"].tolist() == ["", "", *family.FAMILY]
    assert of_ten.loc["ERR@5", "its place"] == 5
    assert of_ten.loc["GR@5", "its place"] == 1


def test_where_nothing_is_apart_no_name_stands():
    found = family.winners(stored(MEANS))
    assert set(found["interval ahead of GAP"]) == set(found["interval behind GAP"]) == {"–"}


def test_what_was_chosen_by_the_own_measure():
    def settings(reg: float) -> str:
        return json.dumps({"reg": reg, "unrated_weight": 0.05, "temperature": 1.0})

    choices = pd.DataFrame([
        {"given": 10, "system": name, "metric": metric, "seed": seed,
         "settings": settings(0.125 + seed if own == name else 9.0)}
        for name in [*family.FAMILY, "GAPfm"]
        for own, metric in family.OWN.items()
        for seed in (0, 1)
    ])  # fmt: skip
    found = family.chosen(choices)
    assert found.index.tolist() == [(10, name) for name in family.FAMILY]
    assert found[1].tolist() == ["0.12, 0.05, 1"] * 5
    assert found[2].tolist() == ["1.1, 0.05, 1"] * 5


def test_the_heat_map_shows_every_mean_and_frames_the_best_of_a_column():
    means = {name: mean + 0.001 * k for k, (name, mean) in enumerate(MEANS.items())}
    ax = family.heat_map(Figure().subplots(), stored(means, ("ERR",), given=(10, 30)), 30)
    assert [label.get_text() for label in ax.get_yticklabels()] == family.ROWS
    texts = {text.get_position(): text for text in ax.texts}
    assert len(texts) == len(family.ROWS) * len(family.MEASURES)
    for (column, row), text in texts.items():
        name = family.ROWS[row]
        assert text.get_text() == f"{means[name]:.3f}"[1:], column
        assert (text.get_weight() == "bold") == (name == "ERR")
    frames = [patch.get_xy()[1] + 0.46 for patch in ax.patches if not patch.get_fill()]
    best = family.ROWS.index("GAPfm, geometric")
    assert frames == pytest.approx([best] * len(family.MEASURES))
