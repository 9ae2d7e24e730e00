"""Chapter 11's machines: the seconds drawn and said are those of `iteration_costs`."""

import numpy as np
import pandas as pd
import pytest
from spoken import numbers
from stage import Stage

from gapfm_teach.lab.experiments import iteration_costs
from gapfm_teach.widgets import Page

COSTS = pd.Series([0.02, 0.003, 6e-8, 6.1e-8, 4e-10, 2.8e-9], iteration_costs.COSTS)
NAMES = ("iteration", "part", "rating", "far", "work", "sent")
RATINGS = 2 * 10**10
DATA = {
    "costs": dict(zip(NAMES, COSTS.tolist(), strict=True)),
    "ratings": RATINGS,
    "memory": 16,
}


def opened(browser, folder, hash="", **options):
    return Stage(browser, folder, Page("machines", DATA, "curves"), hash=hash, **options)


@pytest.fixture
def stage(browser, tmp_path):
    one = opened(browser, tmp_path, touch=True)
    yield one
    one.close()


def setting(stage) -> tuple[int, int, int, float]:
    """Machines, D, N and Gbit/s, as they stand beside their sliders."""
    words = stage.root.locator("output").all_inner_texts()
    found = [numbers(text.replace("\u202f", ""))[0] for text in words]
    return int(found[0]), int(found[1]), int(found[2]), found[3]


def by_python(W: int, D: int, N: int, gigabits: float, ring: bool = False) -> pd.Series:
    costs = COSTS.copy()
    costs["byte of V sent"] += 8e-9 / gigabits
    sizes = {"n_ratings": RATINGS, "n_items": N, "n_factors": D}
    parts = iteration_costs.predict(costs, n_parts=W, n_workers=W, **sizes)
    if ring:
        parts["iteration"] = parts["part"] = 0.0
        parts["byte of V sent"] = iteration_costs.ring(
            W, N, D, costs["byte of V sent"], 1e-4
        )
    return parts


def one_digit(value: float) -> float:
    return float(f"{value:.1g}")


def check(stage, words: str, *, ring: bool = False) -> None:
    W, D, N, gigabits = setting(stage)
    parts = by_python(W, D, N, gigabits, ring)
    said = numbers(words)
    assert said[0] == W
    assert said[1] == pytest.approx(one_digit(parts.sum()))
    assert said[2] == pytest.approx(
        one_digit(by_python(1, D, N, gigabits, ring).sum() / parts.sum())
    )
    groups = [parts["rating"] + parts["rating, V out of reach"], parts["byte of V at work"],
              parts["byte of V sent"], parts["iteration"] + parts["part"]]  # fmt: skip
    assert said[3] == pytest.approx(one_digit(100 * max(groups) / parts.sum()))
    low, high, least = said[4:7]
    counts = np.unique(np.round(2 ** (np.arange(145) / 12)).astype(int))
    times = np.array([by_python(int(n), D, N, gigabits, ring).sum() for n in counts])
    level = counts[times < 1.1 * times.min()]
    assert (low, high) == (one_digit(level[0]), one_digit(level[-1]))
    assert least == pytest.approx(one_digit(times.min()))
    arrays = 1 + iteration_costs.arrays_of_v(RATINGS, N, D, W)
    assert said[7] == pytest.approx(one_digit(arrays * 8 * N * D / 1e9))


def test_sliders_and_the_point_move_it_and_the_numbers_are_pythons(stage):
    check(stage, stage.said())
    for move in (
        lambda: stage.drag("[data-handle=W]", 120, 0),
        lambda: stage.swipe("[data-handle=W]", -160, 0),
        lambda: stage.press("[data-handle=W]", "ArrowRight"),
        lambda: stage.press("[id$='-items']", "Home"),
        lambda: stage.slide("gigabits", 40),
        lambda: stage.slide("D", 300),
        lambda: stage.slide("W", 0),
        lambda: stage.after(lambda: stage.root.locator("select").select_option(index=1)),
    ):
        before = setting(stage)
        words = move()
        ring = "ring" in stage.root.locator("select").input_value()
        assert ring or setting(stage) != before
        check(stage, words, ring=ring)
    stage.after(stage.root.get_by_text("Reset", exact=True).click)
    assert setting(stage) == (100, 10, 10**6, 10)


def test_few_machines_send_as_often_as_pythons(browser, tmp_path):
    """Where V is large and the ratings are nothing, sending it is all."""
    for W in (2, 3, 4, 5, 6, 7):
        one = opened(browser, tmp_path, f"#explore-machines:W={W};items=1e8;gigabits=0.1")
        check(one, one.said())
        one.close()


def test_axes_have_real_values(stage):
    words = stage.root.locator("svg text").all_text_contents()
    assert {"1", "4", "16", "1024", "1 s", "10 s", "100 s"} <= set(words)
    assert not [text for text in words if "⁰" in text or "power" in text]
