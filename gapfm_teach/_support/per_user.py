"""Tables with one row a user and one column a metric: what is wrong with one, and A less B."""

import numpy as np
import pandas as pd


def check_values(table, where: str = "") -> None:
    if not isinstance(table, pd.DataFrame):
        raise TypeError(
            f"{where}a per-user table must be a DataFrame, got {type(table).__name__}; pass what "
            "top_n_per_user or ranking_per_user gives"
        )
    values = table.to_numpy(dtype=np.float64)
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(
            f"{where}values must be finite, got {values[row, column]} for user "
            f"{table.index.tolist()[row]!r} in {table.columns[column]!r}; check that system"
        )


def check_same_metrics(one: pd.DataFrame, other: pd.DataFrame, where: str = "") -> None:
    check_values(one, where)
    check_values(other, where)
    if list(one.columns) != list(other.columns):
        raise ValueError(
            f"{where}the tables have different metrics, {list(one.columns)} and "
            f"{list(other.columns)}; use the same function and `at` for both"
        )


def differences_of(
    results_a: pd.DataFrame, results_b: pd.DataFrame, where: str = ""
) -> pd.DataFrame:
    """A - B for the same users; `where` begins the message of an error."""
    check_same_metrics(results_a, results_b, where)
    if not (results_a.index.is_unique and results_b.index.is_unique):
        raise ValueError(f"{where}a user stands twice in a table; pass one row a user")
    if results_a.index.symmetric_difference(results_b.index).size:
        raise ValueError(
            f"{where}results_a has {len(results_a)} users and results_b {len(results_b)}, not "
            "the same ones; evaluate both systems on the same train and test"
        )
    # Rounded, for sums in another order must not make a difference of a tie.
    return (results_a - results_b.loc[results_a.index]).round(12)
