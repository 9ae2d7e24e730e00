"""The kernel-free twin of an explorer: its data, and what a reader sees in a browser."""

import base64
import html.parser
import itertools
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from explorer_sample import REG, STEPS, X, compute, make, stored

from gapfm_teach import GAPfm, simulate_ratings
from gapfm_teach.widgets import Curve, Parameter, Twin, View, rate_films

TASTES = {"comedies": [5, 4, 0, 0, 1], "thrillers": [0, 1, 5, 5, 0]}


@pytest.fixture(autouse=True)
def static(monkeypatch):
    monkeypatch.setenv("GAPFM_TEACH_STATIC", "1")


@pytest.fixture(scope="module")
def model():
    ratings = simulate_ratings(60, 40, random_state=3)
    return GAPfm(4, n_iter=10, random_state=0).fit(ratings), ratings


# ---------------------------------------------------------------- the twin's data


def decode(data, place):
    """The y of a curve, by the rule that the script follows, written independently."""
    text, (low, high) = data["strings"][place], data["scale"]
    digits = [data["digits"].index(letter) for letter in text]
    codes = np.array(digits[::2]) * 64 + np.array(digits[1::2])
    return np.where(codes == 4095, np.nan, low + codes * (high - low) / 4094)


def test_every_setting_is_stored_as_computed():
    shown = make()
    assert isinstance(shown, Twin)
    data = stored(shown.html)
    grid = list(itertools.product(REG.values, STEPS.values))
    assert len(data["settings"]) == len(grid)
    step = np.diff(data["scale"])[0] / 4094
    for (reg, n_steps), (curves, rows, readout, marks) in zip(
        grid, data["settings"], strict=True
    ):
        expected = compute(reg, n_steps)
        for curve, (name, axis, y) in zip(expected.curves, curves, strict=True):
            assert data["strings"][name] == curve.name
            np.testing.assert_allclose(data["axes"][axis], curve.x)
            np.testing.assert_allclose(decode(data, y), curve.y, atol=0.51 * step)
        assert [data["strings"][row] for row in rows] == expected.rows
        assert data["strings"][readout] == expected.readout
        assert [(x, data["strings"][t]) for x, _, t in marks] == [(X[3], "early")]
        np.testing.assert_allclose(marks[0][1], expected.marks[0][1], rtol=1e-3)
    assert [p["texts"] for p in data["parameters"]] == [
        ["0", "0.001", "0.1"], ["5", "20", "all"],
    ]  # fmt: skip
    assert [p["start"] for p in data["parameters"]] == [1, 1]


def test_a_fixed_y_axis_keeps_its_digits_for_what_it_shows():
    def exploding(reg, n_steps):
        return View([Curve("c", [0, 1, 2], [0.1, 0.2, 1e9 if n_steps == "all" else 0.3])])

    data = stored(make(exploding, y_range=(0, 0.5)).html)
    assert data["yRange"] == [0, 0.5]
    for curves, *_ in data["settings"]:
        np.testing.assert_allclose(decode(data, curves[0][2])[:2], [0.1, 0.2], atol=1e-3)


def test_names_stand_in_the_place_of_numbers_and_dots_in_that_of_lines():
    def named(reg, n_steps):
        return View([Curve("mean", [3, 4], [0, 1], dots=True), Curve("span", X, 0 * X)])

    data = stored(make(named, y_names=["first", "second"]).html)
    assert data["yNames"] == ["first", "second"]
    assert data["yRange"] == [1.5, -0.5]  # the first at the top
    dots, span = data["settings"][0][0]
    assert (dots[3:], span[3:]) == ([1], [])
    np.testing.assert_allclose(decode(data, dots[2]), [0, 1])


def test_the_same_content_gives_the_same_bytes_and_other_content_another_id():
    name = re.compile(r'id="(gapfm-[0-9a-f]{12})"')
    first, again, other = make().html, make().html, make(title="Another").html
    assert first == again
    assert name.search(first)[1] != name.search(other)[1]


class Balance(html.parser.HTMLParser):
    """Notes tags left open or closed out of turn, ids, and addresses."""

    VOID = ("img", "input", "br")

    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.images, self.addresses = [], [], [], []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "img":
            self.images.append(attributes)
        self.addresses += [attributes[k] for k in ("src", "href") if k in attributes]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def test_the_fragment_is_well_formed_and_asks_no_other_host():
    page = Balance()
    page.feed(make().html)
    page.close()
    assert (page.open, page.wrong) == ([], [])
    assert all(address.startswith("data:") for address in page.addresses)
    assert [image["alt"] for image in page.images] == ["GAP rises, then levels off."]
    svg = base64.b64decode(page.images[0]["src"].split(",", 1)[1])
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert b"held-out GAP" in svg


def test_a_hundred_settings_of_three_curves_stay_small():
    a = Parameter("a", "λ", list(range(10)), 0)
    b = Parameter("b", "γ", list(range(10)), 0)

    def wavy(a, b):
        x = np.arange(40)
        return View([Curve(f"c{k}", x, np.sin(x * (a + 1) + b * k)) for k in range(3)])

    assert len(make(wavy, (a, b)).html.encode()) < 80_000


def test_a_divergence_is_a_result_and_a_bug_is_not():
    def diverging(reg, n_steps):
        if n_steps == "all":
            raise FloatingPointError("training left the finite numbers")
        return compute(reg, n_steps)

    assert "No result here. FloatingPointError: training left" in make(diverging).html
    with pytest.raises(KeyError):
        make(lambda reg, n_steps: {}["x"])


def test_a_parameter_for_the_live_form_stands_still_in_the_twin(monkeypatch):
    reg = Parameter("reg", "λ", REG.values, REG.start, live_only=True)
    data = stored(make(parameters=(reg, STEPS)).html)
    assert [p["label"] for p in data["parameters"]] == ["K"]
    readouts = [data["strings"][setting[2]] for setting in data["settings"]]
    assert readouts == [compute(REG.start, k).readout for k in STEPS.values]
    assert "λ" in data["note"]
    monkeypatch.delenv("GAPFM_TEACH_STATIC")
    assert list(make(parameters=(reg, STEPS)).dials) == ["reg", "n_steps"]


def test_the_twin_offers_the_tastes_and_their_lists(model):
    fitted, ratings = model
    items = np.array([3, 0, 7, 11, 20])
    data = stored(rate_films(fitted, ratings, items, TASTES).html)
    assert data["parameters"][0]["texts"] == list(TASTES)
    assert data["parameters"][0]["choice"]
    assert "Jupyter" in data["note"]
    for grades, (_, rows, readout, _) in zip(
        TASTES.values(), data["settings"], strict=True
    ):
        seen = np.array(grades) > 0
        user = fitted.fold_in(items[seen], np.array(grades)[seen])
        best = np.argsort(-(fitted.item_factors_ @ user), kind="stable")
        best = [i for i in best if i not in items[seen]][:10]
        assert [data["strings"][r] for r in rows] == list(ratings.titles[best])
        for title, grade in zip(ratings.titles[items], grades, strict=True):
            assert (f"{title}: {grade}" in data["strings"][readout]) == (grade > 0)


# ---------------------------------------------------------------- the twin in a browser


@pytest.fixture
def open_twins(browser, tmp_path):
    """Open a page with these fragments from a file; yields opener(fragments, ...) -> page."""
    contexts, problems = [], []

    def opener(*fragments, width=1000, script=True, scheme="light"):
        head = (
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title>'
            '<meta name="viewport" content="width=device-width">'
        )
        path = tmp_path / "twin.html"
        path.write_text(head + "\n".join(fragments), encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            java_script_enabled=script,
            color_scheme=scheme,
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda r: r.url.startswith("http") and problems.append(r.url))
        page.goto(path.as_uri())
        return page

    yield opener
    for context in contexts:
        context.close()
    assert not problems


def state(twin):
    """What a reader sees of a twin."""
    return {
        "curves": twin.locator(".gapfm-curve").evaluate_all(
            "(es) => es.map((e) => e.getAttribute('d'))"
        ),
        "values": twin.locator("output").all_inner_texts(),
        "readout": twin.locator(".gapfm-readout").inner_text(),
        "rows": twin.locator(".gapfm-rows li").all_inner_texts(),
    }


def test_the_keyboard_alone_moves_curves_numbers_and_list(open_twins):
    page = open_twins(make().html)
    twin = page.locator(".gapfm-twin")
    start = state(twin)
    expected = compute(0.001, 20)
    assert start["values"] == ["0.001", "20 films"]
    assert start["readout"] == expected.readout
    assert start["rows"] == expected.rows
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    end, expected = state(twin), compute(0.1, "all")
    assert end["values"] == ["0.1", "all films"]
    assert end["readout"] == expected.readout
    assert end["rows"] == expected.rows
    assert end["curves"] != start["curves"]
    focused = page.locator("input:focus")
    assert focused.get_attribute("aria-valuetext") == "all films"
    assert focused.evaluate("(e) => e.labels[0].textContent") == "K"
    assert focused.evaluate("(e) => getComputedStyle(e).outlineStyle") == "solid"
    assert "lmSuppressShortcuts" in focused.evaluate("(e) => Object.keys(e.dataset)")


def test_curves_are_drawn_where_the_axes_say(open_twins):
    page = open_twins(make().html)
    shape = page.locator(".gapfm-curve").first.get_attribute("d")
    points = np.array([p.split() for p in re.findall(r"[ML]([^ML]+)", shape)], dtype=float)
    labels = page.locator(".gapfm-chart text").evaluate_all(
        "(es) => es.map((e) => [e.textContent, e.getAttribute('text-anchor'),"
        " Number(e.getAttribute('x')), Number(e.getAttribute('y'))])"
    )

    def scale(anchor, place):
        """Value of a coordinate, from the tick labels: a line through them."""
        seen = [
            (row[place], float(row[0].replace("\u2212", "-")))
            for row in labels
            if row[1] == anchor and re.fullmatch(r"[\u22120-9.]+", row[0])
        ]
        assert len(seen) >= 3
        return np.polyfit(*np.array(seen).T, 1)

    y = compute(0.001, 20).curves[0].y
    np.testing.assert_allclose(np.polyval(scale("middle", 2), points[:, 0]), X, atol=0.2)
    np.testing.assert_allclose(np.polyval(scale("end", 3), points[:, 1]), y, atol=0.005)
    gap = page.locator(".gapfm-curve").nth(1).get_attribute("d")
    assert gap.count("M") == 2


def test_rows_of_dots_stand_beside_their_names(open_twins):
    names = [f"system {k}" for k in range(20)]

    def named(reg, n_steps):
        return View([Curve("mean", np.arange(20.0), np.arange(20.0), dots=True)])

    page = open_twins(make(named, y_names=names).html, width=390)
    dots = page.locator(".gapfm-chart circle").evaluate_all(
        "(es) => es.map((e) => Number(e.getAttribute('cy')))"
    )
    labels = page.locator(".gapfm-chart text").evaluate_all(
        "(es) => es.map((e) => [e.textContent, Number(e.getAttribute('y'))])"
    )
    places = dict(labels)
    np.testing.assert_allclose(dots, [places[name] for name in names], atol=0.2)
    assert np.min(np.diff(dots)) > 15
    assert page.locator(".gapfm-curve").count() == 0
    assert page.locator(".gapfm-legend circle").count() == 1


def test_two_twins_on_a_page_do_not_touch_each_other(open_twins):
    page = open_twins(make().html, make(title="Another").html, make().html)
    twins = page.locator(".gapfm-twin")
    assert page.locator("input[type=range]").count() == 6
    before = [state(twins.nth(k)) for k in range(3)]
    twins.nth(1).locator("input").first.press("ArrowLeft")
    after = [state(twins.nth(k)) for k in range(3)]
    assert after[0] == before[0]
    assert after[1] != before[1]
    assert after[2] == before[2]
    ids = page.locator(".gapfm-twin [id]").evaluate_all("(es) => es.map((e) => e.id)")
    assert len(ids) == len(set(ids))


def test_running_the_script_again_changes_nothing(open_twins):
    page = open_twins(make().html)
    page.locator("input").first.press("ArrowRight")
    before = state(page.locator(".gapfm-twin"))
    script = re.findall(r"<script>(.*?)</script>", make().html, re.S)[-1]
    page.evaluate(script)
    assert state(page.locator(".gapfm-twin")) == before
    assert page.locator("input").count() == 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_it_without_sideways_scrolling(open_twins, scheme):
    page = open_twins(make().html, width=390, scheme=scheme)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    assert page.locator(".gapfm-chart svg").bounding_box()["width"] > 300


def test_without_scripts_a_picture_with_words_stands_there(open_twins):
    page = open_twins(make().html, script=False)
    image = page.locator(".gapfm-twin > img")
    assert image.get_attribute("alt") == "GAP rises, then levels off."
    assert image.bounding_box()["width"] > 300
    text = page.locator(".gapfm-twin").inner_text()
    assert compute(0.001, 20).readout in text
    assert "λ = 0.001, K = 20 films" in text


def test_a_menu_of_tastes_changes_the_list(open_twins, model):
    page = open_twins(rate_films(*model, [3, 0, 7, 11, 20], TASTES).html)
    twin = page.locator(".gapfm-twin")
    before = state(twin)
    twin.get_by_label("A visitor who likes").select_option("thrillers")
    after = state(twin)
    assert (before["readout"], before["rows"]) != (after["readout"], after["rows"])
    assert len(after["rows"]) == 10
    assert twin.locator(".gapfm-chart").count() == 0
