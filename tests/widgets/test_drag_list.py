"""Chapter 1's list: every order that can be dragged has the GAP and the APs that Python gives."""

import re

import numpy as np
import pytest

from gapfm_teach.metrics import average_precision, graded_average_precision
from gapfm_teach.paper import thresholding_probabilities

AUDIENCES = {
    "all alike": np.ones(5),
    "easy-going": np.arange(5, 0, -1),
    "the paper's (5)": thresholding_probabilities(5),
}
DATA = {
    "films": ["A", "B", "C", "D", "E"],
    "grades": [5, 3, 1, 4, 2],
    "order": [2, 0, 1, 3, 4],
    "audiences": AUDIENCES,
}
DOWN = -np.arange(5.0)


@pytest.fixture
def stage(show):
    return show("drag_list", DATA, touch=True)


def order(stage) -> list[int]:
    rows = stage.root.locator("li").evaluate_all("all => all.map(e => e.dataset.row)")
    return [int(row) for row in rows]


def gap_of(order, audience="all alike") -> float:
    graded = np.array(DATA["grades"])[order]
    return graded_average_precision(graded, DOWN, delta=AUDIENCES[audience])


def check(stage, words: str, audience="all alike") -> None:
    now = np.array(DATA["grades"])[order(stage)]
    gap, *aps = re.findall(
        r"\d\.\d+|(?<=[ :])\d(?=[,.])", words.split("★: ")[0].split(". AP")[0]
    )
    aps = [
        float(one) for one in words.split("★: ")[1].split(". ")[0].rstrip(".").split(", ")
    ]
    assert float(gap) == pytest.approx(gap_of(order(stage), audience), rel=2e-3)
    expected = [average_precision(now >= level, DOWN) for level in range(1, 6)]
    assert aps == pytest.approx(expected, rel=2e-3)


def test_mouse_finger_and_keys_move_films_and_the_numbers_are_pythons(stage):
    check(stage, stage.said())
    for move, expected in [
        (lambda: stage.press("li:nth-child(5)", "Home"), [4, 2, 0, 1, 3]),
        (lambda: stage.drag("li:nth-child(1)", 0, 105), [2, 0, 4, 1, 3]),
        (lambda: stage.swipe("li:nth-child(3)", 0, -105), [4, 2, 0, 1, 3]),
        (lambda: stage.press("li:nth-child(1)", "ArrowDown", "ArrowDown"), [2, 0, 4, 1, 3]),
        (
            lambda: stage.after(stage.root.get_by_text("Reset", exact=True).click),
            DATA["order"],
        ),
    ]:
        words = move()
        assert order(stage) == expected
        check(stage, words)


def test_what_a_move_did_depends_on_the_audience_that_sets_the_widths(stage):
    menu = stage.root.locator("select")
    signs = {}
    words = stage.press("li[data-row='1']", "Home")  # the film of grade 3, to the top
    for audience, delta in AUDIENCES.items():
        if audience != menu.input_value():
            words = stage.after(lambda one=audience: menu.select_option(one))
        check(stage, words, audience)
        change = gap_of([1, 2, 0, 3, 4], audience) - gap_of(DATA["order"], audience)
        assert "B (3★) from rank 3 to 1" in words
        assert ("raised" if change > 0 else "lowered") in words
        assert float(re.search(r"GAP by ([\d.]+\d)", words)[1]) == pytest.approx(
            abs(change), rel=5e-3
        )
        assert "better for readers from 2★, 3★, worse for those from 4★, 5★" in words
        signs[audience] = change > 0
        weights = delta * [5, 4, 3, 2, 1]
        bars = stage.root.locator(".gx-chart rect[opacity]")
        drawn = np.array(
            [box["width"] for box in map(lambda b: b.bounding_box(), bars.all())]
        )
        assert drawn / drawn.sum() == pytest.approx(weights / weights.sum(), abs=0.015)
    assert signs["easy-going"]
    assert not signs["the paper's (5)"]
