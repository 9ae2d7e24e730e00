"""Chapter 10: five objectives of one kernel, what each climbs, and who wins by which measure."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from gapfm_teach import metrics, plots
from gapfm_teach.model import GAPfm
from gapfm_teach.ratings import Ratings
from gapfm_teach.training.data import TrainingData
from gapfm_teach.training.objectives import SMOOTH_RANKS

from .protocols import FAMILY

OWN = dict(
    zip(FAMILY, ("GAP@5 (ideal)", "AP@5", "GP@5", "GR@5", "ERR@5"), strict=True)
)  # the measure that each objective stands for
MEASURES = ("P@5", "NDCG@5", *OWN.values())
ROWS = [*FAMILY, "GAPfm, geometric", "GAPfm"]  # of the heat map
KEY = ["given", "system", "metric"]
DEEPEST = 0.4  # share of GAP's mean at which the heat map's colours end
CUTOFF = 5  # of precision and recall, as the objectives have it
N_SAMPLED = 400  # unrated items of each user when smooth measures are compared


# ------------------------------------------------------------------ what training climbs


def smooth_measures(models: Mapping[str, GAPfm], train: Ratings) -> pd.DataFrame:
    """Each smooth measure of `FAMILY`, mean over users, at each model: a row a model.

    At the model's own temperature and unrated_weight, with the same sample of unrated
    items for all.
    """
    uniforms = np.random.default_rng(0).random((train.n_users, N_SAMPLED))
    data, rows = TrainingData(train), {}
    for name, model in models.items():
        V = np.column_stack([model.item_factors_, model.item_bias_])
        own: Any = model.objective_
        same: dict[str, Any] = {
            "temperature": own.temperature,
            "unrated_weight": own.unrated_weight,
        }
        rows[name] = {
            other: replace(SMOOTH_RANKS[objective], **same).sampled_gradients(
                data, model.user_factors_, V, uniforms
            )[0]
            / train.n_users
            for other, objective in FAMILY.items()
        }
    return pd.DataFrame(rows).T


def exact_measures(models: Mapping[str, GAPfm], train: Ratings) -> pd.DataFrame:
    """The exact twin of each smooth measure of `FAMILY`, mean over users: a row a model.

    All items are ranked for the ratings of `train`. GAP, AP and ERR of the whole list, GP and GR
    at `CUTOFF`; GP with the standard of its objective, the n-th best grade of the user.
    """
    rows = {}
    for name, model in models.items():
        lists = []
        for user in range(train.n_users):
            rated, grades = train.row(user)
            listed = np.zeros(train.n_items, dtype=np.int64)
            listed[rated] = grades
            lists.append(_exact(listed, model.predict(user), train.max_grade))
        rows[name] = pd.DataFrame(lists).mean()
    return pd.DataFrame(rows).T


def _exact(grades: np.ndarray, scores: np.ndarray, scale: int) -> dict[str, float]:
    n = CUTOFF
    delta = metrics.thresholding_probabilities(scale)
    worth = metrics.cumulative_weights(delta)[grades]
    best_first = np.sort(worth[worth > 0])[::-1]
    standard = best_first[min(n, best_first.size) - 1]
    shown = worth[metrics.ranks(scores) <= n]
    values = (
        metrics.graded_average_precision(grades, scores, delta=delta),
        metrics.average_precision(grades > 0, scores),
        float(np.minimum(shown, standard).sum() / standard / n),
        metrics.graded_recall(grades, scores, at=n, delta=delta),
        metrics.expected_reciprocal_rank(grades, scores, max_grade=scale),
    )
    return dict(zip(FAMILY, values, strict=True))


# ------------------------------------------------------------------ who wins


def against_gap(table: pd.DataFrame, differences: pd.DataFrame) -> pd.DataFrame:
    """The stored table "family", with what its paired comparisons say beside the reference "GAP".

    differences : the comparisons that `reproduce` wrote beside it. Adds columns relative, the
    difference to GAP's mean as a share of it; difference, to GAP, 0 for GAP itself; and apart: does
    the 95% interval of the difference leave 0 out? Of so many some do by chance.
    """
    reference = table[table["system"] == "GAP"]
    means = reference.set_index(["given", "metric"])["mean"]
    base = means.loc[pd.MultiIndex.from_frame(table[["given", "metric"]])].to_numpy()
    found = differences.set_index(KEY).reindex(pd.MultiIndex.from_frame(table[KEY]))
    return table.assign(
        relative=table["mean"] / base - 1,
        difference=found["difference"].fillna(0).to_numpy(),
        apart=((found["ci_low"] > 0) | (found["ci_high"] < 0)).to_numpy(),
    )


def winners(compared: pd.DataFrame) -> pd.DataFrame:
    """Who wins by each measure: a row a (given, metric), from `against_gap`.

    Columns own, the objective of `FAMILY` whose measure it is ("" for P and NDCG), and its place
    among them; best, the first of all that stand in the table.
    """
    owner = {metric: name for name, metric in OWN.items()}
    rows = []
    ordered = compared.sort_values(["given", "mean"], ascending=[True, False])
    for given, of_given in ordered.groupby("given"):
        for metric in MEASURES:
            names = of_given.loc[of_given["metric"] == metric, "system"]
            family = [name for name in names if name in FAMILY]
            own = owner.get(metric, "")
            rows.append({
                "given": given, "metric": metric,
                "own": own, "its place": family.index(own) + 1 if own else "",
                "best": names.iloc[0].removeprefix("GAPfm, "),
            })  # fmt: skip
    return pd.DataFrame(rows).set_index(["given", "metric"])


def heat_map(ax: Axes, compared: pd.DataFrame, given: int) -> Axes:
    """Means of one Given, a row a system, coloured by the share above or below GAP's.

    Bold where `against_gap` finds the difference apart from 0; a frame around the best of a column.
    """
    rows = compared[compared["given"] == given].set_index(["system", "metric"])
    places = pd.MultiIndex.from_product([ROWS, MEASURES])
    shape = (len(ROWS), len(MEASURES))
    mean, relative, apart = (
        rows[column].reindex(places).to_numpy().reshape(shape)
        for column in ("mean", "relative", "apart")
    )
    plots.shaded(ax, relative, [plots.VERMILION, plots.BLUE], strongest=DEEPEST)
    for i, j in np.ndindex(shape):
        ax.text(j, i, f"{mean[i, j]:.3f}"[1:], ha="center", va="center",
                weight="bold" if apart[i, j] else "normal")  # fmt: skip
    for j, i in enumerate(mean.argmax(axis=0)):
        ax.add_patch(
            mpl.patches.Rectangle(
                (j - 0.47, i - 0.46), 0.94, 0.92, fill=False, ec=plots.BLACK, lw=2
            )
        )
    ax.set_xticks(range(len(MEASURES)), [name.split("@")[0] for name in MEASURES])
    ax.set_yticks(range(len(ROWS)), ROWS)
    ax.grid(False)
    return plots.label(ax, "", "", f"Given {given}")
