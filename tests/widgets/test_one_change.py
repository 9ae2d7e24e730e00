"""Chapter 9's single changes: every step says what the stored tables hold. The tables here are made up."""

import re

import numpy as np
import pandas as pd
import pytest
from stage import Stage

from gapfm_teach.lab.experiments.explored import steps_of
from gapfm_teach.lab.systems import STEPS
from gapfm_teach.widgets import Page

PUT_IN = [name for name in STEPS if not name.startswith("- ")]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Made-up tables of the shape that `reproduce ablation` writes."""
    rng, folder = np.random.default_rng(0), tmp_path_factory.mktemp("made_up")
    rows, pairs = [], []
    for given in (10, 30):
        for metric in ("NDCG@5", "AP@5", "P@5"):
            mean = dict(zip(STEPS, 0.3 + rng.normal(0, 0.04, len(STEPS)), strict=True))
            key = {"given": given, "metric": metric}
            for name, m in mean.items():
                rows.append(
                    key
                    | {"system": name, "mean": m, "ci_low": m - 0.02, "ci_high": m + 0.02}
                )
                for other, o in mean.items():
                    pair = {
                        "reference": other,
                        "system": name,
                        "difference": m - o,
                        "ci_low": m - o - 0.03,
                    }
                    pairs.append(
                        key
                        | pair
                        | {"ci_high": m - o + 0.03, "p_holm": rng.choice([0.01, 1.0])}
                        | {"n_splits": 5}
                    )
    for table, name in ((rows, "ablation"), (pairs, "ablation_differences")):
        pd.DataFrame(table).to_csv(folder / f"{name}.csv", index=False)
    return folder, pd.DataFrame(rows), pd.DataFrame(pairs)


def check(words: str, tables, system: str, reference: str, given: int, metric: str) -> None:
    _, means, pairs = tables
    key = f"given == {given} and metric == '{metric}' and system == @system"
    pair = pairs.query(f"{key} and reference == @reference").iloc[0]
    due = [means.query(key)["mean"].iloc[0], *pair[["difference", "ci_low", "ci_high"]]]
    found = re.search(rf"{metric} (\.\d+), ([+-]\.\d+) \[([+-]\.\d+), ([+-]\.\d+)\]", words)
    assert list(map(float, found.groups())) == pytest.approx(due, abs=6e-4)
    assert ("; clear" in words) == (pair["p_holm"] < 0.05)


def test_steps_measures_and_what_is_taken_out(browser, tmp_path, tables):
    data = steps_of(tables[0] / "ablation.csv", ("NDCG@5", "AP@5"))
    stage = Stage(browser, tmp_path, Page("one_change", data, "steps"), touch=True)
    assert "nothing changed yet" in stage.said()
    for step in (1, 5, 9):
        check(
            stage.slide("step", step), tables, PUT_IN[step], PUT_IN[step - 1], 10, "NDCG@5"
        )
    check(
        stage.press("input[id$='-step']", "ArrowLeft"),
        tables,
        PUT_IN[8],
        PUT_IN[7],
        10,
        "NDCG@5",
    )
    for name, choice in (("metric", "AP@5"), ("given", "30")):
        menu = stage.root.locator(f"select[id$='-{name}']")
        words = stage.after(lambda menu=menu, choice=choice: menu.select_option(choice))
    check(words, tables, PUT_IN[8], PUT_IN[7], 30, "AP@5")
    way = stage.root.locator("select[id$='-way']")
    stage.after(lambda: way.select_option(index=1))
    box = stage.root.locator("input[id$='-step']").bounding_box()
    tapped = stage.after(
        lambda: stage.page.touchscreen.tap(
            box["x"] + 0.335 * box["width"], box["y"] + box["height"] / 2
        )
    )
    check(tapped, tables, "- unrated count less", "+ large start", 30, "AP@5")
    stage.close()
