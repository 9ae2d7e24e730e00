"""Reading the preview's pages: where one is, the search, the theme, copying, printing, on all screens."""

import csv
import gzip
import re
from pathlib import Path

import pytest
from built_site import BUILT

pytestmark = pytest.mark.skipif(bool(BUILT), reason="Quarto has its own bar and search")

CHAPTER = "notebooks/02_smoothing.html"
WITH_NOTES = "notebooks/01_from_ap_to_gap.html"
MAX_INDEX = 200_000  # as a server sends it
QUERIES = Path(__file__).with_name("queries.csv").read_text(encoding="utf-8")
MAX_PAGE = 500_000  # with fonts and pictures, without the explorables' script and data
EXPLORABLE = re.compile(r'<div class="gapfm-explorable".*?</script>', re.S)

MARKED = "() => document.querySelector('.on-this-page [aria-current]')?.hash"
TWO_FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
COLOURS = """() => ['body', '.gapfm-explorable'].map((selector) => {
  const style = getComputedStyle(document.querySelector(selector));
  return selector === 'body' ? style.backgroundColor : style.getPropertyValue('color-scheme');
})"""
# The lengths of full lines in the first long paragraphs that hold nothing but text.
LINES = """() => [...document.querySelectorAll('main > p')]
  .filter((p) => !p.children.length && p.textContent.length > 200).slice(0, 5).flatMap((p) => {
    const tops = [...p.textContent].map((_, at) => {
      const range = document.createRange();
      range.setStart(p.firstChild, at);
      range.setEnd(p.firstChild, at + 1);
      return Math.round(range.getBoundingClientRect().top);
    });
    const lines = Object.values(Object.groupBy(tops, (top) => top)).map((line) => line.length);
    return lines.slice(0, -1);
  })"""


def scroll_to(page, selector):
    """To where it is once all above it has been drawn."""
    for _ in range(2):
        page.locator(selector).first.evaluate("e => e.scrollIntoView()")
        page.wait_for_timeout(300)


def tap(locator):
    """As a finger does: Playwright's own scrolls the page first."""
    box = locator.bounding_box()
    locator.page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    locator.page.wait_for_timeout(100)


@pytest.mark.parametrize("as_file", [False, True], ids=["http", "file"])
def test_the_contents_open_on_a_phone_wherever_one_has_scrolled(open_page, as_file):
    page = open_page(CHAPTER, 390, as_file=as_file, has_touch=True)
    title = page.locator(".chapter-title")
    assert title.inner_text().split("\n")[0] == "2 From a staircase to a slope"
    assert title.bounding_box()["height"] < 30
    contents, button = (
        page.locator("#contents"),
        page.get_by_role("button", name="Contents"),
    )
    scroll_to(page, "#sec-smoothing-pieces")
    here = contents.locator("[aria-current=location]")
    for close in (
        lambda: page.keyboard.press("Escape"),
        lambda: page.touchscreen.tap(380, 700),
        lambda: tap(here),
    ):
        assert not contents.is_visible()
        tap(button)
        box = here.bounding_box()
        assert 0 < box["y"] < 900 - box["height"]
        assert "2.2" in here.inner_text()
        close()
    assert not contents.is_visible()
    assert page.evaluate("matchMedia('(pointer: coarse)').matches")
    assert not open_page.problems


def test_the_section_and_the_progress_follow_the_reader(open_page):
    page = open_page(CHAPTER)
    read = "() => Number(getComputedStyle(document.querySelector('.bar')).getPropertyValue('--read'))"
    before = page.evaluate(read)
    for name in ("sec-smoothing-staircase", "sec-smoothing-pieces"):
        scroll_to(page, f"#{name}")
        assert page.evaluate(MARKED) == f"#{name}"
        assert page.evaluate(read) > before
        before = page.evaluate(read)
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    page.evaluate(TWO_FRAMES)
    assert page.evaluate(read) == 1


def test_notes_stand_in_the_margin_and_never_on_the_list_of_sections(open_page):
    page = open_page(WITH_NOTES)
    text = page.locator("main > p").first.bounding_box()
    note, listed = page.locator(".column-margin"), page.locator(".on-this-page")
    assert listed.is_visible()
    assert listed.bounding_box()["x"] > text["x"] + text["width"]
    scroll_to(page, ".column-margin")
    assert note.first.bounding_box()["x"] > text["x"] + text["width"]
    page.wait_for_function(
        "() => !document.querySelector('.on-this-page').checkVisibility({visibilityProperty: true})"
    )
    page.set_viewport_size({"width": 1000, "height": 900})
    assert note.first.bounding_box()["width"] > 300


@pytest.mark.parametrize("as_file", [False, True], ids=["http", "file"])
def test_the_search_is_walked_by_keyboard(open_page, as_file):
    page = open_page("index.html", as_file=as_file)
    page.keyboard.press("/")
    page.keyboard.type("adaptive selection")
    hits = page.locator(".found a")
    hits.first.wait_for()
    first = hits.first
    assert first.locator("small").inner_text() == "Glossary"
    assert first.locator("b mark").all_inner_texts() == ["adaptive", "selection"]
    for key in ("ArrowDown", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
    target = first.evaluate("e => e.href")
    assert page.evaluate("document.activeElement.href") == target
    page.keyboard.press("Enter")
    page.wait_for_url(target)
    assert target.endswith("/glossary.html#term-adaptive-selection")
    assert not open_page.problems


def found(page, words):
    """[title, address] of each hit."""
    page.keyboard.press("/")
    page.get_by_label("Search the book").fill(words)
    page.locator(".outcome:not(:empty)").wait_for()
    page.wait_for_timeout(50)
    hits = page.locator(".found a").evaluate_all(
        "all => all.map((a) => [a.querySelector('b').textContent, a.href])"
    )
    page.keyboard.press("Escape")
    return hits


def test_what_students_type_leads_to_the_right_page(open_page, site):
    page = open_page("index.html")
    address, _ = site
    wanted = {row["query"]: row["page"] for row in csv.DictReader(QUERIES.splitlines())}
    assert len(wanted) >= 40
    first = {query: [href for _, href in found(page, query)[:1]] for query in wanted}
    first = {q: "".join(hrefs).removeprefix(address) for q, hrefs in first.items()}
    assert {q: href.partition("#")[0] for q, href in first.items()} == wanted


def test_captions_equations_terms_and_code_are_found_and_outputs_are_not(
    open_page, site_folder
):
    page = open_page("index.html")
    assert "Figure 2.1" in dict(found(page, "exact GAP staircase jumps"))
    assert any(hit.startswith("Equation") for hit in dict(found(page, "smoothing")))
    assert found(page, "central_difference rng")
    assert found(page, "nosuchwordanywhere") == []
    page.goto(dict(found(page, "bootstrap"))["bootstrap"])
    assert page.locator("dt:target").inner_text() == "bootstrap"
    index = (site_folder / "search_index.js").read_bytes()
    assert len(gzip.compress(index)) < MAX_INDEX
    assert b"\\frac" not in index


@pytest.mark.parametrize("as_file", [False, True], ids=["http", "file"])
def test_the_theme_is_chosen_and_remembered(open_page, as_file):
    page = open_page("index.html", as_file=as_file, color_scheme="dark")
    dark, light = "rgb(22, 25, 29)", "rgb(253, 253, 251)"
    button = page.locator("button.theme")
    assert page.evaluate(COLOURS) == [dark, "light dark"]
    button.click()
    assert button.get_attribute("aria-label") == "Colours: light"
    assert page.evaluate(COLOURS) == [light, "light"]
    page.reload()
    assert page.evaluate(COLOURS) == [light, "light"]
    button.click()
    assert page.evaluate(COLOURS) == [dark, "dark"]
    button.click()
    assert page.evaluate(COLOURS) == [dark, "light dark"]


def test_code_and_the_citation_are_copied(open_page):
    page = open_page(CHAPTER, permissions=["clipboard-read", "clipboard-write"])
    block = page.locator("div.sourceCode:visible").first
    block.hover()
    block.get_by_role("button", name="Copy").click()
    block.get_by_role("button", name="Copied").wait_for()
    assert (
        page.evaluate("navigator.clipboard.readText()")
        == block.locator("code").inner_text()
    )
    page.get_by_text("Cite this book").click()
    page.locator("footer").get_by_role("button", name="Copy").click()
    page.locator("footer").get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()").startswith(
        "@software{gapfm_teach,"
    )


def test_paper_gets_neither_the_bar_nor_hints_and_solutions(open_page):
    page = open_page(CHAPTER, color_scheme="dark")
    page.emulate_media(media="print")
    visible = "e => e.checkVisibility({contentVisibilityAuto: true})"
    for name, is_shown in ((".hint", False), (".solution", False), (".code-fold", True)):
        folded = page.locator(f"details{name} > :not(summary)").first
        assert folded.evaluate(visible) == is_shown, name
    assert not page.locator(".bar").is_visible()
    assert (
        page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"
    )


def test_a_lost_reader_is_led_to_the_home_page(open_page):
    page = open_page("404.html")
    page.evaluate("history.replaceState(null, '', '/course/notebooks/99_gone.html')")
    page.evaluate(page.locator("script").inner_text())
    assert page.locator("a").get_attribute("href") == "/course/"


def test_a_line_holds_65_to_75_characters(open_page):
    lengths = sorted(open_page("notebooks/00_start_here.html").evaluate(LINES))
    assert len(lengths) >= 8
    assert 65 <= lengths[len(lengths) // 2] <= 76


def test_a_page_is_light(site, site_folder):
    common = [
        site_folder / name for name in ("page.css", "shared.css", "page.js", "search.js")
    ]
    common += (site_folder / "fonts").glob("*.woff2")
    shared = sum(path.stat().st_size for path in common)
    _, pages = site
    for name in pages:
        path = site_folder / name
        page = EXPLORABLE.sub("", path.read_text(encoding="utf-8"))
        pictures = path.with_name(f"{path.stem}_files").glob("*")
        whole = shared + len(page.encode()) + sum(p.stat().st_size for p in pictures)
        assert whole < MAX_PAGE, name


def test_the_face_of_mathematics_kept_its_large_pieces(open_page):
    page = open_page("index.html")
    tall = page.evaluate("""() => {
      document.body.innerHTML = `<math display="block" style="font: 20px 'STIX Two Math'"><mrow>
        <mo stretchy="true" id="one">(</mo><mi>x</mi><mo>)</mo></mrow></math>
        <math display="block" style="font: 20px 'STIX Two Math'"><mrow><mo id="tall">(</mo>
        <mspace height="100px" depth="100px"/><mo>)</mo></mrow><mo id="sum">∑</mo></math>`;
      return document.fonts.load("20px 'STIX Two Math'").then(() => document.fonts.ready).then(() =>
        ['one', 'tall', 'sum'].map((id) => document.getElementById(id).getBoundingClientRect().height));
    }""")
    assert tall[1] > 190
    assert tall[2] > 1.2 * tall[0]
