"""Stored tables: read, beside the paper's numbers, and as leads of one system over others."""

import html
from dataclasses import dataclass

import pandas as pd

from gapfm_teach._support.checks import check_path

from ..html_tables import format_html
from ..paper import PAPER, TOP_N

METRICS = ("P@5", "NDCG@5", "GAP@5 (ideal)")
# What a page says for the columns of our tables.
WORDS = {
    "ci_low": "95% from",
    "ci_high": "to",
    "effect_size": "effect size",
    "p_value": "p",
    "n_users": "users",
    "n_different": "users who differ",
    "split_sd": "SD of splits",
    "split_min": "lowest split",
    "split_max": "highest split",
    "mean_grade": "mean grade",
    "mean_by_number": "mean by number",
    "share_up": "share pushed up",
    "top_share": "first direction",
    "training_gap": "training GAP",
    "held_out_gap": "held-out GAP",
    "validation_gap": "held-out GAP",
    "learning_rate": "γ",
    "reg": "λ",
    "n_iter": "iterations",
}


def label_columns(table: pd.DataFrame) -> pd.DataFrame:
    """`table` with its columns and index named in words."""
    return table.rename(columns=WORDS).rename_axis(index=lambda name: WORDS.get(name, name))


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
    ours = rows.assign(text=_with_half(rows)).pivot(
        index="system", columns="metric", values="text"
    )
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


def leads(differences: pd.DataFrame, reference: str, metric: str) -> pd.DataFrame:
    """How far `reference` is ahead of each other system, as text.

    differences : a table of paired comparisons that `reproduce` wrote, of one set of candidates.
    A row a system, a column a Given: difference of the means [95% interval]. Raises ValueError for
    a reference or metric that is not in it.
    """
    rows = differences[differences["reference"] == reference]
    rows = rows[rows["metric"] == metric]
    if rows.empty:
        known = ", ".join(differences["reference"].unique())
        raise ValueError(
            f"no comparisons with {reference!r} by {metric!r}; there are those with {known}"
        )
    parts = [-rows["difference"], -rows["ci_high"], -rows["ci_low"]]
    ahead, low, high = (_signed(part) for part in parts)
    text = ahead + " [" + low + ", " + high + "]"
    table = rows.assign(text=text).pivot(index="system", columns="given", values="text")
    order = rows.groupby("system")["difference"].mean().sort_values(ascending=False).index
    return table.reindex(order).rename_axis(index=None, columns="Given")


@dataclass(frozen=True)
class Folded:
    """A whole table that opens at a click, where a page is read; a cell that ends with it shows it."""

    title: str
    table: pd.DataFrame

    def _repr_html_(self) -> str:
        title, table = html.escape(self.title), format_html(self.table.to_html())
        return (
            f'<details class="callout callout-note" style="overflow-x: auto">'
            f'<summary class="callout-title">{title}'
            f"</summary>\n{table}\n</details>"
        )

    def __repr__(self) -> str:
        return f"{self.title}\n{self.table.to_string()}"


def _with_half(rows: pd.DataFrame) -> pd.Series:
    """Mean ± half of the interval."""
    half = (rows["ci_high"] - rows["ci_low"]) / 2
    return _short(rows["mean"]) + "\N{NO-BREAK SPACE}±" + _short(half)


def _signed(numbers: pd.Series) -> pd.Series:
    return numbers.map("{:+.3f}".format).str.replace("0.", ".", n=1)


def _short(numbers: pd.Series) -> pd.Series:
    """Three digits without the leading zero, so that seven columns fit on a page."""
    return numbers.map("{:.3f}".format).str.lstrip("0")
