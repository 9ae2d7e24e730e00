"""Make a table or figure of the paper in kind: a CSV file and a picture, taken up if interrupted."""

import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from ..files import replacing
from ..intervals import average_splits, compare, summarize_splits
from ..ratings import Ratings
from ..tuning import SYSTEMS
from .figures import DRAW, FIGURES
from .journal import Journal, stoppable, write_csv
from .protocols import PROTOCOLS, measure, split
from .trials import TUNING_SEED, Trials, versions

N_TRIALS, N_SPLITS = 12, 10
QUICK_TRIALS, QUICK_SPLITS = 4, 2
REFERENCE = "GAPfm"  # the system that all others are tested against
NEEDS = {"SVD++": "surprise", "BPR": "implicit", "Implicit ALS": "implicit"}
Settings = dict[int, dict[str, dict]]  # of a system, by given and name


@dataclass(frozen=True)
class Run:
    """What to make of which ratings.

    name : "table2".."table4", "figure1".."figure4"; data : short name of the ratings ("100k");
    out : folder of the results; command : what was typed, for the header; n_splits : seeds
    0..n_splits - 1; n_trials : the budget of tuning of each system; tune_again : run the trials
    even where they are stored; trials : the file that holds them, `<out>/trials.csv` unless given.
    """

    name: str
    ratings: Ratings
    data: str
    out: Path
    command: str
    n_splits: int = N_SPLITS
    n_trials: int = N_TRIALS
    tune_again: bool = False
    trials: Path | None = None
    journal: Journal = field(init=False)

    def __post_init__(self) -> None:
        folder = self.out / f"{self.name}.unfinished"
        object.__setattr__(self, "journal", Journal(folder))

    def key(self, seed: int, **more: Any) -> dict[str, Any]:
        """What decides the content of a piece of this run."""
        data = f"{self.ratings!r}, crc32 {_checksum(self.ratings):08x}"
        common = {"name": self.name, "data": data, "seed": seed}
        return common | {"versions": versions()} | more


def _checksum(ratings: Ratings) -> int:
    parts = (ratings.indptr, ratings.indices, ratings.grades)
    return reduce(lambda value, array: crc32(array.tobytes(), value), parts, 0)


def reproduce(run: Run) -> pd.DataFrame:
    """Make it: `<out>/<name>.csv` (returned), `<out>/<name>.png`.

    An interrupted run goes on where it stopped: what it has finished is in
    `<out>/<name>.unfinished`, which is removed at the end. Raises OSError, before any work, where
    `out` cannot be written to.
    """
    try:
        run.out.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=run.out).close()
    except OSError as error:
        raise OSError(
            f"{run.out} cannot be written to ({error.strerror}); name another folder with --out"
        ) from error
    make = _table if run.name in PROTOCOLS else _figure
    table, header = make(run)
    write_csv(run.out / f"{run.name}.csv", table, [run.command, *header, versions()])
    with replacing(run.out / f"{run.name}.png") as file:
        DRAW[run.name](table).savefig(file, format="png", dpi=150)
    run.journal.clear()
    return table


def _figure(run: Run) -> tuple[pd.DataFrame, list[str]]:
    figure = FIGURES[run.name]

    def work(check: Callable[[], None]) -> list[pd.DataFrame]:
        parts = []
        for seed in tqdm(range(run.n_splits), desc=run.name):
            check()
            make = lambda seed=seed: figure.measure(run.ratings, seed)  # noqa: E731
            parts.append(run.journal.get(run.key(seed), make))
        return parts

    table = pd.concat(stoppable(work), ignore_index=True)
    return table, [_data(run), figure.words]


# --------------------------------------------------------------------------- tables


def _table(run: Run) -> tuple[pd.DataFrame, list[str]]:
    """Means, intervals and paired tests of every system, and what to say above them.

    Columns given, system, candidates ("1000" or "all"; not in Table 4), metric, mean, ci_low,
    ci_high (95%, over users), n_users, n_splits, split_sd, split_min, split_max; against GAPfm,
    for the same users: difference, effect_size, p_value, n_different, as `compare` has them (nan
    in GAPfm's own rows); settings.
    """
    protocol, without = PROTOCOLS[run.name], missing(run.name)
    systems = [name for name in protocol.systems if name not in without]
    for name in without:
        print(f"{name} is left out: pip install 'gapfm-teach[baselines]'", file=sys.stderr)
    trials = Trials(
        run.trials or run.out / "trials.csv", run.data, run.n_trials, again=run.tune_again
    )

    def work(check: Callable[[], None]) -> tuple[Settings, dict[tuple, list]]:
        given = (protocol.task, run.ratings, protocol.givens, systems)
        settings = trials.best(*given, check)
        return settings, _measure_all(run, settings, check)

    settings, per_user = stoppable(work)
    table = summarize(per_user)
    table["settings"] = [
        json.dumps(settings[given][name])
        for given, name in zip(table["given"], table["system"], strict=True)
    ]
    return table, [
        _data(run),
        f"Tuned with {run.n_trials} trials for each system and Given, seed {TUNING_SEED}",
        f"Protocol: {protocol.words}",
        "Intervals: 95%, bootstrap over users of each user's mean over the splits; p_value and "
        "effect_size: against GAPfm, Wilcoxon signed-rank, paired over users",
        *(f"Left out, for want of its library: {name}" for name in without),
    ]


def missing(name: str) -> list[str]:
    """The systems of a table whose optional library is not installed."""
    systems = PROTOCOLS[name].systems
    return [one for one in systems if one in NEEDS and find_spec(NEEDS[one]) is None]


def _measure_all(run: Run, settings: Settings, check) -> dict[tuple, list]:
    """{(given, system): [per-user table of each split]}; finished pieces are not repeated."""
    places = [
        (seed, given, name)
        for seed in range(run.n_splits)
        for given, of_systems in settings.items()
        for name in of_systems
    ]
    found: dict[tuple[int, str], list[pd.DataFrame]] = {}
    for seed, given, name in tqdm(places, desc=run.name):
        check()
        chosen, fixed = settings[given][name], dict(SYSTEMS[name].fixed)
        key = run.key(seed, given=given, system=name, settings=chosen, fixed=fixed)
        make = lambda place=(given, name, chosen, seed): _per_user(run, *place)  # noqa: E731
        per_user = run.journal.get(key, make).set_index("user")
        found.setdefault((given, name), []).append(per_user)
    return found


def _per_user(
    run: Run, given: int, name: str, settings: Mapping[str, Any], seed: int
) -> pd.DataFrame:
    task = PROTOCOLS[run.name].task
    train, known, test = split(task, run.ratings, given, seed)
    try:
        system = SYSTEMS[name].build(settings, seed).fit(train)
    except FloatingPointError as error:
        raise FloatingPointError(f"{name}, Given {given}, split {seed}: {error}") from error
    return measure(task, system, known, test, seed).reset_index()


def summarize(per_user: Mapping[tuple[int, str], list[pd.DataFrame]]) -> pd.DataFrame:
    """One tidy table of {(given, system): [per-user table of each split]}, as in `_table`."""
    rows = []
    for (given, name), splits in per_user.items():
        table = summarize_splits(splits)
        against = per_user[given, REFERENCE]
        paired = compare(average_splits(splits), average_splits(against))
        for column in ("difference", "effect_size", "p_value", "n_different"):
            table[column] = paired[column] if name != REFERENCE else np.nan
        rows.append(table.assign(given=given, system=name))
    table = pd.concat(rows, ignore_index=True)
    first = ["given", "system", "metric"]
    if table["metric"].str.contains(" P@").any():
        parts = table["metric"].str.split(" ", n=1, expand=True)
        table["candidates"], table["metric"] = parts[0], parts[1]
        first.insert(2, "candidates")
    return table[[*first, *table.columns.drop(first)]]


def _data(run: Run) -> str:
    return f"Data: {run.ratings!r}; seeds 0 to {run.n_splits - 1}, a split each"
