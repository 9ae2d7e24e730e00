"""Chapter 5's selection: Algorithm 1 as `selection`, and the trainings as NumPy does them."""

import json
import re

import numpy as np
import pytest
from page_random import mulberry32, normals
from spoken import numbers

from gapfm_course.explorables.explorable import packed
from gapfm_lab.chapter_05 import selection_explorable
from gapfm_teach import Ratings, adaptive_selection
from gapfm_teach.paper import misranking
from gapfm_teach.training.data import TrainingData
from gapfm_teach.training.loop import held_out_gap
from gapfm_teach.training.objectives import PaperObjective

DATA = selection_explorable()
RATE, REG, D, ITERATIONS = 0.02, 0.001, 10, 41


@pytest.fixture
def stage(show):
    return show("select", DATA, touch=True)


def parts() -> tuple[Ratings, Ratings]:
    size = {"n_items": DATA["nItems"], "max_grade": DATA["maxGrade"]}
    rows = (
        [DATA[part][name] for name in ("indptr", "items", "grades")]
        for part in ("given", "held")
    )
    train, held_out = (Ratings(*row, **size) for row in rows)
    return train, held_out


def end_of_training(k: int | None, start: str = "small") -> float:
    """Held-out GAP after the last iteration with the k most misranked films, or with all."""
    train, held_out = parts()
    draws, problem = mulberry32(DATA["seed"]), TrainingData(train)

    def draw(n: int) -> np.ndarray:
        if start == "small":
            return normals(draws, n, 0.01)
        return np.array([next(draws) for _ in range(n)])

    U, V = (draw(n * D).reshape(-1, D) for n in (train.n_users, train.n_items))
    for _ in range(ITERATIONS):
        _, by_user, by_item = PaperObjective(k).gradients(problem, U, V)
        U, V = U + RATE * (by_user - REG * U), V + RATE * (by_item - REG * V)
    return held_out_gap(U, V, train, held_out)


def trained(stage) -> str:
    stage.page.wait_for_function(
        "() => document.querySelector('.gx-said').textContent.includes('iterations held-out')"
    )
    return stage.said()


def marked(stage) -> set[str]:
    """The films in bold: those selected."""
    texts = stage.root.locator(
        ".gx-beside div:first-child text[font-weight='700']"
    ).all_text_contents()
    return {
        found[1] for text in texts if (found := re.match(r"\d+ (Invented film \d+)", text))
    }


def by_python(k: int) -> set[str]:
    chosen = adaptive_selection(DATA["grades"], DATA["scores"], k)
    return {DATA["films"][i] for i in chosen}


def test_the_films_of_every_k_are_those_of_algorithm_1(stage):
    off = misranking(DATA["grades"], DATA["scores"])
    for place, k in [(0, 1), (2, 3), (9, 10), (18, 19), (4, 5)]:
        words = stage.slide("K", place)
        assert marked(stage) == by_python(k)
        assert f"selects {k} of 20" in words
        _, _, _, _, score_place, due = numbers(words)[:6]
        assert abs(score_place - due) == off.max()
    assert marked(stage) == by_python(5)
    stage.press("[id$='-K']", "ArrowRight")
    assert marked(stage) == by_python(6)
    stage.tap("K")
    k = int(stage.root.locator("output").inner_text())
    assert 9 <= k <= 12
    assert marked(stage) == by_python(k)


def test_trainings_end_where_pythons_end(stage):
    gaps = numbers(trained(stage).split(" GAP ")[1])
    assert gaps[0] == pytest.approx(end_of_training(5), abs=6e-4)
    assert gaps[4] == pytest.approx(end_of_training(None), abs=6e-4)
    assert gaps[0] < gaps[2] < gaps[4]  # the chapter's finding, on simulated users
    stage.after(lambda: stage.root.locator("select").select_option(index=1))
    gaps = numbers(trained(stage).split(" GAP ")[1])
    assert gaps[0] == pytest.approx(end_of_training(5, "uniform"), abs=6e-4)


def test_with_all_films_selected_the_three_are_one(stage):
    stage.slide("K", 19)
    gaps = numbers(trained(stage).split(" GAP ")[1])
    assert gaps[0] == gaps[2] == gaps[4]


def test_what_the_page_carries_is_small():
    assert len(json.dumps(packed(DATA))) < 40_000
