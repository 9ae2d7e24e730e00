"""Every explorable as it is stored in the book: alive from a file, on a desk and on a phone."""

from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest
from stage import TWO_FRAMES, Stage

from gapfm_course.explorables.linked import VIEWS
from preview.explorables import stored_fragments

ROOT = Path(__file__).resolve().parents[2]
SCREENS = {
    "desk, light": {"width": 900},
    "phone, dark": {"width": 390, "dark": True, "touch": True},
}


@cache
def fragments() -> dict[str, str]:
    return stored_fragments(ROOT)


class Shown:
    """What Stage opens: a fragment that is stored."""

    def __init__(self, view: str):
        self.html = fragments()[view]


def test_the_book_has_each_view_just_once():
    assert sorted(fragments()) == sorted(VIEWS)


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("view", VIEWS)
def test_it_lives_answers_keys_keeps_links_and_finds_back(view, screen, browser, tmp_path):
    stage = Stage(browser, tmp_path, Shown(view), **SCREENS[screen])
    first, picture = stage.settled(), stage.root.inner_html()
    assert len(first) > 20
    for name in ("gx-title", "gx-ask"):
        assert stage.root.locator(f".{name}").inner_text()
    assert stage.root.evaluate("e => e.scrollWidth <= e.clientWidth"), "it scrolls sideways"
    assert stage.root.locator("img, iframe, link").count() == 0

    for slider in stage.root.locator("input[type=range]").all():
        assert slider.evaluate("e => e.labels[0].textContent.trim()")
        before = slider.get_attribute("aria-valuetext")
        ends = slider.evaluate("e => [e.valueAsNumber, Number(e.max)]")
        slider.focus()
        key = "ArrowRight" if ends[0] < ends[1] else "ArrowLeft"
        stage.after(lambda key=key: [stage.page.keyboard.press(key) for _ in range(5)])
        assert slider.get_attribute("aria-valuetext") != before
    moved = stage.settled()
    assert (
        stage.root.inner_html() != picture
        or not stage.root.locator("input[type=range]").count()
    )

    stage.root.get_by_text("Link to this setting").click()
    stage.page.wait_for_function("() => location.hash.length > 10")
    hash = "#" + unquote(stage.page.url.split("#")[1])
    again = Stage(browser, tmp_path, Shown(view), **SCREENS[screen], hash=hash)
    assert again.settled() == moved
    again.close()

    stage.after(stage.root.get_by_text("Reset", exact=True).click)
    assert stage.settled() == first
    stage.close()


NAMES = """root => [...root.querySelectorAll("input[type=range], [role=slider]")]
  .map(e => e.ariaLabel ?? e.labels[0].textContent)"""


@pytest.mark.parametrize("view", VIEWS)
def test_what_slides_has_a_name_of_its_own_and_a_handle_answers_all_keys(
    view, browser, tmp_path
):
    stage = Stage(browser, tmp_path, Shown(view))
    stage.settled()
    names = stage.root.evaluate(NAMES)
    assert all(names)
    assert len(set(names)) == len(names), names
    for handle in stage.root.locator("[role=slider]").all()[
        :4
    ]:  # ten films are rated alike
        handle.focus()

        def after(key: str, handle=handle) -> float:
            stage.page.keyboard.press(key)
            stage.page.evaluate(TWO_FRAMES)
            assert handle.evaluate("e => e === document.activeElement")
            assert handle.get_attribute("aria-valuetext")
            return float(handle.get_attribute("aria-valuenow"))

        low, high = (
            float(handle.get_attribute(f"aria-value{end}")) for end in ("min", "max")
        )
        assert after("Home") == low < high
        page, back = after("PageUp"), after("PageDown")
        assert low == back < after("ArrowRight") <= page < high
        assert after("End") == high
        assert low < after("PageDown") < after("PageUp") <= high
        assert after("ArrowLeft") < after("ArrowUp") <= high
    stage.close()


class All:
    """The whole book's explorables on one page."""

    html = property(lambda self: "".join(fragments().values()))


ALIVE = """n => [...document.querySelectorAll(".gapfm-explorable")]
  .filter(e => Number(e.dataset.drawn) && e.dataset.settled !== "false").length === n"""
# Under a finger: what is lower than 44 pixels, of all that is pressed or moved.
LOW = """() => [...document.querySelectorAll(".gapfm-explorable :is(button, select, input, [role=slider], [tabindex])")]
  .filter(e => e.checkVisibility() && e.getBoundingClientRect().height < 44)
  .map(e => e.outerHTML.slice(0, 80))"""
# On white paper: [text, contrast] of all text that is seen, as it is once its colour lies on white.
TEXTS = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const luminance = (colour) => {
    for (const one of ["#fff", colour]) { canvas.fillStyle = one; canvas.fillRect(0, 0, 1, 1); }
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data]
      .map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  return [...document.querySelectorAll(".gapfm-explorable *")]
    .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
    .filter((e) => e.checkVisibility() && !e.closest("[aria-hidden], option, .gx-hidden"))
    .map((e) => [e.textContent, getComputedStyle(e)[e.namespaceURI.endsWith("svg") ? "fill" : "color"]])
    .map(([text, colour]) => [text, 1.05 / (luminance(colour) + 0.05)]);
}"""
SETTING = """() => [...document.querySelectorAll(".gx-dial")].map(row => [...row.querySelectorAll("label, output, select")]
  .map(e => e.checkVisibility() && e.getBoundingClientRect().width > 0 && (e.value || e.textContent)))"""


@pytest.fixture(scope="module")
def all_of_them(browser, tmp_path_factory):
    stage = Stage(
        browser, tmp_path_factory.mktemp("all"), All(), width=390, dark=True, touch=True
    )
    stage.page.wait_for_function(ALIVE, arg=len(VIEWS))
    yield stage
    stage.close()


def test_a_finger_finds_what_it_presses(all_of_them):
    assert all_of_them.page.evaluate("matchMedia('(pointer: coarse)').matches")
    assert all_of_them.page.evaluate(LOW) == []


def test_on_paper_a_dark_page_is_dark_on_white_and_says_its_setting(all_of_them):
    page = all_of_them.page
    page.emulate_media(media="print", color_scheme="dark")
    texts = page.evaluate(TEXTS)
    assert len(texts) > 500
    assert [text for text, contrast in texts if contrast < 3] == []
    setting = page.evaluate(SETTING)
    assert len(setting) > 40
    assert all(len(row) == 2 and all(row) for row in setting), setting
    buttons = page.locator(".gapfm-explorable :is(button, input)").all()
    assert not any(one.is_visible() for one in buttons)
    page.emulate_media(media="screen", color_scheme="dark")


# What each control is set to, what its row says, and what all views say.
CONTROLS = """() => [...document.querySelectorAll(".gx-dial :is(input, select)")].map(e => [e.value, e.ariaValueText])"""
MOVE = """() => document.querySelectorAll(".gx-dial :is(input, select)").forEach(e => {
  if (e.options) e.selectedIndex = e.options.length - 1;
  else e.value = Math.round(Number(e.max) / 3);
  e.dispatchEvent(new Event("input"));
})"""


def test_back_and_reload_bring_no_control_back_without_its_picture(all_of_them):
    page = all_of_them.page
    at_first = page.evaluate(CONTROLS)
    for leave in (page.reload, lambda: (page.goto("about:blank"), page.go_back())):
        page.evaluate(MOVE)
        page.evaluate(TWO_FRAMES)
        assert page.evaluate(CONTROLS) != at_first
        leave()
        page.wait_for_function(ALIVE, arg=len(VIEWS))
        page.evaluate(TWO_FRAMES)
        assert page.evaluate(CONTROLS) == at_first


CUT = "#explore-train:rate%3D0.1%3"
WRONG = {
    "#explore-train:K=2.5;user=-1001;iteration=2.5": "Iteration 3:",
    "#explore-train:rate=NaN;K=99": "Iteration 41:",
    CUT: "Iteration 41:",
}


@pytest.mark.parametrize("hash", WRONG)
def test_a_link_that_is_cut_or_wrong_does_no_harm(hash, browser, tmp_path):
    stage = Stage(browser, tmp_path, Shown("train"), hash=hash)
    assert stage.settled().startswith(WRONG[hash])
    stage.close()


def test_an_order_that_is_none_is_not_taken_from_a_link(browser, tmp_path):
    first = Stage(browser, tmp_path, Shown("drag_list"))
    wrong = Stage(
        browser, tmp_path, Shown("drag_list"), hash="#explore-drag_list:order=0,0,0,0,0"
    )
    assert wrong.settled() == first.settled()
    first.close()
    wrong.close()


def test_a_link_pasted_into_the_open_page_is_followed(browser, tmp_path):
    stage = Stage(browser, tmp_path, Shown("stretch"))
    before = stage.said()
    words = stage.after(
        lambda: stage.page.evaluate("location.hash = '#explore-stretch:shift=3'")
    )
    assert words != before
    stage.close()


def test_a_view_that_fails_leaves_its_picture_and_the_others_alive(browser, tmp_path):
    broken = '<div class="gapfm-explorable" data-view="forces"><img alt="x" src="data:,">'
    broken += '<script type="application/json">{}</script></div>'

    class Two:
        html = fragments()["stretch"] + broken

    stage = Stage(browser, tmp_path, Two)
    assert len(stage.settled()) > 20
    assert stage.page.locator("[data-view=forces] img").count() == 1
    assert ["explorable forces" in error for error in stage.errors] == [True]
    stage.errors.clear()
    stage.close()


def test_play_stops_for_whoever_takes_the_slider_and_for_reset(browser, tmp_path):
    stage = Stage(browser, tmp_path, Shown("train"))
    slider = stage.root.locator("input[id$='-iteration']")
    for stop in (
        lambda: slider.press("Home"),
        stage.root.get_by_text("Reset", exact=True).click,
    ):
        stage.root.get_by_text("Play", exact=True).click()
        stage.page.wait_for_timeout(100)
        stop()
        assert stage.root.get_by_text("Pause", exact=True).count() == 0
        value = slider.input_value()
        stage.page.wait_for_timeout(300)
        assert slider.input_value() == value
    stage.close()
