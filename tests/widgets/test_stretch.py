"""Chapter 9's shift and stretch: all four objectives have Python's values."""

import re

import numpy as np
import pytest

from gapfm_teach import metrics
from gapfm_teach.consistent.gap import consistent_gap
from gapfm_teach.consistent.power_mean import consistent_power_mean
from gapfm_teach.paper import smoothed_gap

ORDERS = {"right": [3, 2, 2, 1], "one pair wrong": [2, 3, 2, 1]}
SCORES = [1.5, 0.5, -0.5, -1.5]
DATA = {"orders": ORDERS, "scores": SCORES}
N = r"(\d*\.\d+)"
DELTA = metrics.thresholding_probabilities(3)


def check(stage, words: str, order: str = "one pair wrong") -> tuple[float, float]:
    shift, stretch = (
        float(text.replace("−", "-"))
        for text in stage.root.locator("output").all_inner_texts()
    )
    grades, scores = np.array(ORDERS[order]), shift + stretch * np.array(SCORES)
    Z = metrics.cumulative_weights(DELTA)[grades].sum()
    due = [
        smoothed_gap(scores, grades, DELTA) / Z,
        metrics.graded_average_precision(grades, scores, delta=DELTA),
        consistent_gap(scores, grades, DELTA),
        np.exp(consistent_power_mean(scores, grades, DELTA) / (grades / 3).sum()),
    ]
    found = re.search(
        rf"Printed: {N}.*GAP: {N},.*Consistent: {N}, geometric: {N};",
        words,
    )
    assert list(map(float, found.groups())) == pytest.approx(due, abs=6e-4)
    return shift, stretch


def test_sliders_and_dots_move_and_the_values_are_pythons(show):
    stage = show("stretch", DATA, touch=True)
    assert check(stage, stage.said()) == (0, 1)
    assert check(stage, stage.slide("shift", 170)) == (5, 1)
    assert "more than any list can earn" in stage.said()
    assert check(stage, stage.press("input[id$='-shift']", "ArrowLeft")) == (4.9, 1)
    assert check(stage, stage.drag("[data-handle=shift] circle", -60, 0))[0] < 1
    assert check(stage, stage.swipe("[data-handle=stretch] circle", 50, 0))[1] > 1.5
    words = stage.slide("stretch", 400)
    assert check(stage, words)[1] == 10
    assert "goes to the exact GAP" in words
    menu = stage.root.locator("select")
    check(stage, stage.after(lambda: menu.select_option("right")), "right")
