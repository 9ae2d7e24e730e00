"""Notebook 09's result tables: leads as text, and where a lead comes from, measured anew."""

import json
from collections.abc import Sequence
from copy import copy
from typing import cast

import numpy as np
import pandas as pd

from ..evaluation import top_n_per_user
from ..model import GAPfm
from ..ratings import Ratings
from ..splits import of_users, without
from ..tuning import SYSTEMS
from .protocols import PROTOCOLS, measure, split

REPAIR = PROTOCOLS["repair"]


def _fitted(results: pd.DataFrame, given: int, name: str, train: Ratings, seed: int):
    """The system `name`, with the settings that `results` has for it at `given`."""
    rows = results[(results["given"] == given) & (results["system"] == name)]
    return REPAIR.system(name).build(json.loads(rows["settings"].iloc[0]), seed).fit(train)


def sources(
    ratings: Ratings, results: pd.DataFrame, given: int, seeds: Sequence[int] = (0, 1)
) -> pd.DataFrame:
    """Where the repair's lead comes from: a better list for everybody, or lists of one's own.

    results : as `honest.read_results` gives them; its settings are used, and the protocol of the
    table that it holds. Means over users and `seeds`; a row for grade-weighted popularity, the
    printed objective, the average user's list of the repaired one shown to all, and the repaired
    one itself; columns "NDCG@5" and "GAP@5 (ideal)".
    """
    rows = []
    for seed in seeds:
        train, known, test = split(REPAIR.task, ratings, given, seed)
        printed = _fitted(results, given, "GAPfm", train, seed)
        repaired = cast(GAPfm, _fitted(results, given, "GAPfm, consistent", train, seed))
        shared = copy(repaired)
        shared.user_factors_ = np.tile(
            repaired.user_factors_.mean(axis=0), (train.n_users, 1)
        )
        weighted = SYSTEMS["Grade-weighted popularity"].build({}, seed).fit(train)
        models = {
            "grade-weighted popularity": weighted,
            "printed": printed,
            "repaired, one list for all": shared,
            "repaired": repaired,
        }
        for name, model in models.items():
            means = measure(REPAIR.task, model, known, test, seed).mean()
            rows.append({"system": name} | means[["NDCG@5", "GAP@5 (ideal)"]].to_dict())
    return pd.DataFrame(rows).groupby("system", sort=False).mean().rename_axis(None)


def three_tests(
    ratings: Ratings, results: pd.DataFrame, given: int, systems: Sequence[str],
    seeds: Sequence[int] = (0, 1),
) -> pd.DataFrame:  # fmt: skip
    """NDCG@5 of the same models by three tests, which lie between the two protocols.

    results : as `honest.read_results` gives them; its settings are used. Training takes `given`
    ratings a user. All others are the test; or ten of them are, and the rest stays in the lists,
    as if unrated; or ten are, and the rest is in no list. Candidates are all other items that
    anybody rated. A row a system, a column a test; means over users and `seeds`.
    """
    rows: list[dict] = []
    for seed in seeds:
        train, known, ten = split("top_n", ratings, given, seed)
        kept = np.isin(ratings.users, train.users)
        others = without(of_users(ratings, kept, "the users of train"), train)
        tests = {
            "all others": (train, others),
            "ten, the rest as if unrated": (train, ten),
            "ten, the rest in no list": (known, ten),
        }
        for name in systems:
            model = _fitted(results, given, name, train, seed)
            rows.append({"system": name})
            for what, (seen, test) in tests.items():
                per_user = top_n_per_user(
                    model, seen, test, n_candidates=None, random_state=seed
                )
                rows[-1][what] = per_user["NDCG@5"].mean()
    return pd.DataFrame(rows).groupby("system", sort=False).mean().rename_axis(None)


def wide(results: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Means ± half of the interval of one metric as text: a row a system, a column a Given.

    results : as `honest.read_results` gives them. The systems best at the first Given first.
    """
    rows = results[results["metric"] == metric]
    half = (rows["ci_high"] - rows["ci_low"]) / 2
    text = _short(rows["mean"]) + "\N{NO-BREAK SPACE}±" + _short(half)
    table = rows.assign(text=text).pivot(index="system", columns="given", values="text")
    first = rows[rows["given"] == rows["given"].min()]
    order = first.sort_values("mean", ascending=False)["system"]
    return table.reindex(order).rename_axis(index=None, columns="Given")


def gains(
    results: pd.DataFrame, system: str, metrics: Sequence[str] = ("NDCG@5", "GAP@5 (ideal)")
) -> pd.DataFrame:
    """By how many per cent `system` is above each other one, as text; "*": the intervals are apart.

    results : as `honest.read_results` gives them. A row for each metric and other system, a
    column a Given. Raises ValueError for a system that has no results.
    """
    if system not in set(results["system"]):
        raise ValueError(
            f"no results of {system!r}; there are {', '.join(results['system'].unique())}"
        )
    cells = results[results["metric"].isin(metrics)]
    cells = cells.set_index(["metric", "system", "given"])[["mean", "ci_low", "ci_high"]]
    ours = cells.xs(system, level="system").add_suffix("_ours")
    others = cells.drop(index=system, level="system")
    paired = others.join(ours, on=["metric", "given"])
    apart = (paired["ci_low_ours"] > paired["ci_high"]) | (
        paired["ci_high_ours"] < paired["ci_low"]
    )
    text = (paired["mean_ours"] / paired["mean"] - 1).map("{:+.1%}".format)
    table = (text + apart.map({True: "*", False: ""})).unstack("given")
    table.index.names, table.columns.name = [None, None], "Given"
    return table


def _short(numbers: pd.Series) -> pd.Series:
    return numbers.map("{:.3f}".format).str.lstrip("0")
