"""Chapter 10's judges: all six measures of every order are those of `metrics`."""

import re

import numpy as np
import pytest

from gapfm_teach import metrics

USERS = {"mixed": [3, 5, 0, 4, 0, 2], "one 5": [0, 1, 5, 1, 0, 1]}
DATA = {"films": list("ABCDEF"), "users": USERS, "maxGrade": 5, "at": 3}
DELTA = metrics.thresholding_probabilities(5)


def order(stage) -> list[int]:
    return [
        int(one)
        for one in stage.root.locator("li").evaluate_all(
            "all => all.map(e => e.dataset.row)"
        )
    ]


def python(y: np.ndarray, n: int) -> list[float]:
    scores, graded = -np.arange(y.size), {"at": n, "delta": DELTA}
    return [
        metrics.average_precision(y > 0, scores), metrics.graded_average_precision(y, scores, delta=DELTA),
        metrics.ndcg(y, scores), metrics.expected_reciprocal_rank(y, scores, max_grade=5),
        metrics.graded_precision(y, scores, **graded), metrics.graded_recall(y, scores, **graded),
    ]  # fmt: skip


def check(stage, words: str, user: str = "mixed", n: int = 3) -> list[float]:
    due = python(np.array(USERS[user])[order(stage)], n)
    found = re.match(
        r"AP (\S+), GAP (\S+), NDCG (\S+), ERR (\S+), GP@\d (\S+), GR@\d (\S+)\. ", words
    )
    assert list(map(float, found.groups())) == pytest.approx(due, abs=6e-4)
    return due


def test_mouse_finger_and_keys_move_films_and_who_minds_is_said(show):
    stage = show("measures", DATA, touch=True)
    before = np.array(check(stage, stage.said()))
    words = stage.press("li:nth-child(2)", "ArrowUp")
    change = np.array(check(stage, words)) - before
    most = int(abs(change).argmax())
    names = ["AP", "GAP", "NDCG", "ERR", "GP@3", "GR@3"]
    assert f"most to {names[most]}, {change[most]:+.3f}".replace("0.", ".") in words
    assert words.split("not at all to ")[1].rstrip(".").split(", ") == [
        name for name, size in zip(names, abs(change), strict=True) if size < 1e-9
    ]
    assert order(stage) == [1, 0, 2, 3, 4, 5]
    # However many steps a film takes, it is one move: the ring stays where it was before.
    for place in (4, 3, 2):
        words = stage.press(f"li:nth-child({place})", "ArrowUp")
    assert order(stage) == [3, 1, 0, 2, 4, 5]
    change = np.array(check(stage, words)) - python(
        np.array(USERS["mixed"])[[1, 0, 2, 3, 4, 5]], 3
    )
    most = int(abs(change).argmax())
    assert f"most to {names[most]}" in words
    check(stage, stage.drag("li:nth-child(1)", 0, 90))
    check(stage, stage.swipe("li:nth-child(5)", 0, -90))
    check(stage, stage.slide("n", 1), n=2)
    menu = stage.root.locator("select")
    check(stage, stage.after(lambda: menu.select_option("one 5")), "one 5", 2)
