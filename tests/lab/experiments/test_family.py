"""What notebook 10 computes: against the plain-NumPy objective, and tables made by hand."""

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
            tau=model.options.temperature, unrated_weight=model.options.unrated_weight, reg=0.0,
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


def stored(means: dict, p_values: dict, metrics=("GR@5",), given=(10,)) -> pd.DataFrame:
    return pd.DataFrame([
        {"given": n, "system": name, "metric": metric, "mean": means[name],
         "p_value": p_values.get(name, np.nan)}
        for n in given for metric in metrics for name in means
    ])  # fmt: skip


MEANS = {"GAPfm": 0.1, "GAP": 0.2, "AP": 0.15, "GP@5": 0.2, "GR@5": 0.25, "ERR": 0.05}


def test_a_difference_is_clear_below_the_level_shared_among_all_tests():
    rows = stored(
        MEANS, {"GAPfm": 0.5, "AP": 0.0099, "GP@5": 0.9, "GR@5": 0.0101, "ERR": 0}
    )
    found = family.against_gap(rows).set_index("system")
    assert found.loc[found["clear"]].index.tolist() == ["AP", "ERR"]  # 0.05 / 5 tests
    assert found["relative"].to_dict() == pytest.approx(
        {"GAPfm": -0.5, "GAP": 0, "AP": -0.25, "GP@5": 0, "GR@5": 0.25, "ERR": -0.75}
    )


@pytest.mark.parametrize(("p", "clear"), [(1e-5, "yes"), (0.2, "no")])
def test_the_best_of_a_measure_and_whether_it_differs_from_gap(p, clear):
    rows = stored(MEANS, {"GAPfm": 0.5, "AP": 0.5, "GP@5": 0.5, "GR@5": p, "ERR": 0.5})
    found = family.winners(family.against_gap(rows)).loc[(10, "GR@5")]
    assert found.to_dict() == {"own": "GR@5", "best": "GR@5", "clear": clear}


@pytest.mark.parametrize(("p", "clear"), [(1e-5, "yes"), (0.2, "no")])
def test_gap_is_clearly_best_only_if_all_others_differ(p, clear):
    means = MEANS | {"GR@5": 0.1}
    others = dict.fromkeys(("AP", "GP@5", "GR@5"), 1e-6)
    rows = stored(means, {"GAPfm": 0.9, **others, "ERR": p}, metrics=("P@5",))
    found = family.winners(family.against_gap(rows)).loc[(10, "P@5")]
    assert found.to_dict() == {"own": "", "best": "GAP", "clear": clear}


def test_the_printed_objective_is_no_rival_of_the_family():
    rows = stored(MEANS | {"GAPfm": 0.9}, {"GAPfm": 1e-9})
    assert family.winners(family.against_gap(rows)).loc[(10, "GR@5"), "best"] == "GR@5"


def test_the_heat_map_shows_every_mean_and_frames_the_best_of_a_column():
    means = {name: mean + 0.001 * k for k, (name, mean) in enumerate(MEANS.items())}
    rows = stored(means, {"ERR": 0.0}, metrics=family.MEASURES, given=(10, 30))
    ax = family.heat_map(Figure().subplots(), family.against_gap(rows), 30)
    order = [*family.FAMILY, "GAPfm"]
    assert [label.get_text() for label in ax.get_yticklabels()] == order
    texts = {text.get_position(): text for text in ax.texts}
    assert len(texts) == len(order) * len(family.MEASURES)
    for (column, row), text in texts.items():
        assert text.get_text() == f"{means[order[row]]:.3f}"[1:], column
        assert (text.get_weight() == "bold") == (order[row] == "ERR")
    frames = [patch.get_xy()[1] + 0.46 for patch in ax.patches]
    assert frames == pytest.approx([order.index("GR@5")] * len(family.MEASURES))
