"""Make a table or figure of the paper in kind: a CSV file and a picture, taken up if interrupted."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from importlib.util import find_spec
from typing import Any

import matplotlib.figure
import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from ..._support.files import replacing, writable_folder
from ...intervals import average_splits, compare, summarize_splits
from ...ratings import Ratings
from ..protocols import PROTOCOLS, Protocol, measure, split, split_probe
from ..tuning import System
from .figures import draw_table
from .journal import stoppable, write_csv
from .run import Run
from .table1 import draw_statistics, statistics
from .timing import machine
from .trials import TUNING_SEED, Trials, versions

NEEDS = {"SVD++": "surprise", "BPR": "implicit", "Implicit ALS": "implicit"}
# Seconds that a pass of a slow system takes for each pair of ratings of a user.
SECONDS_A_PAIR = {"SVD++": 3e-8}
AN_HOUR = 3600.0
# Of data with a probe in a file of their own: full-size trials are stored apart from small ones.
TRIALS = {False: "trials.csv", True: "netflix_trials.csv"}
Settings = dict[int, dict[str, dict]]  # of a system, by given and name


def reproduce(run: Run) -> pd.DataFrame:
    """Make it: `<out>/<file_name>.csv` (returned), `<out>/<file_name>.png`.

    An interrupted run goes on where it stopped: what it has finished is in
    `<out>/<file_name>.unfinished`, which is removed at the end. Raises OSError, before any work,
    where one of both folders cannot be written to.
    """
    for folder in (run.out, run.journal.folder):
        try:
            writable_folder(folder)
        except OSError as error:
            raise OSError(
                f"{folder} cannot be written to ({error.strerror}); name another folder with "
                "--out"
            ) from error
    make = {"table1": _statistics} | dict.fromkeys(PROTOCOLS, _table)
    table, header, picture = make.get(run.name, _figure)(run)
    write_csv(run.out / f"{run.file_name}.csv", table, [run.command, *header, versions()])
    if run.probe is not None:  # real or simulated: a picture is shown without its table
        picture.suptitle(run.ratings.source.split(";")[0])
    with replacing(run.out / f"{run.file_name}.png") as file:
        picture.savefig(file, format="png", dpi=150)
    run.journal.clear()
    return table


Made = tuple[pd.DataFrame, list[str], matplotlib.figure.Figure]


def _statistics(run: Run) -> Made:
    header = [f"Data: {run.ratings!r}", "Counted: users with at least 50 ratings"]
    return statistics(run.ratings), header, draw_statistics(run.ratings)


def _figure(run: Run) -> Made:
    figure = run.figure

    def work(check: Callable[[], None]) -> list[pd.DataFrame]:
        parts = []
        for seed in tqdm(range(run.n_splits), desc=run.name):
            check()
            make = lambda seed=seed: figure.measure(*run.parts, seed)  # noqa: E731
            parts.append(run.journal.get(run.key(seed), make))
        return parts

    table = pd.concat(stoppable(work), ignore_index=True)
    header = [_data(run), figure.words, f"Machine: {machine()}"]
    return table, header, figure.draw(table)


# --------------------------------------------------------------------------- tables


def _table(run: Run) -> Made:
    """Means, intervals and paired tests of every system, and what to say above them.

    Columns given, system, candidates ("1000" or "all"; where there are both), metric, mean, ci_low,
    ci_high (95%, over users), n_users, n_splits, split_sd, split_min, split_max; against the
    protocol's reference, for the same users: difference, effect_size, p_value, n_different, as
    `compare` has them (nan in the reference's own rows); settings.
    """
    systems, left_out = _systems(run)
    for reason in left_out:
        print(reason, file=sys.stderr)
    trials = Trials(
        run.trials or run.out / TRIALS[run.probe is not None], run.data, run.n_trials,
        again=run.tune_again,
    )  # fmt: skip

    def work(check: Callable[[], None]) -> list[pd.DataFrame]:
        return [
            _tuned_for(run, metric, systems, trials, check)
            for metric in run.protocol.tuned_for
        ]

    table = pd.concat(stoppable(work), ignore_index=True)
    return (
        table,
        [
            _data(run),
            f"Tuned with {run.n_trials} trials for each system and Given, seed {TUNING_SEED}"
            + trials.sample(run.ratings),
            f"Protocol: {run.protocol.words}",
            "Intervals: 95%, bootstrap over users of each user's mean over the splits; p_value and "
            f"effect_size: against {run.protocol.reference}, Wilcoxon signed-rank, paired over users",
            *_several(run.protocol),
            *left_out,
        ],
        draw_table(table),
    )


def _several(protocol: Protocol) -> list[str]:
    return (
        ["Each metric with the settings best by it"] if len(protocol.tuned_for) > 1 else []
    )


def _tuned_for(run: Run, metric: str, systems, trials: Trials, check) -> pd.DataFrame:
    """The table with the settings best by `metric`; its rows alone where there are others."""
    protocol = run.protocol
    settings = trials.best(protocol.task, run.ratings, systems, check, metric)
    table = summarize(_measure_all(run, settings, check), protocol.reference)
    table["settings"] = [
        json.dumps(settings[given][name])
        for given, name in zip(table["given"], table["system"], strict=True)
    ]
    return table if len(protocol.tuned_for) == 1 else table[table["metric"] == metric]


def missing(systems: Iterable[str]) -> list[str]:
    """Those of `systems` whose optional library is not installed."""
    return [one for one in systems if one in NEEDS and find_spec(NEEDS[one]) is None]


def _systems(run: Run) -> tuple[dict[int, dict[str, System]], list[str]]:
    """The table's systems for each Given, and why others are not among them."""
    protocol = run.protocol
    absent = missing(protocol.systems)
    left_out = [
        f"{name} is left out for want of its library: pip install 'gapfm-teach[baselines]'"
        for name in absent
    ]
    systems: dict[int, dict[str, System]] = {}
    for given in protocol.givens:
        systems[given] = {}
        for name in protocol.systems:
            system = protocol.system(name)
            took = _longest(name, system, run.ratings.n_users * given**2)
            if took > AN_HOUR:
                left_out.append(
                    f"{name} at Given {given} is left out: a training may take {took / 60:.0f} "
                    "minutes"
                )
            elif name not in absent:
                systems[given][name] = system
    return systems, left_out


def _longest(name: str, system: System, n_pairs: int) -> float:
    """About how many seconds a training takes at most, where it may be long; else 0."""
    return SECONDS_A_PAIR.get(name, 0.0) * n_pairs * max(system.grid.get("n_iter", [0]))


def _measure_all(run: Run, settings: Settings, check) -> dict[tuple, list]:
    """{(given, system): [per-user table of each split]}; finished pieces are not repeated."""
    places = [
        (seed, given, name)
        for seed in range(run.n_splits)
        for given, of_systems in settings.items()
        for name in of_systems
    ]
    found: dict[tuple[int, str], list[pd.DataFrame]] = {}

    @lru_cache(1)  # of large data it takes as long as some of the trainings
    def parts(given: int, seed: int) -> tuple[Ratings, Ratings, Ratings]:
        if run.probe is not None:
            return split_probe(run.ratings, run.probe, given, seed)
        return split(run.protocol.task, run.ratings, given, seed)

    for seed, given, name in tqdm(places, desc=run.name):
        check()
        chosen, fixed = settings[given][name], dict(run.protocol.system(name).fixed)
        key = run.key(seed, given=given, system=name, settings=chosen, fixed=fixed)
        make = partial(_per_user, run, given, name, chosen, seed, parts)
        per_user = run.journal.get(key, make).set_index("user")
        found.setdefault((given, name), []).append(per_user)
    return found


def _per_user(
    run: Run, given: int, name: str, settings: Mapping[str, Any], seed: int, parts: Callable
) -> pd.DataFrame:
    train, known, test = parts(given, seed)
    try:
        system = run.protocol.system(name).build(settings, seed).fit(train)
    except FloatingPointError as error:
        raise FloatingPointError(f"{name}, Given {given}, split {seed}: {error}") from error
    return measure(run.protocol.task, system, known, test, seed).reset_index()


def summarize(
    per_user: Mapping[tuple[int, str], list[pd.DataFrame]], reference: str = "GAPfm"
) -> pd.DataFrame:
    """One tidy table of {(given, system): [per-user table of each split]}, as in `_table`."""
    rows = []
    for (given, name), splits in per_user.items():
        table = summarize_splits(splits)
        against = per_user[given, reference]
        paired = compare(average_splits(splits), average_splits(against))
        for column in ("difference", "effect_size", "p_value", "n_different"):
            table[column] = paired[column] if name != reference else np.nan
        rows.append(table.assign(given=given, system=name))
    table = pd.concat(rows, ignore_index=True)
    first = ["given", "system", "metric"]
    if table["metric"].str.contains(" P@").any():
        parts = table["metric"].str.split(" ", n=1, expand=True)
        table["candidates"], table["metric"] = parts[0], parts[1]
        first.insert(2, "candidates")
    return table[[*first, *table.columns.drop(first)]]


def _data(run: Run) -> str:
    seeds = f"seeds 0 to {run.n_splits - 1}" if run.n_splits > 1 else "seed 0"
    probe = "" if run.probe is None else f"; probe: {run.probe.n_ratings:,} ratings"
    return f"Data: {run.ratings!r}{probe}; {seeds}, a split each"
