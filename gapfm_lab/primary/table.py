"""What the measured pieces say: means, comparisons, and what tuning chose."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from gapfm_teach.intervals import compare_splits, summarize_splits
from gapfm_teach.ratings import Ratings

from .measure import TASKS
from .protocol import Protocol
from .run import Piece

Measured = Mapping[Piece, pd.DataFrame]
MEANS = ["given", "system", "metric", "mean", "ci_low", "ci_high", "n_users", "n_splits"]
DIFFERENCES = [
    "given", "system", "reference", "metric", "difference", "ci_low", "ci_high", "p_value",
    "n_users", "n_splits",
]  # fmt: skip


def make_tables(
    protocol: Protocol, ratings: Ratings, measured: Measured
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """(means, differences, choices).

    means : a row for each given, system and metric, with columns `MEANS`; intervals hold users and
    splits, as in `summarize_splits`, and of `protocol.per_split`, where n_users is 0, splits alone.
    differences : `DIFFERENCES`, for each of the protocol's comparisons and each metric.
    choices : a row for each piece: given, system, seed, settings, value, n_fits, at_edge.
    """
    users = list(protocol.metrics)
    overlap = {n: shared_part(ratings, n, TASKS[protocol.task]) for n in protocol.givens}
    means, differences, choices = [], [], []
    for (given, system), tables in _by_system(measured).items():
        of_users = [table.set_index("user")[users] for table in tables]
        found = [summarize_splits(of_users, overlap=overlap[given])]
        if protocol.per_split:
            rows = [table.loc[0, list(protocol.per_split)] for table in tables]
            found.append(summarize_splits_only(pd.DataFrame(rows).astype(float)))
        means.append(pd.concat(found).assign(given=given, system=system))
    for given in protocol.givens:
        for system, reference in protocol.comparisons:
            if pairs := _pairs(measured, given, system, reference):
                one, other = (
                    [pair[k].set_index("user")[users] for pair in pairs] for k in (0, 1)
                )
                table = compare_splits(one, other, overlap=overlap[given])
                differences.append(
                    table.assign(given=given, system=system, reference=reference)
                )
    for piece, table in measured.items():
        chosen = table.loc[0, ["settings", "value", "n_fits", "at_edge"]].to_dict()
        choices.append(piece._asdict() | chosen)
    return (
        pd.concat(means, ignore_index=True)[MEANS],
        pd.concat(differences, ignore_index=True)[DIFFERENCES],
        pd.DataFrame(choices).sort_values(["given", "system", "seed"], kind="stable"),
    )


def shared_part(ratings: Ratings, given: int, least: int) -> float:
    """The share of a split's training ratings that another split trains on, too.

    least : ratings besides the given ones, of users who are in both.
    """
    counts = np.diff(ratings.indptr)
    return float(np.mean(given / counts[counts >= given + least]))


def summarize_splits_only(values: pd.DataFrame) -> pd.DataFrame:
    """Means of the columns with 95% t intervals over the rows; nan limits for one row."""
    n = len(values)
    half = np.nan if n < 2 else stats.t.ppf(0.975, n - 1) * values.std(ddof=1) / np.sqrt(n)
    mean = values.mean()
    table = pd.DataFrame({"mean": mean, "ci_low": mean - half, "ci_high": mean + half})
    return table.rename_axis("metric").reset_index().assign(n_users=0, n_splits=n)


def _by_system(measured: Measured) -> dict[tuple[int, str], list[pd.DataFrame]]:
    found: dict[tuple[int, str], list[pd.DataFrame]] = {}
    for piece, table in measured.items():
        found.setdefault((piece.given, piece.system), []).append(table)
    return found


def _pairs(
    measured: Measured, given: int, one: str, other: str
) -> Sequence[tuple[pd.DataFrame, pd.DataFrame]]:
    """Tables of both systems, of the splits that both were measured on."""
    found = [
        (table, measured.get(piece._replace(system=other)))
        for piece, table in measured.items()
        if (piece.given, piece.system) == (given, one)
    ]
    return [(first, second) for first, second in found if second is not None]
