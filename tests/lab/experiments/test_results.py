"""Stored tables as text: the best first, and how far one system is ahead, by hand."""

import pandas as pd
import pytest

from gapfm_teach.lab.experiments.results import leads, wide


@pytest.fixture
def results():
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


def test_wide_has_the_best_system_first(results):
    table = wide(results, "NDCG@5")
    assert table.index.tolist() == ["B", "A"]
    assert table.loc["A"].tolist() == [
        ".200\N{NO-BREAK SPACE}±.010",
        ".300\N{NO-BREAK SPACE}±.020",
    ]


def test_leads_are_seen_from_the_reference_and_say_what_is_clear():
    rows = [
        (10, "A", -0.05, -0.07, -0.03, 0.001),
        (30, "A", 0.02, -0.01, 0.05, 0.3),
        (10, "C", -0.01, -0.03, 0.01, 0.04),
    ]
    names = ["given", "system", "difference", "ci_low", "ci_high", "p_holm"]
    table = pd.DataFrame(rows, columns=names)
    table = table.assign(reference="B", metric="NDCG@5", n_splits=5)
    found = leads(table, "B", "NDCG@5")
    assert found.index.tolist() == ["C", "A"]  # nearest first
    assert found.loc["A"].tolist() == ["+.050* [+.030, +.070]", "-.020 [-.050, +.010]"]
    assert found.loc["C", 10] == "+.010* [-.010, +.030]"
    few = leads(table.assign(n_splits=4), "B", "NDCG@5")
    assert few.loc["A"].tolist() == ["+.050 [+.030, +.070]", "-.020 [-.050, +.010]"]
    with pytest.raises(ValueError, match=r"no comparisons with 'D' by 'NDCG@5'; .* with B"):
        leads(table, "D", "NDCG@5")
