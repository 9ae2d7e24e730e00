"""Chapter 1's list: every order that can be dragged has the GAP and the APs that Python gives."""

import re

import numpy as np
import pytest
from stage import Stage

from gapfm_teach.metrics import average_precision, graded_average_precision
from gapfm_teach.widgets import Page

DATA = {
    "films": ["A", "B", "C", "D", "E"],
    "grades": [5, 3, 1, 4, 2],
    "order": [2, 0, 1, 3, 4],
}


@pytest.fixture
def stage(browser, tmp_path):
    opened = Stage(browser, tmp_path, Page("drag_list", DATA, "five films"), touch=True)
    yield opened
    opened.close()


def numbers(words: str) -> list[float]:
    return [
        float(found)
        for found in re.findall(
            r"\d+(?:\.\d+)?", words.split(" is ")[1].replace("from one star up to 5", "")
        )
    ]


def order(stage) -> list[int]:
    return [
        int(one)
        for one in stage.root.locator("li").evaluate_all(
            "all => all.map(e => e.dataset.row)"
        )
    ]


def check(stage, words: str) -> None:
    now = np.array(DATA["grades"])[order(stage)]
    gap, *aps = numbers(words)
    scores = -np.arange(now.size)
    aps_of_python = [average_precision(now >= k, scores) for k in range(1, 6)]
    assert gap == pytest.approx(graded_average_precision(now, scores), rel=2e-3)
    assert aps == pytest.approx(aps_of_python, rel=2e-3)


def test_mouse_finger_and_keys_move_films_and_the_numbers_are_pythons(stage):
    check(stage, stage.said())
    for move, expected in [
        (lambda: stage.press("li:nth-child(5)", "Home"), [4, 2, 0, 1, 3]),
        (lambda: stage.drag("li:nth-child(1)", 0, 95), [2, 0, 4, 1, 3]),
        (lambda: stage.swipe("li:nth-child(3)", 0, -95), [4, 2, 0, 1, 3]),
        (lambda: stage.after(stage.root.get_by_text("Reset").click), DATA["order"]),
    ]:
        words = move()
        assert order(stage) == expected
        check(stage, words)


def test_a_link_brings_the_order_back(browser, tmp_path):
    hash = "#explore-drag_list:order=4,3,2,1,0"
    opened = Stage(browser, tmp_path, Page("drag_list", DATA, "five films"), hash=hash)
    assert order(opened) == [4, 3, 2, 1, 0]
    check(opened, opened.said())
    opened.close()
