"""Start here's threshold: shares and numbers are NumPy's, the drawn table is as full as the real one."""

import re

import numpy as np
import pytest
from stage import Stage

from gapfm_teach import simulate_ratings
from gapfm_teach.widgets import Page

RATINGS = simulate_ratings(900, 800, mean_ratings=50, random_state=0)
DATA = {
    "counts": np.bincount(RATINGS.grades, minlength=6)[1:],
    "n_users": RATINGS.n_users,
    "n_items": RATINGS.n_items,
    "users": np.sort(np.diff(RATINGS.indptr))[10::20],
    "films": np.sort(np.bincount(RATINGS.indices, minlength=RATINGS.n_items))[10::20],
}
CELLS = RATINGS.n_users * RATINGS.n_items


def check(stage, t: int) -> None:
    relevant = int(np.sum(RATINGS.grades >= t))
    words = stage.said()
    share, number, everything, of_table = re.search(
        r"([\d.]+)% of the ratings are relevant, (\d+) of (\d+): ([\d.e-]+)%", words
    ).groups()
    assert words.startswith(f"From {t} star")
    assert (int(number), int(everything)) == (relevant, RATINGS.n_ratings)
    assert float(share) == pytest.approx(
        100 * relevant / RATINGS.n_ratings, rel=0.05, abs=0.5
    )
    assert float(of_table) == pytest.approx(100 * relevant / CELLS, rel=0.05)
    if t > 1:
        other, empty = re.search(r"other (\d+) ratings .* the (\d+) empty", words).groups()
        assert (int(other), int(empty)) == (
            RATINGS.n_ratings - relevant, CELLS - RATINGS.n_ratings,
        )  # fmt: skip
    drawn = [
        stage.root.locator(f"circle.gx-{kind}").count() for kind in ("relevant", "below")
    ]
    size = DATA["users"].size * DATA["films"].size
    assert sum(drawn) == pytest.approx(RATINGS.n_ratings / CELLS * size, abs=0.5)
    assert drawn[0] == pytest.approx(relevant / RATINGS.n_ratings * sum(drawn), abs=1)
    filled = stage.root.locator(".gx-chart rect[style*='gx-blue']").count()
    assert filled == DATA["counts"].size + 1 - t


def test_mouse_finger_and_keys_move_it_and_the_shares_are_numpys(browser, tmp_path):
    stage = Stage(browser, tmp_path, Page("threshold", DATA, "bars"), touch=True)
    axis = stage.root.locator(".gx-chart:not(.gx-table) .gx-axis").bounding_box()
    star = axis["width"] / 5.2  # from 0.4 to 5.6
    check(stage, 3)
    for act, expected in [
        (lambda: stage.drag(".gx-handle", 2 * star, 0), 5),
        (lambda: stage.swipe(".gx-handle", -3 * star, 0), 2),
        (lambda: stage.press(".gx-handle", "ArrowRight"), 3),
        (lambda: stage.press("input[type=range]", "Home"), 1),
        (lambda: stage.slide("threshold", 3), 4),
        (lambda: stage.after(stage.root.get_by_text("Reset", exact=True).click), 3),
    ]:
        act()
        stage.page.wait_for_function(
            "t => document.querySelector('.gx-said').innerText.startsWith(`From ${t} star`)",
            arg=expected,
        )
        check(stage, expected)
    stage.close()


def test_a_link_brings_it_back_and_a_phone_has_room(browser, tmp_path):
    link = "#explore-threshold:threshold=5"
    stage = Stage(browser, tmp_path, Page("threshold", DATA, "x"), hash=link, width=390)
    check(stage, 5)
    assert stage.page.evaluate("document.documentElement.scrollWidth") <= 390
    stage.close()
