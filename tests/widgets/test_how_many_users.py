"""Chapter 6's users: difference, interval, p and effect size are those of `intervals`."""

import re

import numpy as np
import pandas as pd
import pytest
from spoken import NUMBER, number

from gapfm_teach.intervals import compare_splits

RNG = np.random.default_rng(0)
# Some are equal in size, many 0.
DIFFERENCES = np.where(RNG.random(200) < 0.3, 0, RNG.normal(0.02, 0.15, 200)).round(2)
PAIRS = {"A minus B": DIFFERENCES, "B minus A": -DIFFERENCES}
DATA = {"pairs": PAIRS, "most": 20_000}


def check(words: str, values: np.ndarray) -> None:
    n = int(re.match(r"(\d+) users", words)[1])
    some = np.resize(values, n)
    users = range(n)
    tables = [pd.DataFrame({"m": d}, index=users) for d in (some, np.zeros(n))]
    due = compare_splits(*([table] for table in tables)).iloc[0]
    found = re.search(
        rf"difference {NUMBER}, interval {NUMBER} to {NUMBER}, p = {NUMBER}, effect size {NUMBER}",
        words,
    )
    difference, low, high, p, effect = map(number, found.groups())
    assert [difference, low, high] == pytest.approx(
        due[["difference", "ci_low", "ci_high"]].tolist(), abs=6e-5
    )
    assert p == pytest.approx(due["p_value"], rel=0.06)
    assert effect == pytest.approx(due["effect_size"], rel=0.06, abs=1e-3)
    assert ("cannot be told" in words) == (due["ci_low"] <= 0 <= due["ci_high"])


def test_more_users_and_other_pairs_say_what_python_says(show):
    stage = show("how_many_users", DATA, touch=True)
    check(stage.said(), DIFFERENCES)
    for place in (0, 100, 158, 300, 400):  # past 200 users all come again
        check(stage.slide("n", place), DIFFERENCES)
    check(stage.press("input[id$='-n']", "ArrowLeft"), DIFFERENCES)
    menu = stage.root.locator("select[id$='-pair']")
    check(stage.after(lambda: menu.select_option("B minus A")), -DIFFERENCES)
    words = stage.tap("n")
    check(words, -DIFFERENCES)
    assert int(words.split()[0]) < 1000


def test_another_order_moves_the_first_users_and_not_all_of_them(show):
    link = "#explore-how_many_users:n={};turn={}"
    said = {}
    for n, turn in ((50, 0), (50, 3), (200, 0), (200, 3)):
        opened = show(
            "how_many_users",
            DATA,
            hash=link.format(n, turn),
        )
        said[n, turn] = opened.said()
    assert said[50, 0] != said[50, 3]
    first, second = (
        [*map(float, re.findall(r"[-+.\d]*\d", said[200, turn]))] for turn in (0, 3)
    )
    assert first == pytest.approx(second, abs=1.1e-4)
