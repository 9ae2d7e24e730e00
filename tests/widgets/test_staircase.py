"""Chapter 2's one score: the two measures and the slope are Python's, and a shift moves one."""

import re

import numpy as np
import pytest
from spoken import number

from gapfm_teach.metrics import graded_average_precision
from gapfm_teach.paper import (
    logistic,
    smoothed_gap,
    smoothed_gap_gradient,
    thresholding_probabilities,
)

FILMS, GRADES = ["Fargo", "Liar Liar", "Contact", "Toy Story"], np.array([3, 1, 2, 2])
SCORES, DELTA, Z = np.array([0.8, 0.0, 0.3, -0.5]), thresholding_probabilities(3), 2.5
DATA = {"films": FILMS, "grades": GRADES, "scores": SCORES, "delta": DELTA, "moving": 1}
HANDLE = "[data-handle=film]"


@pytest.fixture
def stage(show):
    return show("staircase", DATA, touch=True)


def said(words: str) -> list[float]:
    """Score; exact GAP; smoothed GAP and its slope."""
    found = re.search(
        r"at (\S+): exact GAP (\S+), slope 0. Smoothed GAP / Z (\S+), slope (.+?)\. ", words
    )
    return [number(one) for one in found.groups()]


def python(score, shift=0.0, film=1):
    f = SCORES.copy()
    f[film] = score
    f += shift
    return [
        score,
        graded_average_precision(GRADES, f),
        smoothed_gap(f, GRADES, DELTA) / Z,
        smoothed_gap_gradient(f, GRADES, DELTA)[film] / Z,
    ]


def same(words, *setting, **more):
    digits = [3, 3, 3, 2]
    for told, expected, n in zip(
        said(words), python(*setting, **more), digits, strict=True
    ):
        assert told == pytest.approx(expected, rel=0.51 * 10 ** (1 - n))


def test_mouse_finger_and_keys_move_the_film_and_the_values_are_pythons(stage):
    same(stage.said(), 0.0)
    for move in (
        lambda: stage.drag(HANDLE, 60, 0),
        lambda: stage.swipe(HANDLE, -90, 10),
        lambda: stage.press(HANDLE, "ArrowRight"),
    ):
        words = move()
        score = float(stage.root.locator(HANDLE).get_attribute("aria-valuenow"))
        same(words, score)
        assert score != 0.0


def test_a_shift_moves_smoothed_gap_alone(stage):
    for place, shift in ((0, -4.0), (70, 3.0), (120, 8.0)):
        same(stage.slide("shift", place), 0.0, shift)
    assert "above 1, which no GAP can be" in stage.slide("shift", 120)
    rows = stage.root.locator(".gx-row-note").all_inner_texts()
    order = np.argsort(-SCORES)
    for row, i, place in zip(rows, order, range(1, 5), strict=True):
        expected = [1 / place, logistic(SCORES[i] + 8)]
        assert [float(x) for x in row.split()] == pytest.approx(expected, abs=0.0051)


def test_another_film_moves_and_its_staircase_has_pythons_treads(show):
    hash = "#explore-staircase:film=Fargo;shift=1;scores=-1,0,0.3,-0.5"
    opened = show("staircase", DATA, hash=hash)
    same(opened.said(), -1.0, 1.0, film=0)
    paths = opened.root.locator(".gx-curve").first.get_attribute("d")
    heights = [float(y) for y in re.findall(r"M[\d.]+ ([\d.]+)L", paths)]
    exact = [python(x, film=0)[1] for x in (-2, -0.2, 0.1, 2)]
    assert np.polyfit(exact, heights, 1)[0] < 0
    assert np.corrcoef(exact, heights)[0, 1] == pytest.approx(-1, abs=1e-5)
