"""A table: every system tuned and measured on split after split, and what that says."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from importlib.util import find_spec

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from gapfm_teach.intervals import compare_splits, holm, summarize_splits
from gapfm_teach.ratings import Ratings

from ..protocols import FEWEST_LEFT, measure, split, split_probe
from ..systems import System
from .choices import Choices, Folds
from .result_cache import stoppable
from .run import Run

NEEDS = {
    "SVD++": "surprise",
    "BPR, popular negatives": "implicit",
    "Implicit ALS": "implicit",
}
# Seconds that a pass of a slow system takes for each pair of ratings of a user.
SECONDS_A_PAIR = {"SVD++": 3e-8}
AN_HOUR = 3600.0
Results = dict[
    tuple[int, str], list[pd.DataFrame]
]  # by given and system: a per-user table a split


def make_table(run: Run) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """(results, differences, what else to say above them) of `run.protocol`.

    results : a row for each given, system, candidates ("1000" or "all"; where there are both) and
    metric: mean, ci_low, ci_high, n_users, n_splits, split_sd, split_min, split_max as
    `summarize_splits` has them; n_failed, splits in which training left the finite numbers, which
    count in none of these; n_collapsed, splits with less than half of PopRec's mean, which do;
    fits and seconds, the cost of tuning in a split; settings, chosen in split after split (JSON).
    differences : for each of the protocol's references and all other systems, what
    `compare_splits` finds, and p_holm, corrected for all comparisons with that reference.
    """
    systems, left_out = _systems(run)
    for reason in left_out:
        print(reason, file=sys.stderr)
    choices = Choices(run.choices, again=run.tune_again)

    def work(check: Callable[[], None]) -> Results:
        return _measure_all(run, systems, choices, check)

    found, overlap = stoppable(work), overlaps(run)
    table = _with_costs(summarize(found, overlap), choices.table())
    return table, differences(found, run.protocol.references, overlap), left_out


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


# ------------------------------------------------------------------ measuring


def _measure_all(
    run: Run, systems: Mapping[int, Mapping[str, System]], choices: Choices, check
) -> Results:
    """Each system on each split, tuned there; finished pieces are not repeated."""
    places = [
        (seed, given, name)
        for seed in range(run.n_splits)
        for given, of_given in systems.items()
        for name in of_given
    ]
    found: Results = {}

    @lru_cache(1)  # of large data it takes as long as some of the trainings
    def parts(given: int, seed: int) -> tuple[tuple[Ratings, Ratings, Ratings], Folds]:
        if run.probe is not None:
            made = split_probe(run.ratings, run.probe, given, seed)
        else:
            made = split(run.protocol.task, run.ratings, given, seed)
        return made, Folds(run.protocol.task, *made[:2], given, seed)

    for seed, given, name in tqdm(places, desc=run.name):
        check()
        system, metrics = systems[given][name], run.protocol.tuned_for
        rows = choices.get(
            given, seed, name, system, parts(given, seed)[1], metrics, run.n_trials
        )
        tables = {}
        for row in rows:
            key = run.key(
                seed, given=given, system=name, settings=json.loads(row["settings"]),
                fixed=dict(system.fixed),
            )  # fmt: skip
            make = partial(
                _per_user, run, system, key, lambda g=given, s=seed: parts(g, s)[0]
            )
            tables[row["metric"]] = run.results.get(key, make).set_index("user")
        found.setdefault((given, name), []).append(_each_by_its_own(tables))
    return found


def _each_by_its_own(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The one table, or of several each metric from the table that was tuned for it; an empty
    one, where one is."""
    for table in tables.values():
        if table.empty or len(tables) == 1:
            return table
    return pd.DataFrame({metric: table[metric] for metric, table in tables.items()})


def _per_user(run: Run, system: System, key: Mapping, parts: Callable) -> pd.DataFrame:
    """One row a user; none where training left the finite numbers."""
    train, known, test = parts()
    try:
        model = system.build(key["settings"], key["seed"]).fit(train)
    except FloatingPointError:
        return pd.DataFrame({"user": []})
    return measure(run.protocol.task, model, known, test, key["seed"]).reset_index()


# ------------------------------------------------------------------ what it says


def overlaps(run: Run) -> dict[int, float]:
    """For each Given, the share of a split's training ratings that another split has too."""
    counts = np.diff(run.ratings.indptr)
    least = FEWEST_LEFT[run.protocol.task]
    return {
        given: float(np.mean(given / counts[counts >= given + least]))
        for given in run.protocol.givens
    }


def summarize(results: Results, overlap: Mapping[int, float]) -> pd.DataFrame:
    """One tidy table of all means, as in `make_table`, but for what tuning cost.

    Raises FloatingPointError where a system failed in every split.
    """
    rows = []
    for (given, name), splits in results.items():
        whole = [table for table in splits if len(table)]
        if not whole:
            raise FloatingPointError(
                f"{name}, Given {given}: training left the finite numbers in every split; change "
                "its grid"
            )
        table = summarize_splits(whole, overlap=overlap[given])
        popular = results.get((given, "PopRec"), splits)
        low = [
            table.mean() < 0.5 * other.mean()
            for table, other in zip(splits, popular, strict=True)
            if len(table)
        ]
        collapsed = np.sum(low, axis=0)
        rows.append(
            table.assign(
                given=given,
                system=name,
                n_failed=len(splits) - len(whole),
                n_collapsed=collapsed,
            )
        )
    return _by_candidates(pd.concat(rows, ignore_index=True), ["given", "system"])


def differences(
    results: Results, references: Iterable[str], overlap: Mapping[int, float]
) -> pd.DataFrame:
    """Every system against each of `references`, paired over users and splits."""
    tables = []
    for reference in references:
        rows = []
        for (given, name), splits in results.items():
            if name == reference:
                continue
            pairs = [
                (one, other)
                for one, other in zip(splits, results[given, reference], strict=True)
                if len(one) and len(other)
            ]
            sides = zip(*pairs, strict=True)
            compared = compare_splits(*map(list, sides), overlap=overlap[given])
            rows.append(compared.assign(given=given, system=name, reference=reference))
        table = pd.concat(rows, ignore_index=True)
        tables.append(table.assign(p_holm=holm(table["p_value"])))
    first = ["reference", "given", "system"]
    return _by_candidates(pd.concat(tables, ignore_index=True), first)


def _by_candidates(table: pd.DataFrame, first: list[str]) -> pd.DataFrame:
    """With "1000 P@5" taken apart into candidates and metric, and the columns in order."""
    first = [*first, "metric"]
    if table["metric"].str.contains(" P@").any():
        parts = table["metric"].str.split(" ", n=1, expand=True)
        table["candidates"], table["metric"] = parts[0], parts[1]
        first.insert(-1, "candidates")
    return table[[*first, *table.columns.drop(first)]]


def _with_costs(table: pd.DataFrame, choices: pd.DataFrame) -> pd.DataFrame:
    """With what tuning cost in a split, and what it chose: by the metric, if it was tuned for."""
    several = choices["metric"].nunique() > 1
    by = ["given", "system", *(["metric"] if several else [])]
    costs = choices.groupby(by, sort=False).agg(
        fits=("fits", "mean"), seconds=("seconds", "mean"),
        settings=("settings", lambda texts: f"[{', '.join(texts)}]"),
    )  # fmt: skip
    return table.join(costs, on=by)
