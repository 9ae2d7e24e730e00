"""What the measured pieces say: means, the declared comparisons, and what tuning chose."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from gapfm_teach.intervals import compare_splits, holm, summarize_splits
from gapfm_teach.ratings import Ratings

from .declared import COMPARISONS, FEW_CANDIDATES, FEWEST_LEFT, METRIC, PER_SPLIT, PER_USER
from .run import Piece

Measured = Mapping[Piece, pd.DataFrame]
USERS = [*PER_USER, FEW_CANDIDATES]


def make_tables(
    data: str, ratings: Ratings, measured: Measured
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """(means, differences, choices) of one data set.

    means : a row for each given, system and metric, with columns data, given, system, metric,
    mean, ci_low, ci_high, n_users, n_splits; intervals hold users and splits, as in
    `summarize_splits`, and for what a split has one of (`declared.PER_SPLIT`) splits alone.
    differences : for each of `declared.COMPARISONS` and each metric: difference, ci_low, ci_high,
    n_users, n_splits; for the primary endpoint p_value too.
    choices : a row for each piece: settings, value, n_fits, at_edge.
    """
    means, differences, choices = [], [], []
    for (given, system), tables in _by_system(measured).items():
        shared = shared_part(ratings, given)
        head: dict[str, Any] = {"data": data, "given": given, "system": system}
        users = [table.set_index("user")[USERS] for _, table in tables]
        row = summarize_splits(users, overlap=shared)[_MEAN_COLUMNS]
        means += [row.assign(**head), _of_splits(tables).assign(**head)]
        for seed, table in tables:
            chosen = table.loc[0, ["settings", "value", "n_fits", "at_edge"]].to_dict()
            choices.append(head | {"seed": seed} | chosen)
    for given in sorted({piece.given for piece in measured}):
        head = {"data": data, "given": given}
        for one, other in COMPARISONS:
            pairs = _pairs(measured, given, one, other)
            if pairs:
                table = compare_splits(
                    *map(list, zip(*pairs, strict=True)),
                    overlap=shared_part(ratings, given),
                )
                table["p_value"] = table["p_value"].where(table["metric"] == METRIC)
                against: dict[str, Any] = head | {"system": one, "reference": other}
                differences.append(table.drop(columns="effect_size").assign(**against))
    return (
        _ordered(pd.concat(means), ["data", "given", "system", "metric"]),
        _ordered(
            pd.concat(differences), ["data", "given", "system", "reference", "metric"]
        ),
        pd.DataFrame(choices),
    )


def with_holm(differences: pd.DataFrame) -> pd.DataFrame:
    """With `p_holm`: the p-values of all comparisons on the primary endpoint, adjusted together."""
    primary = differences["metric"] == METRIC
    adjusted = pd.Series(np.nan, differences.index)
    adjusted[primary] = holm(differences.loc[primary, "p_value"])
    return differences.assign(p_holm=adjusted)


def shared_part(ratings: Ratings, given: int) -> float:
    """The share of a split's training ratings that another split trains on, too."""
    counts = np.diff(ratings.indptr)
    return float(np.mean(given / counts[counts >= given + FEWEST_LEFT]))


_MEAN_COLUMNS = ["metric", "mean", "ci_low", "ci_high", "n_users", "n_splits"]


def _by_system(measured: Measured) -> dict[tuple[int, str], list[tuple[int, pd.DataFrame]]]:
    found: dict[tuple[int, str], list[tuple[int, pd.DataFrame]]] = {}
    for piece, table in measured.items():
        found.setdefault((piece.given, piece.system), []).append((piece.seed, table))
    return found


def _of_splits(tables: Sequence[tuple[int, pd.DataFrame]]) -> pd.DataFrame:
    """The mean over splits of what a split has one of, with a t interval over the splits."""
    values = pd.DataFrame([table.loc[0, list(PER_SPLIT)] for _, table in tables])
    return summarize_splits_only(values.astype(float))


def summarize_splits_only(values: pd.DataFrame) -> pd.DataFrame:
    """Means of the columns with 95% t intervals over the rows; nan limits for one row."""
    n = len(values)
    half = np.nan if n < 2 else stats.t.ppf(0.975, n - 1) * values.std(ddof=1) / np.sqrt(n)
    mean = values.mean()
    table = pd.DataFrame({"mean": mean, "ci_low": mean - half, "ci_high": mean + half})
    return table.rename_axis("metric").reset_index().assign(n_users=0, n_splits=n)


def _pairs(
    measured: Measured, given: int, one: str, other: str
) -> list[tuple[pd.DataFrame, pd.DataFrame]]:
    """Per-user tables of both systems, of the splits that both were measured on."""
    seeds = sorted({piece.seed for piece in measured})
    found = [
        tuple(measured.get(Piece(given, name, seed)) for name in (one, other))
        for seed in seeds
    ]
    return [
        (first.set_index("user")[USERS], second.set_index("user")[USERS])
        for first, second in found
        if first is not None and second is not None
    ]


def _ordered(table: pd.DataFrame, first: list[str]) -> pd.DataFrame:
    return table[[*first, *table.columns.drop(first)]].reset_index(drop=True)
