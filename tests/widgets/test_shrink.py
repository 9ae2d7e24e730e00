"""Chapter 7's shrunken mean: the ten best films are those of `MeanRating`."""

import re

import numpy as np
import pytest

from gapfm_lab.baselines import MeanRating
from gapfm_lab.chapter_07 import means_of_films
from gapfm_teach import simulate_ratings

RATINGS = simulate_ratings(80, 150, mean_ratings=25, random_state=1)
TRIAL = {"k": [0.1, 1.0, 10.0, 1000.0], "ndcg": [0.61, 0.65, 0.7, 0.68]}
DATA = means_of_films(RATINGS, RATINGS, n_titles=30) | {"trial": TRIAL}
N = np.bincount(RATINGS.indices, minlength=RATINGS.n_items)


def best(k: float) -> np.ndarray:
    """Shrunken means of the ten best films."""
    scores = MeanRating(k).fit(RATINGS).item_scores_[N > 0]
    return np.sort(scores)[::-1][:10]


def check(stage, words: str) -> None:
    k = float(re.match(r"k = ([\d.]+)", words)[1])
    shown = [float(text) for text in stage.root.locator(".gx-row-note").all_inner_texts()]
    assert shown == pytest.approx(best(k).tolist(), abs=0.006)
    said = float(re.search(r"NDCG@5: (\.\d+)", words)[1])
    due = np.interp(np.log(k), np.log(TRIAL["k"]), TRIAL["ndcg"])
    assert said == pytest.approx(due, abs=6e-4)


def test_slider_curve_and_keys_shrink_as_python_does(show):
    stage = show("shrink", DATA, touch=True)
    check(stage, stage.said())
    seen = {stage.said()}
    for move in (
        lambda: stage.slide("k", 200),
        lambda: stage.press("input[id$='-k']", "ArrowRight"),
        lambda: stage.drag("[data-handle=k] circle", 40, 0),
        lambda: stage.swipe("[data-handle=k] circle", -70, 0),
        lambda: stage.press("[data-handle=k]", "ArrowRight"),
        lambda: stage.slide("k", 400),
    ):
        words = move()
        check(stage, words)
        assert words not in seen
        seen.add(words)


def test_data_hold_every_film_once_and_few_titles():
    assert DATA["many"].sum() == np.sum(N > 0)
    assert (DATA["many"] * DATA["sum"]).sum() == RATINGS.grades.sum()
    assert sum(title != "" for title in DATA["titles"]) == 30
