"""Stored tables: read, beside the paper's numbers, and as leads of one system over others."""

from collections.abc import Sequence

import pandas as pd

from ..._support.checks import check_path
from ..paper import PAPER, TOP_N
from .protocol_effects import METRICS


def read_results(path) -> pd.DataFrame:
    """A table that `reproduce` wrote."""
    path = check_path(path, "path", "pass a table that reproduce wrote")
    return pd.read_csv(path, comment="#", dtype={"candidates": str})


def beside_paper(results: pd.DataFrame, table: str, given: int) -> pd.DataFrame:
    """Means ± half of the 95% interval, and the paper's numbers, as text: a row a system.

    results : as `read_results` gives them; table : "table2" or "table3". 1,000 drawn candidates;
    best NDCG@5 first. Systems that the paper does not have are left blank on its side.
    """
    rows = results[(results["given"] == given) & (results["candidates"] == "1000")]
    half = (rows["ci_high"] - rows["ci_low"]) / 2
    text = _short(rows["mean"]) + "\N{NO-BREAK SPACE}±" + _short(half)
    ours = rows.assign(text=text).pivot(index="system", columns="metric", values="text")
    order = rows[rows["metric"] == "NDCG@5"].sort_values("mean", ascending=False)["system"]
    theirs = PAPER[table][PAPER[table]["given"] == given]
    theirs = theirs.pivot(index="system", columns="metric", values="value")
    parts = {
        "MovieLens 100K": ours[list(METRICS)],
        "paper, on Netflix": theirs[list(TOP_N)].apply(_short),
    }
    wide = pd.concat(parts, axis=1).reindex(order.to_list()).fillna("")
    wide.columns.names = [None, None]
    return wide.rename_axis(index=None)


def wide(results: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Means ± half of the interval of one metric as text: a row a system, a column a Given.

    results : as `read_results` gives them. The systems best at the first Given first.
    """
    rows = results[results["metric"] == metric]
    half = (rows["ci_high"] - rows["ci_low"]) / 2
    text = _short(rows["mean"]) + "\N{NO-BREAK SPACE}±" + _short(half)
    table = rows.assign(text=text).pivot(index="system", columns="given", values="text")
    first = rows[rows["given"] == rows["given"].min()]
    order = first.sort_values("mean", ascending=False)["system"]
    return table.reindex(order).rename_axis(index=None, columns="Given")


def gains(
    results: pd.DataFrame, system: str, metrics: Sequence[str] = ("NDCG@5", "GAP@5 (ideal)")
) -> pd.DataFrame:
    """By how many per cent `system` is above each other one, as text; "*": the intervals are apart.

    results : as `read_results` gives them. A row for each metric and other system, a
    column a Given. Raises ValueError for a system that has no results.
    """
    if system not in set(results["system"]):
        raise ValueError(
            f"no results of {system!r}; there are {', '.join(results['system'].unique())}"
        )
    cells = results[results["metric"].isin(metrics)]
    cells = cells.set_index(["metric", "system", "given"])[["mean", "ci_low", "ci_high"]]
    ours = cells.xs(system, level="system").add_suffix("_ours")
    others = cells.drop(index=system, level="system")
    paired = others.join(ours, on=["metric", "given"])
    apart = (paired["ci_low_ours"] > paired["ci_high"]) | (
        paired["ci_high_ours"] < paired["ci_low"]
    )
    text = (paired["mean_ours"] / paired["mean"] - 1).map("{:+.1%}".format)
    table = (text + apart.map({True: "*", False: ""})).unstack("given")
    table.index.names, table.columns.name = [None, None], "Given"
    return table


def _short(numbers: pd.Series) -> pd.Series:
    """Three digits without the leading zero, so that seven columns fit on a page."""
    return numbers.map("{:.3f}".format).str.lstrip("0")
