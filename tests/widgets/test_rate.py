"""The home page's lists are those that `GAPfm.fold_in` gives with the same factors."""

import json
import re
from itertools import combinations

import numpy as np
import pytest

from gapfm_course.explorables.linked import HERE
from gapfm_course.explorables.stored import FOLDER, stored
from gapfm_teach import GAPfm, load_movielens, simulate_ratings
from tools import film_factors

DATA = stored("films.json")
ASKED = np.array(DATA["asked"])
NAMES = [re.sub(r" \(\d{4}\)$", "", row[0]) for row in DATA["films"]]
LISTS = """root => [...root.querySelectorAll('.gx-shelf')].map(
    shelf => [...shelf.querySelectorAll('li')].map(li => Number(li.dataset.film)))"""


def model(kind: str) -> GAPfm:
    """A model that has the file's factors, as `GAPfm` would have them."""
    own = DATA[kind]
    options = {"unrated_weight": own["unratedWeight"]} if kind == "repaired" else {}
    made = GAPfm(
        own["nFactors"], objective=own["objective"], reg=own["reg"], n_iter=own["nIter"],
        learning_rate=own["learningRate"], random_state=0, **options,
    ).fit(simulate_ratings(20, len(NAMES), mean_ratings=10, random_state=0))  # fmt: skip
    assert made.train_.max_grade == DATA["maxGrade"]
    made.item_factors_ = np.array(
        [row[1 if kind == "printed" else 2] for row in DATA["films"]]
    )
    if kind == "repaired":
        made.item_bias_ = np.array([row[3] for row in DATA["films"]])
    return made


@pytest.fixture(scope="module")
def models():
    return [model("printed"), model("repaired")]


def best(fitted: GAPfm, stars) -> list[int]:
    stars = np.array(stars)
    seen = ASKED[stars > 0]
    bias = 0 if fitted.objective == "paper" else fitted.item_bias_
    scores = fitted.item_factors_ @ fitted.fold_in(seen, stars[stars > 0]) + bias
    scores[seen] = -np.inf
    return np.argsort(-scores, kind="stable")[:10].tolist()


def turned(stars) -> list[int]:
    return [grade and DATA["maxGrade"] + 1 - grade for grade in stars]


def common(fitted: GAPfm, stars) -> int:
    return len(set(best(fitted, stars)) & set(best(fitted, turned(stars))))


def stars(stage) -> list[int]:
    sliders = stage.root.locator(".gx-stars")
    return sliders.evaluate_all(
        "all => all.map(e => Number(e.getAttribute('aria-valuenow')))"
    )


def check(stage, models, traded=False) -> None:
    now = stars(stage)
    assert stage.root.evaluate(LISTS) == [best(one, now) for one in models]
    counts = stage.root.locator(".gx-common").all_inner_texts()
    if not traded:  # what is to be guessed is nowhere
        assert [text.strip() for text in counts] == ["? shared"] * 2
        assert stage.root.locator(".gx-on, .gx-own").count() == 0
        assert "you share" not in stage.said()
        return
    shared = [int(n) for n in re.findall(r"\d+", stage.said())[:2]]
    assert shared == [common(one, now) for one in models]
    assert [int(text.split()[0]) for text in counts] == shared
    marked = stage.root.locator(".gx-shelf").evaluate_all(
        "all => all.map(shelf => shelf.querySelectorAll('li:not(.gx-on)').length)"
    )
    assert marked == shared


def test_mouse_finger_and_keys_give_stars_and_the_lists_are_pythons(show, models):
    stage = show("rate", DATA, touch=True)
    film = ".gx-film:nth-child({}) .gx-stars".format
    star = ".gx-film:nth-child({}) .gx-stars span:nth-child({})".format

    def click(*where):
        return stage.after(stage.root.locator(star(*where)).click)

    expected = list(DATA["stars"])
    assert stars(stage) == expected
    check(stage, models)
    for act, changed in [
        (lambda: click(1, 4), {0: 4}),
        (lambda: click(1, 4), {0: 0}),
        (lambda: stage.swipe(star(9, 1), 66, 0), {8: 4}),
        (lambda: stage.press(film(10), "3"), {9: 3}),
        (lambda: stage.press(film(10), "ArrowLeft"), {9: 2}),
        (lambda: stage.after(stage.root.locator(star(5, 5)).tap), {4: 5}),
    ]:
        before = stage.root.evaluate(LISTS)
        act()
        for place, grade in changed.items():
            expected[place] = grade
        stage.root.locator(
            f".gx-film:nth-child({place + 1}) .gx-stars[aria-valuenow='{grade}']"
        ).wait_for()
        assert stars(stage) == expected
        check(stage, models)
        if grade != 4 or place != 8:  # a finger goes over one star after the other
            said = re.search(r"The first list (.*), the second (.*)\.$", stage.said())
            pairs = zip(before, stage.root.evaluate(LISTS), said.groups(), strict=True)
            for old, new, words in pairs:
                fresh = len(set(new) - set(old))
                films = f"has {fresh} new film{'s' * (fresh > 1)}"
                same = (
                    "stays as it was"
                    if new == old
                    else "has the same films in another order"
                )
                assert words == (films if fresh else same)
    stage.after(stage.root.get_by_role("button", name="Trade places").click)
    assert stars(stage) == turned(expected)
    check(stage, models, traded=True)
    stage.after(stage.root.get_by_role("button", name="Reset").click)
    assert stars(stage) == DATA["stars"]


def test_a_link_brings_stars_back_and_none_at_all_are_no_taste(show, models):
    link = "#explore-rate:stars=9,-1,2.4,0,0,0,0,0,0,1"
    stage = show("rate", DATA, hash=link, width=390)
    assert stars(stage) == [5, 0, 2, 0, 0, 0, 0, 0, 0, 1]
    check(stage, models)
    wide = stage.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390
    for k in (1, 3):
        stage.press(f".gx-film:nth-child({k}) .gx-stars", "Home")
    assert "Without a star" in stage.press(".gx-film:nth-child(10) .gx-stars", "Delete")
    by_bias = np.argsort(-models[1].item_bias_, kind="stable")[:10].tolist()
    assert stage.root.evaluate(LISTS)[1] == by_bias


def test_the_averages_that_the_page_names_are_right(models):
    source = (HERE / "views" / "rate.js").read_text(encoding="utf-8")
    named = re.search(
        r"([\d.]+) of ten films are shared on average as printed, and ([\d.]+) as", source
    )
    found = [[], []]
    for pair in combinations(range(len(ASKED)), 2):
        given = np.zeros(len(ASKED), dtype=int)
        given[list(pair)] = 5, 1  # 1, 5 is the stranger
        for kept, one in zip(found, models, strict=True):
            kept.append(common(one, given.tolist()))
    assert [float(n) for n in named.groups()] == pytest.approx(
        np.mean(found, axis=1), abs=0.05
    )


def test_the_file_holds_two_hundred_titles_and_no_rating():
    text = (FOLDER / "films.json").read_text(encoding="utf-8")
    assert len(text.encode()) <= 40_000
    assert text == film_factors.written(DATA)
    titles = [row[0] for row in DATA["films"]]
    assert len(set(titles)) == len(titles) <= 200
    assert DATA.keys() == {"maxGrade", "printed", "repaired", "asked", "stars", "films"}
    D = DATA["printed"]["nFactors"]
    for _, printed, repaired, bias in DATA["films"]:
        assert len(printed) == len(repaired) == D
        assert all(isinstance(value, float | int) for value in [*printed, *repaired, bias])


@pytest.mark.slow
def test_the_file_is_what_training_gives_now():
    try:
        ratings = load_movielens("100k")
    except OSError as error:
        pytest.skip(f"without MovieLens 100K there is nothing to train on: {error}")
    now = json.loads(film_factors.written(film_factors.trained(ratings)))
    assert now | {"films": []} == DATA | {"films": []}
    for (title, *new), (kept, *old) in zip(now["films"], DATA["films"], strict=True):
        assert title == kept
        for a, b in zip(new, old, strict=True):
            np.testing.assert_allclose(a, b, atol=0.05)
