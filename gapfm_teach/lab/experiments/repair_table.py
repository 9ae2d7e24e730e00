"""Notebook 09's result tables: where a lead comes from, measured anew."""

import json
from collections.abc import Sequence
from copy import copy
from typing import cast

import numpy as np
import pandas as pd

from ...model import GAPfm
from ...ratings import Ratings
from ..protocols import PROTOCOLS, measure, split
from ..systems import SYSTEMS

REPAIR = PROTOCOLS["repair"]


def _fitted(results: pd.DataFrame, given: int, name: str, train: Ratings, seed: int):
    """The system `name`, with the settings that `results` has for it at `given` on this split."""
    rows = results[(results["given"] == given) & (results["system"] == name)]
    settings = json.loads(rows["settings"].iloc[0])[seed]
    return REPAIR.system(name).build(settings, seed).fit(train)


def sources(
    ratings: Ratings, results: pd.DataFrame, given: int, seeds: Sequence[int] = (0, 1)
) -> pd.DataFrame:
    """Where the geometric objective's lead comes from: a better list for everybody, or lists of one's own.

    results : as `results.read_results` gives them; its settings are used, and the protocol of the
    table that it holds. Means over users and `seeds`; a row for grade-weighted popularity, the
    printed objective, the average user's list of the geometric one shown to all, and the geometric
    one itself; columns "NDCG@5" and "GAP@5 (ideal)".
    """
    rows = []
    for seed in seeds:
        train, known, test = split(REPAIR.task, ratings, given, seed)
        printed = _fitted(results, given, "GAPfm", train, seed)
        repaired = cast(GAPfm, _fitted(results, given, "GAPfm, geometric", train, seed))
        shared = copy(repaired)
        shared.user_factors_ = np.tile(
            repaired.user_factors_.mean(axis=0), (train.n_users, 1)
        )
        weighted = SYSTEMS["Grade-weighted popularity"].build({}, seed).fit(train)
        models = {
            "grade-weighted popularity": weighted,
            "printed": printed,
            "geometric, one list for all": shared,
            "geometric": repaired,
        }
        for name, model in models.items():
            means = measure(REPAIR.task, model, known, test, seed).mean()
            rows.append({"system": name} | means[["NDCG@5", "GAP@5 (ideal)"]].to_dict())
    return pd.DataFrame(rows).groupby("system", sort=False).mean().rename_axis(None)
