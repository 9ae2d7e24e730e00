"""Chapter 9's pull: shares for any exponent and weight are those of the consistent power mean."""

import re

import numpy as np
import pytest

from gapfm_lab.chapter_09 import pulled_films, typical_user
from gapfm_teach import GAPfm, metrics, simulate_ratings
from gapfm_teach.consistent.power_mean import consistent_power_mean_gradient

RATINGS = simulate_ratings(40, 120, mean_ratings=24, random_state=1)
MODEL = GAPfm(objective="consistent", n_iter=5, random_state=0).fit(RATINGS)
USER, EVERYBODY = typical_user(MODEL, every=1)
DATA = pulled_films(MODEL, USER) | {"everybody": EVERYBODY}


def shares(p: float, w: float) -> np.ndarray:
    """The share of the upward pull of the user's films, best place first."""
    rated, given = RATINGS.row(USER)
    grades = np.zeros(RATINGS.n_items, int)
    grades[rated] = given
    weights, scores = np.where(grades > 0, 1.0, w), MODEL.predict(USER)
    delta = metrics.thresholding_probabilities(5)
    pull = consistent_power_mean_gradient(scores, grades, delta, p, weights=weights)[rated]
    return (pull / pull.clip(min=0).sum())[np.argsort(-scores[rated], kind="stable")]


def check(stage, words: str, p: float, w: float) -> None:
    due = shares(p, w)
    half = -(-due.size // 2)
    worse, most = (int(text) for text in re.findall(r"(\d+)%", words))
    assert worse == pytest.approx(100 * due[half:].clip(min=0).sum(), abs=0.51)
    assert most == pytest.approx(100 * due.max(), abs=0.51)
    # The bars' heights, whatever the axis is.
    heights = stage.root.locator("[clip-path] rect").evaluate_all(
        "all => all.map(r => +r.getAttribute('height'))"
    )
    assert np.array(heights) / sum(heights) == pytest.approx(
        abs(due) / abs(due).sum(), abs=2e-5
    )


def test_p_and_w_share_the_pull_as_python_does(show):
    stage = show("who_is_pulled", DATA, touch=True)
    check(stage, stage.said(), 1, 1)
    check(stage, stage.slide("p", 50), 0.5, 1)
    check(stage, stage.slide("w", 0), 0.5, 0.01)
    check(stage, stage.press("input[id$='-p']", "ArrowLeft"), 0.49, 0.01)
    check(stage, stage.tap("p", 0.005), 0, 0.01)
    check(stage, stage.slide("w", 400), 0, 1)
