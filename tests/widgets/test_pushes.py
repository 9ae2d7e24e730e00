"""Chapter 10's kernel: every arrow is a push of `consistent_measure`, as a share of the strongest."""

import re

import numpy as np
import pytest
from spoken import NUMBER, number

from gapfm_lab.protocols import FAMILY
from gapfm_teach.consistent.measures import consistent_measure

GRADES, SCORES = [3, 5, 0, 4, 0, 0, 5, 1, 0, 2], -np.arange(10.0)
ROW_HEIGHT = 44
FILMS = [f"Film {k}" for k in range(10)]
DATA = {"films": FILMS, "grades": GRADES, "scores": SCORES, "maxGrade": 5, "at": 5}


def pushes(tau: float, n: int) -> np.ndarray:
    """A row a objective, in the order of FAMILY."""
    return np.array(
        [
            consistent_measure(one, 5, cutoff=n)[1](SCORES, GRADES, tau=tau)
            for one in FAMILY.values()
        ]
    )


def check(stage, words: str, tau: float, n: int = 5) -> None:
    c = pushes(tau, n)
    strongest = abs(c).max(axis=1)
    strength = re.search(rf"GAP's strongest push is {NUMBER};", words)[1]
    assert number(strength) == pytest.approx(strongest[0], rel=0.02)
    names = [name.replace("5", str(n)) for name in FAMILY]
    assert (
        f"lifted by {', '.join(name for name, up in zip(names, c[:, 0] > 0, strict=True) if up)} and"
        in words
    )
    assert f"weakest of all is {names[strongest.argmin()]}'s" in words
    # An arrow reaches as far as the share of its objective's strongest push, up for above 0; one of
    # less than a pixel is not drawn.
    paths = stage.root.locator(".gx-arrow path").evaluate_all(
        "all => all.map(p => p.getAttribute('d'))"
    )
    ends = [
        re.match(r"M([\d.]+) ([\d.]+)L[\d.]+ ([\d.]+)", path).groups() for path in paths
    ]
    x, foot, head = np.array(ends, dtype=float).T
    drawn = np.zeros_like(c)
    columns = np.unique(x, return_inverse=True)[1]
    rows = ((foot + head) / 2 - 14) / ROW_HEIGHT - 0.5
    drawn[columns, rows.round().astype(int)] = foot - head
    drawn /= abs(drawn).max(axis=1, keepdims=True)
    assert drawn == pytest.approx(c / strongest[:, None], abs=0.03)


def test_temperature_and_cutoff_turn_the_arrows_as_python_says(show):
    stage = show("pushes", DATA, touch=True)
    check(stage, stage.said(), 1)
    for tau, place in ((0.1, 0), (5, 400)):
        check(stage, stage.slide("tau", place), tau)
    check(stage, stage.slide("n", 1), 5, 2)
    tau = float(
        stage.press("input[id$='-tau']", "ArrowLeft").split("τ = ")[1].split(":")[0]
    )
    assert tau < 5
    words = stage.tap("tau", 0.005)
    check(stage, words, float(words.split("τ = ")[1].split(":")[0]), 2)
