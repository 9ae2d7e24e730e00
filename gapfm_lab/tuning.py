"""Fair tuning: the same search for every system, inside the training part of one split.

The test never comes in: validation parts are held out of the training ratings of the very split
that is measured afterwards. Every point of a grid is tried on one of them, the best on all.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from gapfm_teach._support.checks import check_choice, check_count
from gapfm_teach.evaluation import ranking_per_user, top_n_per_user
from gapfm_teach.ratings import Ratings
from gapfm_teach.splits import difference, hold_out

from .catalogue import catalogue_per_user
from .systems import System

N_VALIDATIONS = 3  # parts that the best are measured on: one alone picks by luck
FINALISTS = (
    8  # points that are measured on all parts, or a quarter of the grid if that is more
)
MOST_WIDENINGS = 3
N_HELD_OUT = 5  # validation ratings of a user: the fewest that are measured

TASKS = ("top_n", "catalogue", "ranking")


class Fold(NamedTuple):
    """A part of the training ratings, to be tried on."""

    fitting: Ratings
    seen: Ratings  # what makes no candidates
    validation: Ratings


@dataclass(frozen=True)
class Search:
    """All that was tried of one system.

    system : with the grid as it was in the end; trials : a row a point, with columns settings
    (JSON), n_folds (validation parts measured on), the mean of each measure over users and then
    over those parts, and error, why training left the finite numbers, the measures then being nan;
    n_fits, seconds (of the processor) : what it cost.
    """

    system: System
    trials: pd.DataFrame
    n_fits: int
    seconds: float

    def best(self, metric: str = "NDCG@5") -> pd.Series:
        """The row with the highest `metric` among those measured on all parts; of equals the
        first. Raises ValueError where none gave a finite value."""
        whole = self.trials[self.trials["error"] == ""]
        if whole.empty:
            raise ValueError(
                f"all {len(self.trials)} trials failed; change the grid: "
                f"{self.trials['error'].iloc[0]}"
            )
        whole = whole[whole["n_folds"] == whole["n_folds"].max()]
        return whole.loc[whole[metric].idxmax()]

    def chosen(self, metric: str = "NDCG@5") -> dict[str, Any]:
        """The settings of `best`."""
        return json.loads(self.best(metric)["settings"])


def per_user(
    task: str, model, known: Ratings, test: Ratings, seed: int, n_candidates: int | None = 1000
) -> pd.DataFrame:  # fmt: skip
    """The measures of a task of `TASKS`, a row a user; `known` ratings make no candidates.

    `n_candidates`: of "top_n" alone. Raises as `evaluation` does.
    """
    check_choice(task, "task", TASKS)
    if task == "ranking":
        return ranking_per_user(model, test, random_state=seed)
    if task == "catalogue":
        return catalogue_per_user(model, known, test, random_state=seed)
    return top_n_per_user(model, known, test, n_candidates=n_candidates, random_state=seed)


def folds_of(
    train: Ratings, known: Ratings, seed: int, *, n_held_out: int = N_HELD_OUT,
    n_validations: int = N_VALIDATIONS,
) -> list[Fold]:  # fmt: skip
    """Validation parts of `train`, by `splits.hold_out`, the same for the same seed.

    `known`: Ratings with `train` and whatever else these users are known to have rated (their
    ratings left aside by a Given-N split, never the test's): no candidates in top-N lists, where
    they would stand as if nobody liked them.
    """
    seed = check_count(seed, "seed", low=0)
    folds = []
    for k in range(check_count(n_validations, "n_validations")):
        rng = np.random.default_rng([seed, k])
        fitting, validation = hold_out(train, n_held_out, random_state=rng)
        folds.append(Fold(fitting, difference(known, validation), validation))
    return folds


def tune(
    system: System, folds: Sequence[Fold], task: str, *, metrics: Sequence[str] = ("NDCG@5",),
    n_trials: int | None = None, random_state: int = 0,
) -> Search:  # fmt: skip
    """Look for the settings of `system` that are best by each of `metrics`.

    Every point of the grid is fitted to the first of `folds`; the `FINALISTS` best by each metric,
    or a quarter of the grid, to the others too. While the best is at an edge of the grid, the grid
    is widened there (`System.wider`) and the new points are tried, `MOST_WIDENINGS` times at most.
    With `n_trials` that many points are drawn instead, and nothing is widened: for data too large
    for more, and for a quick look.

    Deterministic for an int `random_state`, which seeds training and `n_trials`' draw. Raises
    ValueError for a task that is none.
    """
    check_choice(task, "task", TASKS)
    tried = _Tried(folds, task, check_count(random_state, "random_state", low=0))
    start = process_time()
    if n_trials is not None:
        rng = np.random.default_rng(random_state)
        tried.all(system, system.draw(check_count(n_trials, "n_trials"), rng), metrics)
    else:
        for n_widened in range(1 + MOST_WIDENINGS):
            tried.all(system, system.points(), metrics)
            wider = system
            for settings in tried.winners(system, metrics):
                wider = wider.wider(settings)
            if wider == system or n_widened == MOST_WIDENINGS:
                break
            system = wider
    return tried.search(system, process_time() - start)


class _Tried:
    """What each point of a grid gave on each fold that it was tried on."""

    def __init__(self, folds: Sequence[Fold], task: str, seed: int):
        self._folds, self._task, self._seed = folds, task, seed
        self._found: dict[
            str, list[pd.Series]
        ] = {}  # by settings, the means on fold after fold
        self._errors: dict[str, str] = {}

    def all(
        self, system: System, points: Sequence[Mapping], metrics: Sequence[str]
    ) -> None:
        """Each of `points` on the first fold, the finalists of all that were tried on the others."""
        for settings in points:
            self._extend(system, settings, 1)
        for metric in metrics:
            first = {
                text: found[0][metric]
                for text, found in self._found.items()
                if text not in self._errors
            }
            best_first = sorted(first, key=lambda text: -first[text])
            for text in best_first[: max(FINALISTS, -(-len(first) // 4))]:
                self._extend(system, json.loads(text), len(self._folds))

    def _extend(self, system: System, settings: Mapping, n_folds: int) -> None:
        found = self._found.setdefault(json.dumps(settings), [])
        for fold in self._folds[len(found) : n_folds]:
            try:
                model = system.build(settings, self._seed).fit(fold.fitting)
            except FloatingPointError as error:
                self._errors[json.dumps(settings)] = str(error)
                found.append(pd.Series(dtype=float))
                return
            measured = per_user(self._task, model, fold.seen, fold.validation, self._seed)
            found.append(measured.mean())

    def winners(self, system: System, metrics: Sequence[str]) -> list[dict[str, Any]]:
        """The best settings by each of `metrics`; none where all failed."""
        search = self.search(system, 0.0)
        return [
            search.chosen(metric)
            for metric in metrics
            if metric in search.trials and not search.trials[metric].isna().all()
        ]

    def search(self, system: System, seconds: float) -> Search:
        """What was tried so far as a table."""
        rows = [
            {"settings": text, "n_folds": len(found), "error": self._errors.get(text, "")}
            | (
                pd.concat(found, axis=1).mean(axis=1).to_dict()
                if text not in self._errors
                else {}
            )
            for text, found in self._found.items()
        ]
        n_fits = sum(len(found) for found in self._found.values())
        return Search(system, pd.DataFrame(rows), n_fits, seconds)
