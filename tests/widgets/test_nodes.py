"""Chapter 8's nodes: the error drawn and promised, and the terms, are what NumPy finds."""

import numpy as np
import pytest
from scipy.interpolate import BarycentricInterpolator
from spoken import numbers

from gapfm_lab import chapter_08
from gapfm_teach.paper import logistic

DATA = {"p": 12, "L": 5, "S": 1000}


@pytest.fixture
def stage(show):
    return show("nodes", DATA, touch=True)


def shown(stage) -> list[float]:
    """p, L and S, as they stand beside their sliders."""
    words = stage.root.locator("output").all_inner_texts()
    return [float(text.replace("\u202f", "")) for text in words]


def even_error(L: float, p: int) -> float:
    places, f = np.linspace(-1, 1, p), L / 2 * np.linspace(-1, 1, 51)
    x = np.cos(np.linspace(0, np.pi, 3001))
    values = logistic(f[None, :] - L / 2 * places[:, None])
    found = BarycentricInterpolator(places, values)(x)
    return np.abs(found - logistic(f[None, :] - L / 2 * x[:, None])).max()


def check(stage, words: str, *, even: bool = False) -> None:
    p, L, S = shown(stage)
    n, error, rho, promised, films, share = numbers(words)[:6]
    x = np.cos(np.linspace(0, np.pi, 3001))
    python = (
        even_error(L, int(p))
        if even
        else chapter_08.interpolation_error(L, int(p), x).max()
    )
    assert (n, films) == (p, S)
    assert error == pytest.approx(python, rel=0.06)
    assert rho == pytest.approx(chapter_08.decay(L), rel=5e-3)
    assert promised == pytest.approx(chapter_08.decay(L) ** -p, rel=0.05)
    assert share == pytest.approx(chapter_08.relative_work(S, p), rel=0.05)


def test_sliders_the_level_and_the_point_move_it_and_the_numbers_are_pythons(stage):
    check(stage, stage.said())
    for move in (
        lambda: stage.slide("p", 22),  # nodes 2 to 60
        lambda: stage.slide("L", 330),
        lambda: stage.slide("S", 40),
        lambda: stage.drag("[data-handle=promised]", 0, 30),
        lambda: stage.swipe("[data-handle=S]", -30, 0),
        lambda: stage.press("[data-handle=promised]", "ArrowUp"),
        lambda: stage.press("[id$='-p']", "ArrowRight"),
    ):
        before = shown(stage)
        words = move()
        assert shown(stage) != before
        check(stage, words)
    stage.after(stage.root.get_by_text("Reset", exact=True).click)
    assert shown(stage) == [12, 5, 1000]


def test_a_key_takes_a_node_away_and_puts_one_in(stage):
    stage.press("[data-handle=promised]", "ArrowUp")
    assert shown(stage)[0] == 11
    stage.press("[data-handle=promised]", "ArrowDown")
    assert shown(stage)[0] == 12


@pytest.mark.parametrize("setting", ["p=24;L=12", "p=10;L=5", "p=16;L=20"])
def test_even_steps_err_as_numpy_says(show, setting):
    hash = f"#explore-nodes:{setting};S=3000;kind=even steps"
    opened = show("nodes", DATA, hash=hash)
    check(opened, opened.said(), even=True)
