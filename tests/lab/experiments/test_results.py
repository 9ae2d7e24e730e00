"""Stored tables: read, beside the paper's numbers, folded, and what tuning cost."""

import numpy as np
import pandas as pd
import pytest

from gapfm_teach.lab.experiments import results
from gapfm_teach.lab.paper import PAPER


def test_a_stored_table_comes_back_and_one_that_is_not_there_is_named(tmp_path):
    (tmp_path / "one.csv").write_text("# a command\nsystem,candidates\nours,1000\n")
    assert results.read_results(tmp_path / "one.csv")["candidates"].tolist() == ["1000"]
    with pytest.raises(FileNotFoundError, match=r"other\.csv"):
        results.read_results(tmp_path / "other.csv")


def test_our_table_stands_beside_the_papers():
    rows = [
        (10, system, "1000", metric, mean, mean - 0.01, mean + 0.01)
        for system, mean in {"GAPfm": 0.1, "EASE": 0.2}.items()
        for metric in results.METRICS
    ]
    columns = ["given", "system", "candidates", "metric", "mean", "ci_low", "ci_high"]
    table = results.beside_paper(pd.DataFrame(rows, columns=columns), "table2", 10)
    assert table.index.tolist() == ["EASE", "GAPfm"]
    assert table.loc["EASE", ("MovieLens 100K", "P@5")] == ".200\N{NO-BREAK SPACE}±.010"
    paper = PAPER["table2"].query("given == 10 and system == 'GAPfm' and metric == 'P@5'")
    assert float(table.loc["GAPfm", ("paper, on Netflix", "P@5")]) == paper["value"].item()
    assert table.loc["EASE", ("paper, on Netflix", "P@5")] == ""


@pytest.fixture
def rows():
    values = {
        "A": (0.3, 0.2, 0.5, 0, 0),
        "B": (0.1, 0.0, 0.2, 1, 2),
        "C": (0.2, 0.1, 0.3, 0, 0),
    }
    columns = ["mean", "ci_low", "ci_high", "n_failed", "n_collapsed"]
    table = pd.DataFrame(values, columns).T.rename_axis("system").reset_index()
    counts = ["n_failed", "n_collapsed"]
    return table.assign(n_splits=4).astype(dict.fromkeys(counts, int))


def test_a_folded_table_holds_all_its_rows():
    table = pd.DataFrame({"x": range(200)})
    folded = results.Folded("A & B", table)
    page = folded._repr_html_()
    assert page.startswith("<details")
    assert "A &amp; B</summary>" in page
    assert page.count("<tr") == 201
    assert str(folded).count("\n") == 201


def test_costs_are_means_and_warnings_are_counted(rows):
    choices = pd.DataFrame(
        {
            "system": ["A", "A", "B"],
            "n_trials": [10, 20, 3],
            "fits": [12, 24, 9],
            "seconds": [1.2, 2.4, 7.0],
            "at_edge": ["reg", np.nan, ""],
        }
    )
    found = results.costs(choices, rows)
    assert found.loc["A"].tolist() == [15, 18, 2, 1, 0, 0]
    assert found.loc["B", ["at an edge", "failed", "collapsed"]].tolist() == [0, 1, 2]
