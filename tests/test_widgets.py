"""Explorers: the live one without a front end, the twin's data, and the twin in a browser."""

import base64
import html.parser
import itertools
import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from gapfm_teach import GAPfm, simulate_ratings
from gapfm_teach.widgets import (
    Curve,
    Explorer,
    FilmRater,
    Parameter,
    Twin,
    View,
    explorer,
    rate_films,
)

STEPS = Parameter("n_steps", "K", [5, 20, "all"], 20, "films")
REG = Parameter("reg", "λ", [0, 0.001, 0.1], 0.001)
X = np.arange(0, 41, 2)
TITLES = ["Fargo (1996)", "<b>Scream</b> & shout (1996)", "Contact (1997)"]


def compute(reg, n_steps):
    """A different view for each setting, with a gap in one curve."""
    count = 40 if n_steps == "all" else n_steps
    y = 0.4 * (1 - np.exp(-X / count)) * np.exp(-reg * X)
    with_gap = np.where(X == 10, np.nan, -y)
    rows = TITLES[count // 20 :] + TITLES[: count // 20]
    readout = f"highest {y.max():.4f} with λ = {reg:g}, K = {n_steps}"
    curves = [Curve("held-out GAP", X, y), Curve("mirror </script>", X, with_gap)]
    return View(curves, rows, readout, [(X[3], y[3], "early")])


def make(compute=compute, parameters=(REG, STEPS), **words):
    words = {"title": "Train & look", "alt": "GAP rises, then levels off."} | words
    words = {"x_label": "iteration", "y_label": "GAP", "rows_title": "Your list"} | words
    return explorer(parameters, compute, **words)


@pytest.fixture
def static(monkeypatch):
    monkeypatch.setenv("GAPFM_TEACH_STATIC", "1")


@pytest.fixture
def live(monkeypatch):
    monkeypatch.delenv("GAPFM_TEACH_STATIC", raising=False)


@pytest.fixture(scope="module")
def model():
    ratings = simulate_ratings(60, 40, random_state=3)
    return GAPfm(4, n_iter=10, random_state=0).fit(ratings), ratings


# ---------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("typed", "stop"),
    [
        ("0.001", 1),
        ("0.02", 1),
        ("7", 2),
        ("-1", 0),
        ("0,09", 2),
        ("much", None),
        ("", None),
    ],
)
def test_what_is_typed_goes_to_the_nearest_stop(typed, stop):
    assert REG.nearest(typed) == stop


def test_a_stop_that_is_a_word_is_reached_by_the_word_alone():
    assert STEPS.nearest("all") == 2
    assert STEPS.nearest("1000") == 1


@pytest.mark.parametrize(
    ("values", "start", "word"),
    [([1], 1, "two or more"), ([1, 2, 2], 1, "two or more"), ([1, 2], 3, "start")],
)
def test_a_parameter_that_cannot_move_is_refused(values, start, word):
    with pytest.raises(ValueError, match=word):
        Parameter("reg", "λ", values, start)


def test_a_curve_of_unequal_lengths_is_refused():
    with pytest.raises(ValueError, match=r"'GAP' needs x and y of one length"):
        Curve("GAP", [1, 2], [1])


# ---------------------------------------------------------------- live


class Recorder:
    """compute, with a memory of its calls."""

    def __init__(self):
        self.calls = []

    def __call__(self, **values):
        self.calls.append(values)
        return compute(**values)


def png_size(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def test_a_move_computes_once_and_changes_picture_list_and_words(live):
    recorder = Recorder()
    shown = make(recorder)
    assert isinstance(shown, Explorer)
    assert recorder.calls == [{"reg": 0.001, "n_steps": 20}]
    before = shown.image.value, shown.readout.value, shown.rows.value
    shown.dials["n_steps"].control.value = 5
    after = shown.image.value, shown.readout.value, shown.rows.value
    assert recorder.calls[1:] == [{"reg": 0.001, "n_steps": 5}]
    assert all(old != new for old, new in zip(before, after, strict=True))
    assert png_size(before[0]) == png_size(after[0])


def test_typing_moves_the_slider_and_computes_once(live):
    recorder = Recorder()
    shown = make(recorder)
    dial = shown.dials["reg"]
    dial.box.value = "0.08"
    assert (dial.control.value, dial.box.value) == (0.1, "0.1")
    assert recorder.calls[1:] == [{"reg": 0.1, "n_steps": 20}]
    dial.box.value = "nonsense"
    assert (dial.control.value, dial.box.value) == (0.1, "0.1")
    assert len(recorder.calls) == 2


def test_an_error_is_shown_in_one_line_and_the_next_move_recovers(live):
    def fragile(reg, n_steps):
        if n_steps == "all":
            raise ValueError("K is\ntoo large")
        return compute(reg, n_steps)

    shown = make(fragile)
    good = shown.image.value
    shown.dials["n_steps"].control.value = "all"
    assert "ValueError: K is too large" in shown.readout.value
    assert shown.image.value != good
    assert "Fargo" not in shown.rows.value
    shown.dials["n_steps"].control.value = 20
    assert "highest" in shown.readout.value
    assert "Fargo" in shown.rows.value


def test_an_error_at_the_start_is_raised(live):
    with pytest.raises(ZeroDivisionError):
        make(lambda reg, n_steps: 1 / 0)


def test_pyplot_never_sees_the_figure(live):
    from matplotlib import pyplot

    open_before = pyplot.get_fignums()
    shown = make()
    for stop in (5, 20) * 5:
        shown.dials["n_steps"].control.value = stop
    assert pyplot.get_fignums() == open_before
    assert len(shown._canvas.figure.axes) == 1
    assert len(shown._canvas.figure.axes[0].lines) == 3


def test_axes_keep_what_they_have_shown(live):
    shown = make(lambda reg, n_steps: View([Curve("c", [0, 1], [0, reg * 100])]))
    limits = []
    for reg in (0.1, 0.001):
        shown.dials["reg"].control.value = reg
        limits.append(shown._canvas.figure.axes[0].get_ylim())
    assert limits[0] == limits[1]
    assert limits[0][1] >= 10


@pytest.mark.parametrize("mode", ["live", "static"])
def test_text_names_title_and_setting_and_no_address(mode, request):
    request.getfixturevalue(mode)
    assert repr(make()) == "Explorer(Train & look; λ = 0.001, K = 20 films)"


# ---------------------------------------------------------------- the twin's data


def stored(fragment):
    """The JSON in a twin's HTML."""
    return json.loads(re.search(r"application/json\">(.*?)</script>", fragment, re.S)[1])


def decode(data, place):
    """The y of a curve, by the rule that the script follows, written independently."""
    text, (low, high) = data["strings"][place], data["scale"]
    digits = [data["digits"].index(letter) for letter in text]
    codes = np.array(digits[::2]) * 64 + np.array(digits[1::2])
    return np.where(codes == 4095, np.nan, low + codes * (high - low) / 4094)


def test_every_setting_is_stored_as_computed(static):
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


def test_a_fixed_y_axis_keeps_its_digits_for_what_it_shows(static):
    def exploding(reg, n_steps):
        return View([Curve("c", [0, 1, 2], [0.1, 0.2, 1e9 if n_steps == "all" else 0.3])])

    data = stored(make(exploding, y_range=(0, 0.5)).html)
    assert data["yRange"] == [0, 0.5]
    for curves, *_ in data["settings"]:
        np.testing.assert_allclose(decode(data, curves[0][2])[:2], [0.1, 0.2], atol=1e-3)


def test_the_same_content_gives_the_same_bytes_and_other_content_another_id(static):
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


def test_the_fragment_is_well_formed_and_asks_no_other_host(static):
    page = Balance()
    page.feed(make().html)
    page.close()
    assert (page.open, page.wrong) == ([], [])
    assert all(address.startswith("data:") for address in page.addresses)
    assert [image["alt"] for image in page.images] == ["GAP rises, then levels off."]
    svg = base64.b64decode(page.images[0]["src"].split(",", 1)[1])
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert b"held-out GAP" in svg


def test_a_hundred_settings_of_three_curves_stay_small(static):
    a = Parameter("a", "λ", list(range(10)), 0)
    b = Parameter("b", "γ", list(range(10)), 0)

    def wavy(a, b):
        x = np.arange(40)
        return View([Curve(f"c{k}", x, np.sin(x * (a + 1) + b * k)) for k in range(3)])

    assert len(make(wavy, (a, b)).html.encode()) < 80_000


def test_a_divergence_is_a_result_and_a_bug_is_not(static):
    def diverging(reg, n_steps):
        if n_steps == "all":
            raise FloatingPointError("training left the finite numbers")
        return compute(reg, n_steps)

    assert "No result here. FloatingPointError: training left" in make(diverging).html
    with pytest.raises(KeyError):
        make(lambda reg, n_steps: {}["x"])


def test_a_parameter_for_the_live_form_stands_still_in_the_twin(monkeypatch):
    reg = Parameter("reg", "λ", REG.values, REG.start, live_only=True)
    monkeypatch.setenv("GAPFM_TEACH_STATIC", "1")
    data = stored(make(parameters=(reg, STEPS)).html)
    assert [p["label"] for p in data["parameters"]] == ["K"]
    readouts = [data["strings"][setting[2]] for setting in data["settings"]]
    assert readouts == [compute(REG.start, k).readout for k in STEPS.values]
    assert "λ" in data["note"]
    monkeypatch.delenv("GAPFM_TEACH_STATIC")
    assert list(make(parameters=(reg, STEPS)).dials) == ["reg", "n_steps"]


# ---------------------------------------------------------------- rate films yourself


TASTES = {"comedies": [5, 4, 0, 0, 1], "thrillers": [0, 1, 5, 5, 0]}


def test_grades_lead_to_the_ten_best_of_the_other_films(live, model):
    fitted, ratings = model
    items = [3, 0, 7, 11, 20]
    rater = rate_films(fitted, ratings, items, TASTES)
    assert isinstance(rater, FilmRater)
    assert "Nothing rated yet" in rater.readout.value
    rater.controls[0].value, rater.controls[2].value = 5, 1
    assert rater.grades == [5, 0, 1, 0, 0]
    scores = fitted.item_factors_ @ fitted.fold_in([3, 7], [5, 1])
    best = [i for i in np.argsort(-scores, kind="stable") if i not in (3, 7)][:10]
    assert re.findall("<li>(.*?)</li>", rater.rows.value) == list(ratings.titles[best])
    assert repr(rater) == "FilmRater(Rate ten films yourself; 2 films rated)"


def test_the_twin_offers_the_tastes_and_their_lists(static, model):
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


def test_a_taste_of_the_wrong_length_is_refused(live, model):
    with pytest.raises(ValueError, match=r"'short' has 2 grades for 3 items"):
        rate_films(*model, [1, 2, 3], {"short": [1, 2]})


# ---------------------------------------------------------------- the twin in a browser


@pytest.fixture
def open_twins(browser, static, tmp_path):
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


@pytest.mark.browser
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


@pytest.mark.browser
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


@pytest.mark.browser
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


@pytest.mark.browser
def test_running_the_script_again_changes_nothing(open_twins):
    page = open_twins(make().html)
    page.locator("input").first.press("ArrowRight")
    before = state(page.locator(".gapfm-twin"))
    script = re.findall(r"<script>(.*?)</script>", make().html, re.S)[-1]
    page.evaluate(script)
    assert state(page.locator(".gapfm-twin")) == before
    assert page.locator("input").count() == 2


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_it_without_sideways_scrolling(open_twins, scheme):
    page = open_twins(make().html, width=390, scheme=scheme)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    assert page.locator(".gapfm-chart svg").bounding_box()["width"] > 300


@pytest.mark.browser
def test_without_scripts_a_picture_with_words_stands_there(open_twins):
    page = open_twins(make().html, script=False)
    image = page.locator(".gapfm-twin > img")
    assert image.get_attribute("alt") == "GAP rises, then levels off."
    assert image.bounding_box()["width"] > 300
    text = page.locator(".gapfm-twin").inner_text()
    assert compute(0.001, 20).readout in text
    assert "λ = 0.001, K = 20 films" in text


@pytest.mark.browser
def test_a_menu_of_tastes_changes_the_list(open_twins, model):
    page = open_twins(rate_films(*model, [3, 0, 7, 11, 20], TASTES).html)
    twin = page.locator(".gapfm-twin")
    before = state(twin)
    twin.get_by_label("A visitor who likes").select_option("thrillers")
    after = state(twin)
    assert (before["readout"], before["rows"]) != (after["readout"], after["rows"])
    assert len(after["rows"]) == 10
    assert twin.locator(".gapfm-chart").count() == 0
