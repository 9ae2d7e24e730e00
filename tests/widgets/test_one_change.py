"""Chapter 9's single changes: every step says what the stored tables hold. The tables here are made up."""

import re

import numpy as np
import pandas as pd
import pytest

from gapfm_lab.chapter_09 import steps_of
from gapfm_lab.protocols import PROTOCOLS, STEPS

PUT_IN = [name for name in STEPS if not name.startswith("- ")]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Made-up tables of the shape that `reproduce ablation` writes: path, means, pairs."""
    path = tmp_path_factory.mktemp("made_up") / "ablation.csv"
    rng, rows, pairs = np.random.default_rng(0), [], []
    for given in (10, 30):
        for metric in ("NDCG@5", "AP@5", "P@5"):
            mean = dict(zip(STEPS, 0.3 + rng.normal(0, 0.04, len(STEPS)), strict=True))
            key = {"given": given, "metric": metric}
            for name, m in mean.items():
                interval = {"mean": m, "ci_low": m - 0.02, "ci_high": m + 0.02}
                rows.append(key | {"system": name} | interval)
            for name, other in PROTOCOLS["ablation"].comparisons:
                change = mean[name] - mean[other]
                pair = {"reference": other, "system": name, "difference": change}
                pair |= {"ci_low": change - 0.03, "ci_high": change + 0.03}
                pairs.append(key | pair)
    means, differences = pd.DataFrame(rows), pd.DataFrame(pairs)
    means.to_csv(path, index=False)
    differences.to_csv(path.with_name(f"{path.stem}_differences.csv"), index=False)
    return path, means, differences


def check(words: str, tables, system: str, reference: str, given: int, metric: str) -> None:
    _, means, pairs = tables
    key = f"given == {given} and metric == '{metric}' and system == @system"
    pair = pairs.query(f"{key} and reference == @reference").iloc[0]
    due = [means.query(key)["mean"].iloc[0], *pair[["difference", "ci_low", "ci_high"]]]
    found = re.search(rf"{metric} (\.\d+), ([+-]\.\d+) \[([+-]\.\d+), ([+-]\.\d+)\]", words)
    assert list(map(float, found.groups())) == pytest.approx(due, abs=6e-4)


def test_steps_tables_measures_and_what_is_taken_out(show, tables):
    data = steps_of(tables[0], ("NDCG@5", "AP@5"))
    stage = show("one_change", data, touch=True)

    def choose(name, choice):
        menu = stage.root.locator(f"select[id$='-{name}']")
        return stage.after(lambda: menu.select_option(choice))

    assert "nothing changed yet" in stage.said()
    for step in (1, 5, 9):
        before = PUT_IN[step - 1]
        check(stage.slide("step", step), tables, PUT_IN[step], before, 10, "NDCG@5")
    words = stage.press("input[id$='-step']", "ArrowLeft")
    check(words, tables, PUT_IN[8], PUT_IN[7], 10, "NDCG@5")
    choose("metric", "AP@5")
    check(choose("given", "30"), tables, PUT_IN[8], PUT_IN[7], 30, "AP@5")
    choose("way", "taken out of consistent GAP, one at a time")
    check(
        stage.tap("step", 0.335),
        tables,
        "- unrated count less",
        "+ large start",
        30,
        "AP@5",
    )
