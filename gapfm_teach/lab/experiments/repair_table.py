"""Notebook 09's result tables: leads as text, and where a lead comes from, measured anew."""

import json
from collections.abc import Sequence
from copy import copy
from typing import cast

import numpy as np
import pandas as pd

from ...evaluation import top_n_per_user
from ...model import GAPfm
from ...ratings import Ratings
from ...splits import of_users, without
from ..protocols import PROTOCOLS, measure, split
from ..tuning import SYSTEMS

REPAIR = PROTOCOLS["repair"]


def _fitted(results: pd.DataFrame, given: int, name: str, train: Ratings, seed: int):
    """The system `name`, with the settings that `results` has for it at `given`."""
    rows = results[(results["given"] == given) & (results["system"] == name)]
    return REPAIR.system(name).build(json.loads(rows["settings"].iloc[0]), seed).fit(train)


def sources(
    ratings: Ratings, results: pd.DataFrame, given: int, seeds: Sequence[int] = (0, 1)
) -> pd.DataFrame:
    """Where the repair's lead comes from: a better list for everybody, or lists of one's own.

    results : as `results.read_results` gives them; its settings are used, and the protocol of the
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

    results : as `results.read_results` gives them; its settings are used. Training takes `given`
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
