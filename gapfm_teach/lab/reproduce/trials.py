"""Tuning once, kept in `trials.csv`: the same budget for every system, never on anybody's test.

For each task and Given a system is tuned on validation parts of the training ratings of one
further split, whose seed no measured split has. Stored trials are taken over. Of very many users
a share is tuned on, on one validation part: the same for all systems.

A limit, for "ranking" above all: a validation list has half of the given ratings, the lists
measured have many more. In a short list an item that few rated seldom decides the top ranks, in a
long one it often does, so the settings chosen need not be the best for long lists.
"""

import platform
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from ...ratings import Ratings
from ...splits import given_only, of_users
from ..protocols import split
from ..tuning import KEY, N_VALIDATIONS, System, best_settings, tune
from .journal import write_csv

TUNING_SEED = 1000
N_HELD_OUT = 5  # validation ratings of a user in top-N: the fewest that are measured
MOST_USERS = 40_000  # of more, so many are tuned on; their lists say enough
PACKAGES = ("gapfm-teach", "numpy", "scipy", "numba", "implicit", "scikit-surprise")
HEADER = (
    f"Trials of tuning: seed {TUNING_SEED}, means over {N_VALIDATIONS} validation parts of the "
    f"training ratings (one of {MOST_USERS} users where there are more); the test takes no part. "
    "The best trial has the highest NDCG@5; where a table is tuned for several metrics, the highest "
    "value of each."
)


class Trials:
    """The trials of one data set in one file.

    data : its short name ("100k"); n_trials : the budget of a system; again : run the trials even
    where they are stored: once, by the first `best`.
    """

    def __init__(self, file, data: str, n_trials: int, *, again: bool = False):
        self.file = Path(file)
        self.data, self.n_trials, self.again = data, n_trials, again

    def read(self) -> pd.DataFrame:
        """All stored trials: columns data, given and those of `tuning.tune`; empty without."""
        if not self.file.is_file():
            return pd.DataFrame()
        return pd.read_csv(self.file, comment="#", dtype={"error": str}).fillna(
            {"error": ""}
        )

    def best(
        self, task: str, ratings: Ratings, systems: Mapping[int, Mapping[str, System]],
        check: Callable[[], None] = lambda: None, metric: str = "NDCG@5",
    ) -> dict[int, dict[str, dict]]:  # fmt: skip
        """Best settings by `metric`, {given: {name: settings}}, of the `systems` {given: {name: ...}}.

        `check` runs between trials.
        """
        found: dict[int, dict[str, dict]] = {}
        total = sum(len(of_given) for of_given in systems.values())
        with tqdm(total=total, desc="tuning") as bar:
            for given, of_given in systems.items():
                check()
                before = bar.n

                def keep(table: pd.DataFrame, given=given, before=before) -> None:
                    self._store(table.assign(data=self.data, given=given))
                    bar.update(before + table["system"].nunique() - 1 - bar.n)
                    check()

                found[given] = best_settings(
                    self._tune(of_given, task, given, ratings, keep), metric
                )
                bar.update(before + len(of_given) - bar.n)
        self.again = False  # what is stored is new now; other metrics need no others
        return found

    def sample(self, ratings: Ratings) -> str:
        """What to add to "tuned" where not all users of `ratings` were tuned on."""
        few = ratings.n_users <= MOST_USERS
        return "" if few else f", on {MOST_USERS:,} of the users and one validation part"

    def _tune(
        self, systems: Mapping[str, System], task: str, given: int, ratings: Ratings, keep
    ) -> pd.DataFrame:
        few = ratings.n_users <= MOST_USERS
        known = ratings if few else _some_users(ratings)
        if task == "probe":
            train = given_only(known, given, random_state=TUNING_SEED)
        else:
            train, known, _ = split(task, known, given, TUNING_SEED)
        stored = self.read()
        return tune(
            systems, train, known=known, n_trials=self.n_trials,
            task="top_n" if task == "probe" else task,
            n_held_out=given // 2 if task == "ranking" else N_HELD_OUT,
            n_validations=N_VALIDATIONS if few else 1,
            random_state=TUNING_SEED, callback=keep,
            done=None if self.again or stored.empty else stored,
        )  # fmt: skip

    def _store(self, added: pd.DataFrame) -> None:
        """Put `added` in the place of what is stored for the same trials."""
        trials = pd.concat([added, self.read()], ignore_index=True)
        trials = trials.drop_duplicates(["data", "given", *KEY]).sort_values(
            ["data", "task", "given", "system", "trial"], kind="stable"
        )
        order = ["data", "given", *trials.columns.drop(["data", "given"])]
        write_csv(self.file, trials[order], [HEADER, versions()])


def _some_users(ratings: Ratings) -> Ratings:
    rng, kept = np.random.default_rng(TUNING_SEED), np.zeros(ratings.n_users, dtype=bool)
    kept[rng.choice(ratings.n_users, MOST_USERS, replace=False)] = True
    return of_users(ratings, kept, f"{MOST_USERS} users drawn for tuning")


def versions() -> str:
    """Python and the packages that results depend on, with their versions."""
    return ", ".join([f"Python {platform.python_version()}", *_packages()])


def _packages() -> Iterator[str]:
    for package in PACKAGES:
        try:
            yield f"{package} {version(package)}"
        except PackageNotFoundError:
            yield f"{package} missing"
