"""Tuning once, kept in `trials.csv`: the same budget for every system, never on anybody's test.

For each task and Given a system is tuned on validation parts of the training ratings of one
further split, whose seed no measured split has. Stored trials are taken over.

A limit, for "ranking" above all: a validation list has half of the given ratings, the lists
measured have many more. In a short list an item that few rated seldom decides the top ranks, in a
long one it often does, so the settings chosen need not be the best for long lists.
"""

import platform
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pandas as pd
from tqdm.auto import tqdm

from ..ratings import Ratings
from ..tuning import KEY, N_VALIDATIONS, SYSTEMS, best_settings, tune
from .journal import write_csv
from .protocols import split

TUNING_SEED = 1000
N_HELD_OUT = 5  # validation ratings of a user in top-N: the fewest that are measured
PACKAGES = ("gapfm-teach", "numpy", "scipy", "numba", "implicit", "scikit-surprise")
HEADER = (
    f"Trials of tuning: seed {TUNING_SEED}, means over {N_VALIDATIONS} validation parts of the "
    "training ratings; the test takes no part. The best trial has the highest NDCG@5."
)


class Trials:
    """The trials of one data set in one file.

    data : its short name ("100k"); n_trials : the budget of a system; again : run the trials even
    where they are stored.
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
        self, task: str, ratings: Ratings, givens, systems,
        check: Callable[[], None] = lambda: None,
    ) -> dict[int, dict[str, dict]]:  # fmt: skip
        """Best settings by NDCG@5, {given: {system: settings}}; `check` runs between trials."""
        found: dict[int, dict[str, dict]] = {given: {} for given in givens}
        with tqdm(total=len(givens) * len(systems), desc="tuning") as bar:
            for given in givens:
                train, known, _ = split(task, ratings, given, TUNING_SEED)
                for name in systems:
                    check()
                    trials = self._of(name, task, given, train, known, check)
                    found[given] |= best_settings(trials)
                    bar.update()
        return found

    def _of(
        self, name: str, task: str, given: int, train: Ratings, known: Ratings, check
    ) -> pd.DataFrame:
        def keep(table: pd.DataFrame) -> None:
            self._store(table.assign(data=self.data, given=given))
            check()

        stored = self.read()
        return tune(
            {name: SYSTEMS[name]}, train, known=known, n_trials=self.n_trials, task=task,
            n_held_out=given // 2 if task == "ranking" else N_HELD_OUT,
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


def versions() -> str:
    """Python and the packages that results depend on, with their versions."""
    return ", ".join([f"Python {platform.python_version()}", *_packages()])


def _packages() -> Iterator[str]:
    for package in PACKAGES:
        try:
            yield f"{package} {version(package)}"
        except PackageNotFoundError:
            yield f"{package} missing"
