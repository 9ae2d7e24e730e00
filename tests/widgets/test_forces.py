"""Chapter 3's forces: push, pull, F and the ascent that they drive are Python's."""

import re

import numpy as np
import pytest
from spoken import number

from gapfm_teach.metrics import graded_average_precision
from gapfm_teach.paper import (
    logistic,
    logistic_derivative,
    pair_weights,
    smoothed_gap,
    smoothed_gap_gradient,
    thresholding_probabilities,
)

GRADES, DELTA = np.array([3, 2, 1, 2]), thresholding_probabilities(3)
SCORES = np.array([-4, 1.33, 4, -1.33])  # at the start, the lowest grade on top
DATA = {
    "films": ["Fargo", "Toy Story", "Congo", "Contact"], "grades": GRADES, "delta": DELTA,
}  # fmt: skip


@pytest.fixture
def stage(show):
    return show("forces", DATA, touch=True)


def shown(stage) -> np.ndarray:
    """Score, push and pull of each film, a row a film."""
    texts = stage.root.locator("[data-handle]").evaluate_all(
        "all => all.map(e => e.getAttribute('aria-valuetext'))"
    )
    rows = [re.fullmatch("(.+), push (.+), pull (.+)", text).groups() for text in texts]
    return np.array([[number(one) for one in row] for row in rows])


def check(stage, f):
    b = pair_weights(GRADES, DELTA)
    push = logistic_derivative(f) * (b * logistic(f[None, :] - f[:, None])).sum(axis=1)
    pull = smoothed_gap_gradient(f, GRADES, DELTA) - push
    now = shown(stage)
    assert now[:, 0] == pytest.approx(f, rel=6e-3, abs=6e-3)
    assert now[:, 1] == pytest.approx(push, rel=0.051)
    assert now[:, 2] == pytest.approx(pull, rel=0.051)
    said = stage.said()
    assert float(re.search(r"F is (\S+),", said)[1]) == pytest.approx(
        smoothed_gap(f, GRADES, DELTA), rel=6e-3
    )
    assert float(re.search(r", (\S+)% of", said)[1]) == pytest.approx(
        200 * smoothed_gap(f, GRADES, DELTA) / b.sum(), rel=6e-3
    )
    assert float(re.search(r"GAP is ([\d.]+\d|\d)", said)[1]) == pytest.approx(
        graded_average_precision(GRADES, f), rel=2e-3
    )


def test_mouse_finger_and_keys_move_the_films_and_the_forces_are_pythons(stage):
    check(stage, SCORES)
    for film, move in (
        (0, lambda: stage.drag("[data-handle='0']", 0, -70)),
        (1, lambda: stage.swipe("[data-handle='1']", 5, -60)),
        (2, lambda: stage.press("[data-handle='2']", "ArrowUp")),
    ):
        before = shown(stage)[:, 0]
        move()
        now = shown(stage)[:, 0]
        assert np.flatnonzero(now != before).tolist() == [film]
        f = SCORES.copy()
        f[: film + 1] = now[: film + 1]
        check(stage, f)


@pytest.mark.parametrize(
    ("start", "sorted_at_the_end"), [(SCORES, False), ([0, -0.69, 0.69, 1.5], True)]
)
def test_let_go_they_climb_as_pythons_do_and_order_is_left_to_chance(
    show, start, sorted_at_the_end
):
    link = (
        f"#explore-forces:scores={','.join(map(str, start))}" if sorted_at_the_end else ""
    )
    opened = show("forces", DATA, width=390, hash=link)
    f, at = np.array(start, dtype=float), {}
    for step in range(151):
        at[step] = f
        f = f + 0.4 * smoothed_gap_gradient(f, GRADES, DELTA)
    for step in (37, 150):
        opened.slide("step", step)
        check(opened, at[step])
    assert ("The list is right" in opened.said()) == sorted_at_the_end
