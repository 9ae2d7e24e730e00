"""What tuning chose, split by split, kept beside the table that was made with it.

Each measured split is tuned inside its own training part, so nothing of any test takes part, and
the spread over the splits holds what tuning adds. What was chosen is the dear part of a table:
stored choices are taken over as long as the data, the split and the grid are the same.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
import pandas as pd

from gapfm_teach.ratings import Ratings
from gapfm_teach.splits import select_users

from ..systems import System
from ..tuning import N_HELD_OUT, N_VALIDATIONS, Fold, folds_of, tune
from ..versions import versions
from .result_cache import write_csv

MOST_USERS = 40_000  # of more, so many are tuned on, on one validation part: enough to tell
KEY = ["given", "seed", "system", "metric", "searched", "parts"]
HEADER = (
    "What tuning chose on validation parts of each split's training ratings; value: the metric "
    "there; at_edge: parameters that might be better beyond the widest grid tried; fits, seconds "
    "(of the processor): the cost of the search, for all metrics of a system together"
)


class Choices:
    """The choices of one table, in one file.

    again : search even where a choice is stored, once.
    """

    def __init__(self, file, *, again: bool = False):
        self.file = Path(file)
        self._old = pd.DataFrame() if again else self._read()
        self._new: list[dict] = []

    def _read(self) -> pd.DataFrame:
        if not self.file.is_file():
            return pd.DataFrame()
        table = pd.read_csv(self.file, comment="#", dtype={"at_edge": str})
        return table.fillna({"at_edge": ""})

    def get(
        self, given: int, seed: int, name: str, system: System, folds: "Folds",
        metrics: Sequence[str], n_trials: int | None,
    ) -> list[dict]:  # fmt: skip
        """A row for each of `metrics`: the settings (JSON) best by it, and what they cost."""
        key = {
            "given": given, "seed": seed, "system": name,
            "searched": _searched(system, n_trials), "parts": folds.checksum,
        }  # fmt: skip
        rows = [self._stored(key | {"metric": metric}) for metric in metrics]
        if any(row is None for row in rows):
            rows = self._search(key, system, folds, metrics, n_trials)
        found = [row for row in rows if row is not None]
        self._new += found
        return found

    def _stored(self, key: dict) -> dict | None:
        if self._old.empty:
            return None
        same = np.logical_and.reduce([self._old[name] == key[name] for name in KEY])
        return self._old[same].iloc[0].to_dict() if same.any() else None

    def _search(self, key: dict, system: System, folds: "Folds", metrics, n_trials) -> list:
        search = tune(
            system, folds.made(), folds.task, metrics=metrics, n_trials=n_trials,
            random_state=key["seed"],
        )  # fmt: skip
        rows = []
        for metric in metrics:
            best = search.best(metric)
            edges = search.system.edges(json.loads(best["settings"]))
            row = key | {
                "metric": metric, "settings": best["settings"], "value": best[metric],
                "at_edge": " ".join(edges), "n_trials": len(search.trials),
                "n_failed": int((search.trials["error"] != "").sum()),
                "fits": search.n_fits, "seconds": search.seconds,
            }  # fmt: skip
            rows.append(row)
        self._write(rows)
        return rows

    def _write(self, rows: list[dict]) -> None:
        """Add `rows` to the file, in the place of what is stored for the same."""
        table = pd.concat([pd.DataFrame(rows), self._read()], ignore_index=True)
        table = table.drop_duplicates(KEY).sort_values(KEY[:4], kind="stable")
        write_csv(self.file, table, [HEADER, versions()])

    def table(self) -> pd.DataFrame:
        """What `get` gave so far."""
        return pd.DataFrame(self._new)


class Folds:
    """The validation parts of one split's training ratings, made when they are needed.

    Of very many users a share is tuned on, on one validation part.
    """

    def __init__(self, task: str, train: Ratings, known: Ratings, given: int, seed: int):
        self.task = "top_n" if task == "probe" else task
        self._parts, self._given, self._seed = (train, known), given, seed
        self.checksum = f"{_checksum(self._parts):08x}"
        self._made: list[Fold] = []

    def made(self) -> list[Fold]:
        """The parts themselves, the same each time."""
        if not self._made:
            train, known = self._parts
            few = train.n_users <= MOST_USERS
            if not few:
                train, known = _some_users(train, known, self._seed)
            self._made = folds_of(
                train, known, self._seed,
                n_held_out=self._given // 2 if self.task == "ranking" else N_HELD_OUT,
                n_validations=N_VALIDATIONS if few else 1,
            )  # fmt: skip
        return self._made


def sample_of(ratings: Ratings) -> str:
    """What to add to "tuned" where not all users of `ratings` are tuned on."""
    few = ratings.n_users <= MOST_USERS
    return "" if few else f", on {MOST_USERS:,} of the users and one validation part"


def _some_users(train: Ratings, known: Ratings, seed: int) -> list[Ratings]:
    rng, kept = np.random.default_rng(seed), np.zeros(train.n_users, dtype=bool)
    kept[rng.choice(train.n_users, MOST_USERS, replace=False)] = True
    what = f"{MOST_USERS} users drawn for tuning"
    return [select_users(part, kept, what) for part in (train, known)]


def _searched(system: System, n_trials: int | None) -> str:
    """A checksum of all that decides where a search goes, but for the data."""
    text = json.dumps(
        [system.make.__name__, dict(system.grid), dict(system.fixed), n_trials]
    )
    return f"{crc32(text.encode()):08x}"


def _checksum(parts: Sequence[Ratings]) -> int:
    value = 0
    for part in parts:
        for array in (part.indptr, part.indices, part.grades):
            value = crc32(array.tobytes(), value)
    return value
