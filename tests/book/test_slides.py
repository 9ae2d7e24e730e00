"""The decks: one file each, alive without a network, and no slide larger than a projector's screen."""

import re
from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_SCRIPT

from preview.build import ROOT
from preview.notebook import BookError
from preview.slides import embed
from preview.slides.deck import decks

SOURCES = {path.stem: path.read_text("utf-8") for path in (ROOT / "slides").glob("*.qmd")}
SESSION = 85  # minutes, as teaching.qmd has it
BEAMER, PHONE = {"width": 1280, "height": 720}, {"width": 390, "height": 844}
HEIGHTS = """() => Object.fromEntries([...document.querySelectorAll('main > section')]
  .map((slide) => [slide.id, Math.round(slide.getBoundingClientRect().height)]))"""
DRAWN = """() => [...document.querySelectorAll('.gapfm-explorable')]
  .every((root) => Number(root.dataset.drawn) > 0)"""
AXE = """async () => (await axe.run(document, { resultTypes: ['violations'] })).violations
  .map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 120)}`)"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """stem -> file of each deck, alone in a folder."""
    folder = tmp_path_factory.mktemp("decks")
    for name, page in decks(ROOT).items():
        (folder / name).write_text(page, encoding="utf-8")
    return {path.stem: path for path in folder.iterdir()}


@pytest.fixture
def opened(browser, files):
    """Open a deck from its file, any request being a problem; `opened.problems` has them."""
    contexts, problems = [], []

    def guard(route):
        if not route.request.url.startswith(("file:", "data:")):
            problems.append(route.request.url)
        route.continue_()

    def opener(name, size=BEAMER, *, at="", **options):
        contexts.append(browser.new_context(viewport=size, offline=True, **options))
        contexts[-1].route("**/*", guard)
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda m: m.type == "error" and problems.append(m.text))
        page.goto(files[name].as_uri() + at)
        page.wait_for_function(DRAWN)
        return page

    opener.problems = problems
    yield opener
    for context in contexts:
        context.close()


def slides(source: str) -> list[str]:
    return re.split(r"^## ", source, flags=re.M)[1:]


@pytest.mark.parametrize("name", SOURCES)
def test_a_session_is_planned_to_the_minute(name):
    parts = slides(SOURCES[name])
    assert 15 <= len(parts) <= 25
    minutes = [re.findall(r"^(\d+) minutes?\. ", part, re.M) for part in parts]
    assert all(len(found) == 1 for found in minutes)
    assert sum(int(found[0]) for found in minutes) == SESSION


@pytest.mark.parametrize("name", SOURCES)
def test_an_explorable_comes_after_a_prediction(name):
    parts = slides(SOURCES[name])
    for at, part in enumerate(parts):
        if re.search(r"#(?!eq-|fig-|tbl-)[a-z_]+ >\}\}", part):
            asked = part.partition("{{<")[0] + parts[at - 1]
            assert "#### Predict first" in asked, part.split("\n")[0]


@pytest.mark.parametrize("name", SOURCES)
def test_a_deck_needs_nothing_and_fits_a_beamer(opened, name):
    page = opened(name)
    n_explorables = len(re.findall(r"#(?!eq-|fig-|tbl-)[a-z_]+ >\}\}", SOURCES[name]))
    assert page.locator(".gapfm-explorable").count() == n_explorables >= 4
    assert {k: height for k, height in page.evaluate(HEIGHTS).items() if height > 725} == {}
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert "{{<" not in page.locator("body").inner_text()
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert opened.problems == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_a_deck(opened, scheme):
    page = opened("ap-to-gradients", color_scheme=scheme)
    page.evaluate(AXE_SCRIPT)
    assert page.evaluate(AXE) == []


def hash_is(page, wanted):
    page.wait_for_function("(wanted) => location.hash === wanted", arg=wanted)


def test_keys_turn_the_slides_and_leave_the_sliders_theirs(opened):
    page = opened("ap-to-gradients")
    hash_is(page, "#title")
    for key, wanted in (
        ("ArrowRight", "#two-systems-five-films-one-user"),
        (" ", "#what-the-user-sees"),
        ("PageUp", "#two-systems-five-films-one-user"),
        ("End", "#what-to-remember"),
        ("Home", "#title"),
    ):
        page.keyboard.press(key)
        hash_is(page, wanted)

    page = opened("ap-to-gradients", at="#predict-then-shift")
    hash_is(page, "#predict-then-shift")
    page.keyboard.press("ArrowRight")
    slider = page.locator("#predict-then-shift input[type=range]").first
    slider.focus()
    before = slider.input_value()
    page.keyboard.press("ArrowRight")
    assert slider.input_value() != before
    page.keyboard.press("PageDown")  # a presenter's button turns, wherever one has clicked
    hash_is(page, "#a-theorem-in-five-lines")
    page.reload()
    hash_is(page, "#a-theorem-in-five-lines")


@pytest.mark.parametrize("name", SOURCES)
def test_what_follows_a_question_waits_for_a_key(opened, name):
    page = opened(name)
    assert page.locator(".callout-note ~ :not(.notes):visible").count() == 0
    page = opened("training-and-repair", at="#two-opposite-visitors")
    answer = page.locator("#two-opposite-visitors table")
    page.keyboard.press("ArrowRight")
    assert answer.is_visible()
    page.keyboard.press("ArrowLeft")
    assert not answer.is_visible()
    page = opened("ap-to-gradients", at="#by-hand")
    for n_rows in range(4):
        assert page.locator("#by-hand tbody tr:visible").count() == n_rows
        page.keyboard.press("ArrowRight")


def test_notes_are_in_the_presenters_window_alone(opened):
    page = opened("training-and-repair", at="#two-opposite-visitors")
    with page.expect_popup() as opening:
        page.keyboard.press("s")
    presenter = opening.value
    presenter.locator("#two-opposite-visitors.now").wait_for()
    shown = ["two-opposite-visitors", "only-the-worst-placed-films"]
    sections = "all => all.filter((e) => e.checkVisibility()).map((e) => e.id)"
    assert presenter.locator("main > section").evaluate_all(sections) == shown
    assert "5 minutes." in presenter.locator(".notes:visible").inner_text()
    presenter.locator(".clock:not(:empty)").wait_for()
    presenter.keyboard.press("ArrowRight")
    page.locator("#two-opposite-visitors table:visible").wait_for()
    presenter.keyboard.press("ArrowRight")
    hash_is(page, "#only-the-worst-placed-films")
    presenter.keyboard.press("b")
    page.wait_for_selector("[data-blank]")
    page.keyboard.press("n")
    assert not page.locator(".notes:visible").count()
    assert opened.problems == []


@pytest.mark.parametrize("asked", ["", "?print=notes"])
def test_paper_has_notes_and_answers_where_they_are_asked_for(opened, asked):
    page = opened("training-and-repair", at=asked)
    page.emulate_media(media="print")
    n_slides = len(slides(SOURCES["training-and-repair"]))
    assert page.locator(".notes:visible").count() == (n_slides if asked else 0)
    assert page.locator("#two-opposite-visitors table").is_visible() == bool(asked)


# ------------------------------------------------------------------ what is embedded

CHAPTER = ROOT / "notebooks" / "03_gradients.ipynb"


def test_an_equation_is_the_chapters_own():
    found = embed.taken(CHAPTER, "eq-gradients-term")
    assert found.replace("\n", "") == r"$$T_{ij} = \beta_{ij}\, g(f_i)\, g(f_j - f_i)$$"


def test_a_table_of_the_text_comes_without_its_caption():
    found = embed.taken(ROOT / "notebooks" / "01_from_ap_to_gap.ipynb", "tbl-gap-by-hand")
    lines = found.splitlines()
    assert len(lines) == 2 + 4
    assert all(line.startswith("|") and line.endswith("|") for line in lines)
    assert "7/4" in lines[-1]


def test_a_picture_brings_its_words_and_no_file(tmp_path):
    found = embed.taken(CHAPTER, "fig-gradients-pair-table")
    assert found.startswith("![](data:image/svg+xml;base64,")
    assert 'fig-alt="' in found


def test_what_is_not_there_stops_the_build_with_its_name(tmp_path):
    for path, what in (
        ("notebooks/03_gradients.ipynb#eq-none", "has nothing that is called eq-none"),
        ("notebooks/03_gradients.ipynb#fig-none", "has nothing that is called fig-none"),
        ("notebooks/03_gradients.ipynb#drag_list", "has nothing that is called drag_list"),
        ("notebooks/99_none.ipynb#eq-none", "99_none.ipynb does not exist"),
    ):
        with pytest.raises(BookError, match=f"one.qmd: .*{what}"):
            embed.embedded(f"{{{{< embed {path} >}}}}", ROOT, "one.qmd")


def test_a_deck_without_a_head_is_named(tmp_path):
    (tmp_path / "slides").mkdir()
    (tmp_path / "slides" / "bare.qmd").write_text("## A slide\n")
    (tmp_path / "_quarto.yml").write_text((ROOT / "_quarto.yml").read_text("utf-8"))
    with pytest.raises(BookError, match=r"bare\.qmd: no '---' lines with a title"):
        decks(tmp_path)


@pytest.mark.slow
def test_the_site_has_the_decks(site_folder: Path):
    assert {path.stem for path in (site_folder / "slides").iterdir()} == set(SOURCES)
