"""Pages in Quarto's form after the step that follows it, in a browser, served and as files."""

import json
import re
import shutil
from pathlib import Path

import pytest

from preview import post_render
from preview.boxes import boxed
from preview.from_file import classic

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = (Path(__file__).parent / "quarto" / "page.html").read_text(encoding="utf-8")
SIDEWAYS = (ROOT / "preview" / "sideways.html").read_text(encoding="utf-8")
SAMPLE = SAMPLE.replace("</body>", f"{SIDEWAYS}</body>")
PAGE = "notebooks/page.html"
WIDTHS = (320, 390, 768, 1280, 1440)
SERVED = "http://course.test/"
# As Quarto writes them: a section's text, with each formula and its TeX.
FIRST = (
    "2.1 Formulas\nA comment on mm and an equation:\n"
    "F(U,V)=∑m∑i∑jβg(f)g(f−f)−λ2(U+V+U+V)(2.1)F(U, V) = \\sum_m \\sum_i \\sum_j \\beta g(f) "
    "g(f - f) - \\frac{\\lambda}{2} (U + V + U + V) \\qquad(2.1)\n"
    "Z=1000000+1000000+1000000+1000000+1000000&lt;6000000Z = \\ldots &lt; 6000000\n"
)
READ = (
    "2.1 Formulas\nA comment on m and an equation:\n"
    "F(U,V)=∑m∑i∑jβg(f)g(f−f)−λ2(U+V+U+V)(2.1)\n"
    "Z=1000000+1000000+1000000+1000000+1000000&lt;6000000\n"
)
# A figure as a notebook stores it, in the file that Quarto puts it into.
DRAWING = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 50" width="150" height="75" font-size="10.5">'
    '<rect width="100%" height="100%" fill="#ffffff"/><clipPath id="c0"><rect width="9" height="9"/></clipPath>'
    '<path d="M9 9h.01" stroke="#0067a8" clip-path="url(#c0)"/><text y="9" fill="#22262b">a word</text></svg>'
)
LIBRARIES = {
    "quarto-html/quarto.js": 'import * as tabsets from "./tabsets/tabsets.js";\n'
    'document.addEventListener("DOMContentLoaded", () => tabsets.init());\n',
    "quarto-html/tabsets/tabsets.js": "export function init() {\n"
    '  document.documentElement.dataset.tabs = "alive";\n}\n',
    "quarto-search/quarto-search.js": "var shownWarning = false;\n",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder as Quarto leaves it, and the step done in it twice."""
    folder = tmp_path_factory.mktemp("site") / "_site"
    documents = [{"href": f"{PAGE}#sec-page-first", "text": FIRST}]
    files = {PAGE: SAMPLE, "search.json": json.dumps(documents)}
    files["notebooks/page_files/figure-html/fig-page-drawn-output-1.svg"] = DRAWING
    files |= {f"site_libs/{name}": text for name, text in LIBRARIES.items()}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "preview").mkdir()
    for name in ("shared.css", "quarto.css"):
        shutil.copy(ROOT / "preview" / name, folder / "preview")
    shutil.copytree(ROOT / "preview" / "fonts", folder / "preview" / "fonts")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("QUARTO_PROJECT_OUTPUT_DIR", str(folder))
        post_render.main()
        once = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        post_render.main()
    assert {path: path.read_bytes() for path in once} == once
    return folder


@pytest.fixture
def opened(browser, site):
    """`opened(width, scheme, address)`: the page there; all that went wrong is in `.problems`."""
    context, as_files = browser.new_context(), site.as_uri() + "/"
    problems: list[str] = []

    def answer(route):
        path = site / route.request.url.removeprefix(SERVED)
        route.fulfill(path=path) if path.is_file() else route.abort()

    def open_page(width, scheme="light", address=as_files):
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": 900})
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda m: m.type == "error" and problems.append(m.text))
        page.goto(address + PAGE)
        page.evaluate(f"document.body.classList.replace('quarto-light', 'quarto-{scheme}')")
        return page

    context.route(SERVED + "**", answer)
    open_page.problems = problems
    yield open_page
    context.close()


def test_nothing_is_wider_than_the_screen(opened):
    for width in WIDTHS:
        page = opened(width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width
        page.close()
    assert not opened.problems


def test_on_a_phone_wide_things_scroll_in_boxes(opened):
    page = opened(320)
    boxes = (".equation-body", ".long-formula", ".table-scroll", "div.sourceCode")
    for selector in (*boxes, ".cell-output pre"):
        widths = page.locator(selector).evaluate_all(
            "boxes => boxes.map(b => [b.clientWidth, b.scrollWidth, getComputedStyle(b).overflowX])"
        )
        assert widths, selector
        for inner, whole, overflow in widths:
            assert whole > inner > 200, selector
            assert overflow == "auto", selector
        for box in page.locator(selector).all():
            assert box.get_attribute("aria-label").endswith(", goes on sideways")
            assert box.get_attribute("tabindex") == "0"


def test_a_heading_stays_in_sight_where_its_table_fits(opened):
    """Nothing between it and the page scrolls, which would hold it there."""
    facts = opened(1280).evaluate(
        """() => [...document.querySelectorAll("main thead")].map((head) => {
          const { position, top } = getComputedStyle(head), boxes = [];
          for (let box = head; box !== document.body; box = box.parentElement)
            boxes.push(getComputedStyle(box).overflow);
          return [position, top, ...new Set(boxes)];
        })"""
    )
    assert facts == [["sticky", "0px", "visible"]] * 3


@pytest.mark.parametrize("width", WIDTHS)
def test_the_number_of_an_equation_stands_at_the_right(opened, width):
    facts = opened(width).evaluate(
        """() => {
          const equation = document.querySelector("#eq-page-wide");
          const [line, body, number] = [equation.parentElement, ...[equation, ...equation.children]
            .slice(1)].map((e) => e.getBoundingClientRect());
          return { text: equation.lastElementChild.textContent, line: line.right,
                   body: body.right, left: number.left, right: number.right,
                   under: number.top >= body.bottom - 1 };
        }"""
    )
    assert facts["text"] == "(2.1)"
    assert facts["right"] == pytest.approx(facts["line"], abs=1)
    assert facts["body"] < facts["left"] or facts["under"]  # too wide for both


def test_tables_are_as_wide_as_what_they_hold(opened):
    page = opened(1280)
    frame = page.locator("table.dataframe")
    facts = frame.evaluate(
        """(table) => ({
          mine: table.getBoundingClientRect().width,
          room: table.parentElement.getBoundingClientRect(),
          left: table.getBoundingClientRect().left,
          aligned: [...table.rows].map((r) => [...r.cells].map((c) => getComputedStyle(c).textAlign)),
        })"""
    )
    assert facts["mine"] < facts["room"]["width"] * 0.8
    assert facts["left"] == pytest.approx(facts["room"]["left"], abs=1)
    assert facts["aligned"] == [["left", "right"]] * 4
    meaning = page.locator("figure td").nth(1)
    assert meaning.evaluate("cell => cell.getBoundingClientRect().width") > 150
    caption = page.locator("#tbl-page-caption").evaluate(
        "words => getComputedStyle(words).textAlign"
    )
    assert caption == "left"
    assert page.locator("caption").evaluate("c => getComputedStyle(c).textAlign") == "left"


CONTRASTS = """() => {
  const light = (css) => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d");
    canvas.fillStyle = css;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = light(getComputedStyle(document.body).backgroundColor);
  const seen = ["main p", "pre code", ".im", ".equation-number", "figcaption", "td", "th",
                ".cell-output pre", ".header-section-number", "summary", ".code-fold summary", "blockquote", "caption",
                "[role=doc-biblioref]"];
  return Object.fromEntries(seen.map((selector) => {
    const ink = light(getComputedStyle(document.querySelector(selector)).color);
    return [selector, (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05)];
  }));
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_by_day_and_by_night(opened, scheme):
    contrasts = opened(768, scheme).evaluate(CONTRASTS)
    assert {part: c for part, c in contrasts.items() if c < 4.5} == {}


def test_a_citation_looks_like_the_link_that_it_is(opened):
    link = opened(768).locator("[role=doc-biblioref]")
    assert link.evaluate("a => getComputedStyle(a).textDecorationLine") == "underline"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_drawing_is_a_part_of_the_page_in_its_colours(opened, scheme):
    page = opened(390, scheme)
    word = page.locator("#fig-page-drawn svg.drawing text")
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert word.evaluate("e => getComputedStyle(e).fill") == ink
    assert page.locator("svg.drawing[role=img][aria-label^='A circle'] > rect").count() == 0
    assert page.locator("main img[src$='.svg']").count() == 0


def test_bootstrap_is_told_the_colours_of_the_style_sheet():
    """It computes others from them, and so needs them before there is a page."""
    shared = (ROOT / "preview" / "shared.css").read_text(encoding="utf-8")
    tokens = dict(re.findall(r"--(\w+): light-dark\(([^)]*)\)", shared))
    names = {
        "body-bg": "paper",
        "body-color": "ink",
        "link-color": "link",
        "primary": "link",
        "text-muted": "soft",
    }
    names |= {"border-color": "line", "toc-inactive-border": "line"}
    names |= {"code-bg": "code", "code-block-bg": "code", "code-color": "ink"}
    for at, theme in enumerate(("light", "dark")):
        text = (ROOT / "preview" / f"{theme}.scss").read_text(encoding="utf-8")
        told = dict(re.findall(r"^\$([\w-]+): (#\w+);$", text, re.M))
        assert told == {name: tokens[t].split(", ")[at] for name, t in names.items()}


def test_one_switch_opens_all_folded_code(opened):
    page = opened(1280)
    assert not page.locator("details.code-fold").evaluate("fold => fold.open")
    page.locator("#quarto-show-all-code").click()
    assert page.locator("details.code-fold").evaluate("fold => fold.open")


@pytest.mark.parametrize("served", [True, False])
def test_quartos_modules_run_and_its_search_reads(opened, site, served):
    page = opened(1280, address=SERVED if served else site.as_uri() + "/")
    assert page.evaluate("document.documentElement.dataset.tabs") == "alive"
    [document] = page.evaluate("fetch('../search.json').then((answer) => answer.json())")
    assert document["text"] == READ
    assert page.evaluate("shownWarning") != served  # that there is no search
    assert not opened.problems


def test_a_module_of_another_form_is_left_as_it_is(tmp_path):
    module = tmp_path / "odd.js"
    module.write_text("export default 1;\n")
    with pytest.raises(
        ValueError, match=r"odd\.js: this form is not joined: export default"
    ):
        classic(module)
    page = '<script src="odd.js" type="module"></script>'
    assert post_render.mended(page, tmp_path / "index.html", tmp_path) == page


def test_a_formula_keeps_all_but_its_number():
    """Older pandocs put brackets into a row of their own, newer ones do not."""
    math = '<math display="block"><semantics><mrow><mi>x</mi>{}</mrow><annotation>x{}</annotation></semantics></math>'
    bracket = '<mo form="prefix">(</mo><mn>2.1</mn><mo form="postfix">)</mo>'
    bare = math.format("", "")
    for end in (f"<mrow>{bracket}</mrow>", bracket):
        numbered = math.format(f'<mspace width="2.0em"></mspace>{end}', " \\qquad(2.1)")
        assert boxed(f'<p><span id="eq-x">{numbered}</span></p>') == (
            f'<p><span id="eq-x" class="equation"><span class="equation-body">{bare}</span>'
            '<span class="equation-number">(2.1)</span></span></p>'
        )
    own = math.format(f'<mspace width="1.0em"></mspace>{bracket}', "\\quad(2.1)")
    assert boxed(f'<span id="eq-x">{own}</span>').count("2.1") == own.count("2.1")


def test_scripts_are_not_boxed():
    script = '<script type="application/json">"<math display=\\"block\\"></math>"</script>'
    script += '<script>const t = `<table class="caption-top table"></table>`;</script>'
    assert boxed(script) == script
