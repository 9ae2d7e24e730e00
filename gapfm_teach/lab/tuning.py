"""Fair tuning: every system gets the same number of trials, on the same part of the training data.

The test set never comes in. The trials are a table that can be stored, read back and taken up.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from itertools import product
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import pandas as pd

from .._support.checks import check_choice, check_count
from ..evaluation import ranking_per_user, top_n_per_user
from ..learning.recommender import Recommender
from ..model import GAPfm
from ..ratings import Ratings
from ..splits import hold_out, without
from .baselines import (
    BPR,
    EASE,
    WLT,
    CofiRank,
    GradeWeightedPopularity,
    ImplicitALS,
    MeanRating,
    PairwiseLogistic,
    Popularity,
    PopularityBPR,
    SmoothedAP,
    SVDpp,
)
from .catalogue import catalogue_per_user

N_VALIDATIONS = 3  # splits that each trial is measured on: one alone picks by luck
KEY = ["system", "trial", "task", "seed", "split", "settings"]


@dataclass(frozen=True)
class System:
    """One row of the tables: how to make it, and the values its free parameters may take.

    make : the class; grid : for each free parameter the values to draw from;
    fixed : parameters that are not tuned.
    """

    make: Callable[..., Recommender]
    grid: Mapping[str, Sequence] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)

    def build(self, settings: Mapping[str, Any], random_state: int) -> Recommender:
        """The system with `settings`; `random_state` goes to those that draw something."""
        seeded = "random_state" in signature(self.make).parameters
        seed = {"random_state": random_state} if seeded else {}
        return self.make(**self.fixed, **settings, **seed)

    def draw(self, n_trials: int, rng: np.random.Generator) -> list[dict[str, Any]]:
        """`n_trials` different points of the grid at random; all of them where it has fewer."""
        points = list(product(*self.grid.values()))
        order = rng.permutation(len(points))[:n_trials]
        return [dict(zip(self.grid, points[place], strict=True)) for place in order]


_ASCENT: dict[str, Sequence] = {
    "learning_rate": [1e-3, 3e-3, 1e-2, 3e-2, 1e-1],
    "reg": [1e-3, 1.0, 3.0, 10.0],
    "n_iter": [60, 240],
}
SYSTEMS: dict[str, System] = {
    "PopRec": System(Popularity),
    "Mean rating": System(MeanRating),
    "Shrunken mean rating": System(
        MeanRating, {"shrinkage": [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]}
    ),
    "Grade-weighted popularity": System(GradeWeightedPopularity),
    "SVD++": System(
        SVDpp,
        {
            "learning_rate": [1e-4, 3e-4, 1e-3, 3e-3, 1e-2],
            "reg": [1e-4, 1e-3, 1e-2, 1e-1],
            "n_iter": [10, 30, 100],
        },
    ),
    "BPR": System(
        BPR,
        {
            "learning_rate": [3e-3, 1e-2],
            "reg": [5e-2, 7e-2, 1e-1],
            "n_iter": [1000, 3000],
        },
    ),
    "BPR, popular negatives": System(
        PopularityBPR,
        {
            "learning_rate": [1e-2, 3e-2, 1e-1, 3e-1],
            "reg": [1e-4, 1e-3, 1e-2, 1e-1],
            "n_iter": [30, 100, 300],
        },
    ),
    "Pairwise logistic": System(
        PairwiseLogistic,
        {"reg": [50.0, 100.0, 150.0, 250.0], "unrated_weight": [1e-3, 0.05, 0.1]},
    ),
    "Implicit ALS": System(
        ImplicitALS,
        {
            "reg": [1.0, 3.0, 10.0, 30.0, 100.0, 300.0],
            "confidence": [1.0, 3.0, 10.0, 30.0],
            "n_iter": [5, 15],
        },
    ),
    "EASE": System(
        EASE, {"reg": [30.0, 100.0, 200.0, 300.0, 500.0, 1e3, 2e3, 5e3, 1e4, 2e4]}
    ),
    "CofiRank": System(
        CofiRank,
        {
            "reg": [0.5, 2.0, 5.0, 15.0, 50.0, 150.0, 500.0, 1500.0, 5000.0],
            "item_offset": [True, False],
        },
    ),
    "WLT": System(
        WLT,
        {
            "n_neighbors": [30, 100, 300],
            "learning_rate": [0.01, 0.03, 0.1, 0.3],
            "n_iter": [10, 20, 40],
        },
    ),
    "Smoothed AP": System(SmoothedAP, _ASCENT),
    "GAPfm": System(GAPfm, _ASCENT),
    "GAPfm, λ at each visit": System(
        GAPfm,
        {
            "learning_rate": [1e-3, 3e-3, 1e-2, 3e-2],
            "reg": [0.1, 0.2, 0.3, 0.5, 1.0],
            "n_iter": [60, 240],
        },
        {"update": "sequential"},
    ),
    "GAPfm + adaptive selection": System(GAPfm, _ASCENT, {"n_selected": 20}),
    "GAPfm + random selection": System(
        GAPfm, _ASCENT, {"n_selected": 20, "selection": "random"}
    ),
}  # D = 10 throughout, as in section 5.1


TASKS = ("top_n", "catalogue", "ranking")


def per_user(
    task: str, model, known: Ratings, test: Ratings, seed: int, n_candidates: int | None = 1000
) -> pd.DataFrame:  # fmt: skip
    """The measures of a task of `TASKS`, a row a user; `known` ratings make no candidates.

    `n_candidates`: of "top_n" alone. Raises as `evaluation` does.
    """
    if task == "ranking":
        return ranking_per_user(model, test, random_state=seed)
    if task == "catalogue":
        return catalogue_per_user(model, known, test, random_state=seed)
    return top_n_per_user(model, known, test, n_candidates=n_candidates, random_state=seed)


def tune(
    systems: Mapping[str, System],
    train: Ratings,
    *,
    known: Ratings | None = None,
    n_trials: int = 20,
    n_held_out: int = 5,
    n_validations: int = N_VALIDATIONS,
    task: str = "top_n",
    random_state: int = 0,
    done: pd.DataFrame | None = None,
    callback: Callable[[pd.DataFrame], None] | None = None,
) -> pd.DataFrame:
    """Try `n_trials` settings of each system on validation parts of `train`; a row a trial.

    `train` is split by `hold_out`, n_validations times, the same for all systems. Each trial fits
    to the one part and is measured on the other: by `top_n_per_user` for task "top_n", by
    `catalogue_per_user` for "catalogue", by `ranking_per_user` for "ranking". A system whose grid is smaller than `n_trials` is tried at
    each of its points.

    `known`: Ratings with `train` and whatever else these users are known to have rated (their
    ratings left aside by a Given-N split, never the test's): no candidates in top-N lists, where
    they would stand as if nobody liked them. Default: `train`.
    `random_state`: an int; the same int, systems and data give the same table. Systems with equal
    grids are tried at equal settings, and no system's draw depends on which others are there.
    `done`: a table from before; trials found in it are taken over, not repeated.
    `callback(table)` runs after each new trial, with the table so far: store it there.

    Returns a DataFrame with columns system, trial, task, seed, split (a checksum of all parts),
    settings (JSON), a column for each measure with its mean over users and then over the splits,
    and error: the message where training left the finite numbers, the measures then being nan.
    """
    n_trials = check_count(n_trials, "n_trials")
    n_validations = check_count(n_validations, "n_validations")
    check_choice(task, "task", TASKS)
    seed = check_count(random_state, "random_state", low=0)
    known = train if known is None else known
    folds = [_fold(train, known, n_held_out, [seed, k]) for k in range(n_validations)]
    taken_over = {} if done is None else {_key(row): row for row in done.to_dict("records")}
    split = _checksum(folds)
    rows: list[dict] = []
    for name, system in systems.items():
        rng = np.random.default_rng([seed, crc32(json.dumps(dict(system.grid)).encode())])
        for trial, settings in enumerate(system.draw(n_trials, rng)):
            values = (name, trial, task, seed, split, json.dumps(settings))
            row = dict(zip(KEY, values, strict=True))
            old = taken_over.get(_key(row))
            rows.append(old or row | _measure(system, settings, folds, task, seed))
            if old is None and callback is not None:
                callback(pd.DataFrame(rows))
    return pd.DataFrame(rows)


def best_settings(
    trials: pd.DataFrame, metric: str = "NDCG@5"
) -> dict[str, dict[str, Any]]:
    """The settings of each system's best trial by `metric`; of equals the earlier trial.

    Raises ValueError where no trial of a system gave a finite value.
    """
    best = {}
    for name, rows in trials.groupby("system", sort=False):
        if rows[metric].isna().all():
            raise ValueError(
                f"all {len(rows)} trials of {name} failed; widen its grid: {rows['error'].iloc[0]}"
            )
        place = int(np.nanargmax(rows[metric].to_numpy()))
        best[str(name)] = json.loads(rows["settings"].iloc[place])
    return best


class _Fold(NamedTuple):
    fitting: Ratings
    seen: Ratings  # what makes no candidates
    validation: Ratings


def _fold(train: Ratings, known: Ratings, n_held_out: int, seed: list[int]) -> _Fold:
    rng = np.random.default_rng(seed)
    fitting, validation = hold_out(train, n_held_out, random_state=rng)
    return _Fold(fitting, without(known, validation), validation)


def _measure(system: System, settings, folds: list[_Fold], task: str, seed: int) -> dict:
    """Means of the measures over the validation users of all folds; `error` without them."""
    means = []
    for fold in folds:
        model = system.build(settings, seed)
        try:
            model.fit(fold.fitting)
        except FloatingPointError as error:
            return {"error": str(error)}
        means.append(per_user(task, model, fold.seen, fold.validation, seed).mean())
    return pd.concat(means, axis=1).mean(axis=1).to_dict() | {"error": ""}


def _key(row: Mapping[Any, Any]) -> tuple:
    return tuple(row[name] for name in KEY)


def _checksum(folds: list[_Fold]) -> str:
    value = 0
    for part in (part for fold in folds for part in fold):
        for array in (part.indptr, part.indices, part.grades):
            value = crc32(array.tobytes(), value)
    return f"crc32 {value:08x}"
