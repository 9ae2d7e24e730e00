"""Chapter 9: what an objective makes of a film, who decides, whose pull it is, and single changes."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from gapfm_teach.consistent.gap import consistent_gap_gradient
from gapfm_teach.consistent.ranks import consistent_rank
from gapfm_teach.model import GAPfm
from gapfm_teach.paper import (
    logistic,
    pair_weights,
    ranks,
    smoothed_gap_gradient,
    thresholding_probabilities,
)
from gapfm_teach.plots import BLUE, VERMILION
from gapfm_teach.ratings import Ratings
from gapfm_teach.training.objectives import SMOOTH_RANKS

from .experiments.results import read_results
from .primary.declared import ALPHA, METRIC
from .protocols import WHOLE

# ------------------------------------------------------------------ one film


def watch(
    model: GAPfm, user: int, item: int, objective: str, *, unrated_weight: float = 1.0
) -> dict[str, float]:
    """What an objective makes of a film that `user` rated, where `model` stands.

    user, item : positions; the item is one of the user's in training. objective : "paper", or one
    with smooth ranks, at τ = 1. Returns rank, among all items; believed, the rank the objective
    takes it for: 1/g(f) of (7), or R̂; pull, ∂/∂f of its score, as many times the mean upward pull
    on all ratings of training.
    """
    f, rated = model.predict(user), model.train_.row(user)[0]
    weights = np.full(f.size, unrated_weight)
    weights[rated] = 1.0
    if objective == "paper":
        believed = 1 / logistic(f[item])
    else:
        believed = consistent_rank(f, 1.0, weights)[item]
    table = film_pulls(model, objective=objective, unrated_weight=unrated_weight)
    mine = table[(table["user"] == user) & (table["item"] == item)]
    pull = mine["pull"].item() / table["pull"].clip(lower=0.0).mean()
    return {"rank": int(ranks(f)[item]), "believed": float(believed), "pull": float(pull)}


# ------------------------------------------------------------------ who decides


def user_pulls(ratings: Ratings) -> pd.DataFrame:
    """How hard each user pulls at the scores where all are 0: the length of ∂/∂f over rated items.

    A row a user; columns n_rated; printed, of (8); divided, of (8) by the user's Z; consistent, of
    `consistent_gap` at τ = 1 with all unrated items.
    """
    delta, rows = thresholding_probabilities(ratings.max_grade), []
    for user in range(ratings.n_users):
        grades = ratings.row(user)[1].astype(np.int64)
        printed = np.linalg.norm(smoothed_gap_gradient(0.0 * grades, grades, delta))
        # At 0 all unrated items are alike: one that stands for all of them does for them.
        listed = np.append(grades, 0)
        weights = np.append(np.ones(grades.size), ratings.n_items - grades.size)
        slope = consistent_gap_gradient(0.0 * listed, listed, delta, 1.0, weights)
        rows.append({
            "n_rated": grades.size,
            "printed": printed,
            "divided": printed / np.trace(pair_weights(grades, delta)),
            "consistent": np.linalg.norm(slope[:-1]),
        })  # fmt: skip
    return pd.DataFrame(rows)


# ------------------------------------------------------------------ where the pull goes


def film_pulls(
    model: GAPfm, exponent: float = 0.0, every: int = 1, *, objective: str = "geometric",
    unrated_weight: float | None = None,
) -> pd.DataFrame:  # fmt: skip
    """How hard each rated film of training is pulled where `model` stands, and its smooth place.

    Where the pull would go with `objective`, whatever the model was fitted with: "paper", or one
    with smooth ranks, at the model's temperature (1 if it has none); `exponent` p for "geometric",
    unrated_weight as the model's unless given. Of every `every`-th user. A row a rating of
    training: user and item, positions; place, R̂ among all films; pull, ∂/∂f, above 0 where the
    film is lifted.
    """
    train, rows = model.train_, []
    tau = getattr(model.objective_, "temperature", 1.0)
    if unrated_weight is None:
        unrated_weight = model.objective_.options["unrated_weight"]
    if objective != "paper":
        measure = replace(SMOOTH_RANKS[objective], temperature=tau)
        if objective == "geometric":
            measure = replace(measure, exponent=float(exponent))
    for user in range(0, train.n_users, every):
        rated, given = train.row(user)
        best_first = np.argsort(-given, kind="stable")
        rated, given = rated[best_first], given[best_first]
        others = np.setdiff1d(np.arange(train.n_items), rated)
        scores = model.predict(user)[np.append(rated, others)]
        if objective == "paper":
            delta = thresholding_probabilities(train.max_grade)
            slope = smoothed_gap_gradient(scores[: rated.size], given, delta)
        else:
            slope = measure.user_gradient(given, train.max_grade, scores.size)(
                scores, float(unrated_weight)
            )
        above = logistic((scores - scores[: rated.size, None]) / tau)
        place = 0.5 + above.sum(axis=1)
        rows.append(
            pd.DataFrame(
                {"user": user, "item": rated, "place": place, "pull": slope[: rated.size]}
            )
        )
    return pd.concat(rows, ignore_index=True)


def share_of_lower_half(table: pd.DataFrame) -> float:
    """The share of all upward pull, in [0, 1], that goes to the worse-placed half of the ratings.

    table : as `film_pulls` gives it.
    """
    lifted = table["pull"].clip(lower=0.0)
    lower = table["place"] > table["place"].median()
    return float(lifted[lower].sum() / lifted.sum())


def pulled_films(model: GAPfm, user: int) -> dict:
    """One user's rated films where `model` stands, best place first, without saying which they are.

    What the view "who_is_pulled" takes: grades, scores, and over all unrated j the sums of t_ij and
    of t_ij (1 - t_ij), from which the pull follows for every exponent and weight.
    """
    train, tau = model.train_, getattr(model.objective_, "temperature", 1.0)
    rated, grades = train.row(user)
    scores = model.predict(user)
    others = np.delete(scores, rated)
    t = logistic((others[None, :] - scores[rated, None]) / tau)
    above, slope = t.sum(axis=1), (t * (1 - t)).sum(axis=1)
    order = np.argsort(-scores[rated], kind="stable")
    return {
        "grades": grades[order].astype(np.int32), "scores": scores[rated][order],
        "above": above[order], "slope": slope[order], "tau": float(tau),
        "maxGrade": train.max_grade, "films": train.n_items,
    }  # fmt: skip


def typical_user(model: GAPfm, *, every: int = 3) -> tuple[int, dict[str, float]]:
    """Whose worse-placed half gets a share of the pull like everybody's, and everybody's shares.

    At the corners p = 1 and 0, w = 1 and .05, of every `every`-th user.
    """
    apart, shares = [], {}
    for p, w in ((1.0, 1.0), (1.0, 0.05), (0.0, 1.0), (0.0, 0.05)):
        table = film_pulls(model, p, every, unrated_weight=w)
        shares[f"p = {p:g}, w = {w:g}"] = share = share_of_lower_half(table)
        table["place of"] = table.groupby("user")["place"].rank(pct=True)
        lifted = table["pull"].clip(lower=0.0)
        worse = lifted.where(table["place of"] > 0.5, 0.0).groupby(table["user"]).sum()
        apart.append((worse / lifted.groupby(table["user"]).sum() - share) ** 2)
    distance = pd.concat(apart, axis=1).sum(axis=1)
    return distance.index.to_list()[int(distance.to_numpy().argmin())], shares


# ------------------------------------------------------------------ one change at a time


def steps_of(
    table: str | Path, metrics: Sequence[str] = ("NDCG@5", "GAP@5 (ideal)", "AP@5")
) -> dict:
    """The stored single changes, `table` the path to ablation.csv: what the view "one_change" takes.

    A row a step, measure and Given: its mean, and its difference to the step before, or for what is
    taken out to all changes of consistent GAP, each with a 95% interval.
    """
    results = read_results(table)
    paired = read_results(str(table).replace(".csv", "_differences.csv"))
    keys = ["system", "given", "metric"]
    limits = paired.set_index(keys)[["difference", "ci_low", "ci_high"]]
    changes = dict(zip(limits.index, limits.to_numpy().tolist(), strict=True))
    rows = []
    for row in results[results["metric"].isin(metrics)].itertuples():
        out: dict = {"given": row.given, "metric": row.metric, "system": row.system}
        out |= {"mean": [row.mean, row.ci_low, row.ci_high]}
        if (change := changes.get((row.system, row.given, row.metric))) is not None:
            out |= {"change": change}
        rows.append(out)
    return {"whole": WHOLE, "rows": rows}


# ------------------------------------------------------------------ the primary table

DATA_NAMES = {"100k": "MovieLens 100K", "latest-small": "latest-small"}


def draw_endpoint(means: pd.DataFrame) -> Figure:
    """The primary endpoint of all systems: a panel for each data set and Given, best system on top.

    means : primary.csv, as `read_results` gives it.
    """
    rows = means[means["metric"] == METRIC]
    panels: Any = rows.groupby(["data", "given"], sort=False)
    fig, axes = plt.subplots(2, 2, figsize=(5.8, 7.2))
    for ax, (key, panel) in zip(axes.flat, panels, strict=True):
        panel = panel.sort_values("mean")
        ours = panel["system"].str.startswith("GAPfm")
        for y, row in enumerate(panel.itertuples()):
            colour, marker = (VERMILION, "s") if ours.iloc[y] else (BLUE, "o")
            ax.plot([row.ci_low, row.ci_high], [y, y], color=colour, linewidth=1.2)
            ax.plot(row.mean, y, marker, color=colour, markersize=4)
        ax.set_yticks(range(len(panel)), panel["system"], fontsize=7.5)
        data, given = map(str, key)
        ax.set_title(f"{DATA_NAMES[data]}, Given {given}", loc="right", fontsize=9)
        ax.tick_params(axis="x", labelsize=8)
        ax.set_xlabel(METRIC, fontsize=9)
    return fig


def comparisons(differences: pd.DataFrame) -> pd.DataFrame:
    """The declared comparisons on the primary endpoint, as text: a row a pair, a column a condition.

    differences : primary_differences.csv, as `read_results` gives it. A star where p_holm, for all
    comparisons together, is below `declared.ALPHA`.
    """
    rows = differences[differences["metric"] == METRIC]
    pair = rows["system"] + " \N{MINUS SIGN} " + rows["reference"]
    star = (rows["p_holm"] < ALPHA).map({True: "*", False: ""})
    signed = rows[["difference", "ci_low", "ci_high"]].map("{:+.3f}".format)
    low, high = signed["ci_low"], signed["ci_high"]
    text = signed["difference"] + star + " [" + low + ", " + high + "]"
    condition = rows["data"].map(DATA_NAMES) + ", " + rows["given"].astype(str)
    table = pd.DataFrame({"pair": pair, "condition": condition, "text": text})
    wide = table.pivot(index="pair", columns="condition", values="text")
    wide = wide.reindex(index=pair.unique(), columns=condition.unique())
    return wide.rename_axis(index=None, columns=None)


def other_measures(means: pd.DataFrame, data: str, given: int) -> pd.DataFrame:
    """Every measure of the primary table, means \N{PLUS-MINUS SIGN} half of the interval, as text; a row a system.

    means : primary.csv; the best NDCG@5 first. Nothing here was tested.
    """
    rows = means[(means["data"] == data) & (means["given"] == given)]
    half = (rows["ci_high"] - rows["ci_low"]) / 2
    text = (
        rows["mean"].map("{:.3f}".format)
        + " \N{PLUS-MINUS SIGN}"
        + half.map("{:.3f}".format)
    )
    order = rows[rows["metric"] == METRIC].sort_values("mean", ascending=False)["system"]
    metrics = [name for name in rows["metric"].unique() if "seconds" not in name]
    table = rows.assign(text=text).pivot(index="system", columns="metric", values="text")
    return table.reindex(index=order, columns=metrics).rename_axis(index=None, columns=None)
