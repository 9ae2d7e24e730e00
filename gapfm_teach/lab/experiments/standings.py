"""Whole tables as the explorable `standings` shows them: every system, metric and Given."""

from collections.abc import Mapping, Sequence

import pandas as pd

from ..paper import PAPER
from .results import clear


def standings(
    tables: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]],
    references: Sequence[str],
    metrics: Sequence[str],
    paper: Mapping[str, str] | None = None,
) -> dict:
    """The rows of `tables`, {title: (table, differences) as `reproduce` wrote them}, by title,
    Given and metric, and for each whether it is clearly (`results.clear`) ahead of the
    `references`, or behind.

    `paper` names, for a title, the table of the paper whose numbers stand beside it. A row:
    [system, mean, ci_low, ci_high, marks, the paper's number or None, splits that failed or
    collapsed]; marks has a sign for each reference: "+" clearly ahead, "-" behind, else "0". The
    picture starts with the first of each.
    """
    found: dict = {}
    for title, (table, differences) in tables.items():
        signs = _signs(differences, references)
        theirs = _printed((paper or {}).get(title))
        for row in table[table["metric"].isin(metrics)].to_dict("records"):
            key = row["given"], row["metric"], row["system"]
            rows = found.setdefault(title, {}).setdefault(str(row["given"]), {})
            rows.setdefault(row["metric"], []).append(
                [
                    row["system"],
                    *(round(row[name], 4) for name in ("mean", "ci_low", "ci_high")),
                    "".join(signs.get((name, *key), "0") for name in references),
                    theirs.get(key),
                    row["n_failed"] + row["n_collapsed"],
                ]
            )
    title = next(iter(found))
    start = {"table": title, "given": next(iter(found[title]))}
    start |= {"metric": metrics[0], "reference": references[0]}
    return {"references": list(references), "start": start, "tables": found}


def _signs(differences: pd.DataFrame, references: Sequence[str]) -> dict:
    """(reference, given, metric, system) -> "+" or "-", where that is clear."""
    told = differences[clear(differences) & differences["reference"].isin(references)]
    keys = zip(
        told["reference"], told["given"], told["metric"], told["system"], strict=True
    )
    return dict(
        zip(keys, told["difference"].gt(0).map({True: "+", False: "-"}), strict=True)
    )


def _printed(names: str | None) -> dict:
    """(given, metric, system) -> the paper's number; its GAP@5 beside our reading "ideal"."""
    if names is None:
        return {}
    table = pd.concat([PAPER[name] for name in names.split()])
    metric = table["metric"].replace({"GAP@5": "GAP@5 (ideal)"})
    return dict(
        zip(
            zip(table["given"], metric, table["system"], strict=True),
            table["value"],
            strict=True,
        )
    )
