"""Tables for the explorable `standings`, against the tables themselves."""

import pandas as pd
import pytest

from gapfm_teach.lab.experiments.standings import standings
from gapfm_teach.lab.paper import PAPER

ROW = {"ci_low": 0.1, "ci_high": 0.3, "n_failed": 0, "n_collapsed": 0}


def table(*rows) -> pd.DataFrame:
    named = [
        dict(zip(("given", "metric", "system", "mean"), row, strict=True)) for row in rows
    ]
    return pd.DataFrame([ROW | row for row in named])


def paired(*rows, n_splits: int = 5) -> pd.DataFrame:
    names = ["reference", "given", "metric", "system", "difference", "p_holm"]
    return pd.DataFrame(rows, columns=names).assign(n_splits=n_splits)


def test_marks_say_what_is_clear_and_for_whom():
    measured = table(
        (10, "NDCG@5", "A", 0.2), (10, "NDCG@5", "B", 0.25), (20, "P@5", "B", 0.1)
    )
    differences = paired(
        ("A", 10, "NDCG@5", "B", 0.05, 0.01), ("B", 10, "NDCG@5", "A", -0.05, 0.01),
        ("A", 20, "P@5", "B", 0.05, 0.2), ("C", 10, "NDCG@5", "A", 0.1, 0.001),
    )  # fmt: skip
    data = standings({"t": (measured, differences)}, ["A", "B"], ["NDCG@5", "P@5"])
    assert data["references"] == ["A", "B"]
    first = {"table": "t", "given": "10", "metric": "NDCG@5", "reference": "A"}
    assert data["start"] == first
    assert data["tables"]["t"]["10"]["NDCG@5"] == [
        ["A", 0.2, 0.1, 0.3, "0-", None, 0], ["B", 0.25, 0.1, 0.3, "+0", None, 0],
    ]  # fmt: skip
    assert data["tables"]["t"]["20"] == {"P@5": [["B", 0.1, 0.1, 0.3, "00", None, 0]]}


def test_the_papers_numbers_stand_beside_those_of_its_systems():
    measured = table(
        (50, "GAP@5 (ideal)", "GAPfm", 0.2), (50, "GAP@5 (ideal)", "EASE", 0.2)
    )
    measured["n_collapsed"] = [2, 0]
    data = standings(
        {"t": (measured, paired())}, ["GAPfm"], ["GAP@5 (ideal)"], {"t": "table2 table3"}
    )
    ours, ease = data["tables"]["t"]["50"]["GAP@5 (ideal)"]
    printed = PAPER["table3"].set_index(["given", "metric", "system"])["value"]
    assert ours[5:] == [pytest.approx(printed[50, "GAP@5", "GAPfm"]), 2]
    assert ease[5:] == [None, 0]
