"""Stored tables: read, beside the paper's numbers, folded, and as leads."""

import pandas as pd
import pytest

from gapfm_lab.experiments import results
from gapfm_lab.experiments.results import leads
from gapfm_lab.paper import PAPER


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


def test_a_folded_table_holds_all_its_rows():
    table = pd.DataFrame({"x": range(200)})
    folded = results.Folded("A & B", table)
    page = folded._repr_html_()
    assert page.startswith("<details")
    assert "A &amp; B</summary>" in page
    assert page.count("<tr") == 201
    assert str(folded).count("\n") == 201


@pytest.fixture
def stored():
    rows = [
        (10, "A", "NDCG@5", 0.20, 0.19, 0.21),
        (10, "B", "NDCG@5", 0.25, 0.22, 0.28),
        (30, "A", "NDCG@5", 0.30, 0.28, 0.32),
        (30, "B", "NDCG@5", 0.24, 0.22, 0.29),
        (10, "A", "P@5", 0.1, 0.1, 0.1),
    ]
    return pd.DataFrame(
        rows, columns=["given", "system", "metric", "mean", "ci_low", "ci_high"]
    )


def test_leads_are_seen_from_the_reference():
    rows = [
        (10, "A", -0.05, -0.07, -0.03),
        (30, "A", 0.02, -0.01, 0.05),
        (10, "C", -0.01, -0.03, 0.01),
    ]
    table = pd.DataFrame(
        rows, columns=["given", "system", "difference", "ci_low", "ci_high"]
    )
    table = table.assign(reference="B", metric="NDCG@5")
    found = leads(table, "B", "NDCG@5")
    assert found.index.tolist() == ["C", "A"]  # nearest first
    assert found.loc["A"].tolist() == ["+.050 [+.030, +.070]", "-.020 [-.050, +.010]"]
    assert found.loc["C", 10] == "+.010 [-.010, +.030]"
    with pytest.raises(ValueError, match=r"no comparisons with 'D' by 'NDCG@5'; .* with B"):
        leads(table, "D", "NDCG@5")
