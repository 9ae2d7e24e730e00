"""What holds on every page of the preview, each opened once: access, links, faces of type."""

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from built_site import BUILT

pytestmark = pytest.mark.skipif(bool(BUILT), reason="Quarto's pages have their own bar")

WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
MOST_TABS = 10

FACTS = """() => ({
  description: document.querySelector('meta[name=description]').content,
  icon: document.querySelector('link[rel=icon]').getAttribute('href'),
  source: document.querySelector('footer a[download]').getAttribute('href'),
  neighbours: document.querySelectorAll('.pager a').length,
  bare: [...document.querySelectorAll('main :is(h1, h2, h3)[id]')]
    .filter((h) => decodeURIComponent(h.querySelector('.anchor')?.hash ?? '') !== '#' + h.id)
    .map((h) => h.id),
  // An index too many, and a browser draws the formula as a row.
  uneven: [...document.querySelectorAll('msub, msup, munder, mover, mfrac, msubsup, munderover')]
    .filter((e) => e.children.length !== (['msubsup', 'munderover'].includes(e.localName) ? 3 : 2))
    .map((e) => e.outerHTML),
})"""
SMALL_TARGETS = """() => [...document.querySelectorAll('button, summary, nav a, footer p a, input')]
  .filter((e) => !e.closest('.gapfm-explorable, .toc'))
  .filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 44)
  .map((e) => e.outerHTML.slice(0, 80))"""
# What is set in mathematics and in prose; a single letter is drawn from the italic alphabet.
CHARACTERS = """() => {
  const main = document.querySelector('main').cloneNode(true);
  const other = 'script, style, svg, pre, code, table, .gapfm-explorable, .column-margin';
  for (const e of main.querySelectorAll(`${other}, figcaption, summary, .callout-title`)) e.remove();
  const formulas = [...main.querySelectorAll('math')];
  const set = new Set(formulas.map((e) => e.textContent).join(''));
  for (const e of main.querySelectorAll('mi:not([mathvariant])'))
    if (/^[a-gi-zA-Z]$/.test(e.textContent)) {
      const first = e.textContent > 'Z' ? 0x1d44e - 97 : 0x1d434 - 65;
      set.add(String.fromCodePoint(first + e.textContent.codePointAt()));
    }
  for (const e of formulas) e.remove();
  return [[...set].join(''), [...new Set(main.textContent)].join('')];
}"""
# Axe takes long over formulas and coloured code, of which a few stand for all.
FEWER = """() => {
  for (const math of document.querySelectorAll('math:not(th math, .equation-body math)'))
    math.replaceWith('x');
  for (const code of [...document.querySelectorAll('pre code')].slice(3))
    code.textContent = code.textContent;
}"""
AXE = """async ([where, options]) => {
  const { violations } = await axe.run(where ?? document, { resultTypes: ['violations'], ...options });
  return violations.map(({ id, nodes }) => `${id}: ${nodes.length}, ${nodes[0].html.slice(0, 100)}`);
}"""
# Code, and formulas wider than a phone that could still be set smaller.
CUT_OFF = """() => [...document.querySelectorAll('pre.sourceCode, .equation-body')]
  .filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1)
  .filter((e) => e.matches('pre') || e.style.fontSize !== '0.7em' || !e.matches('.goes-on'))
  .map((e) => e.textContent.slice(0, 40))"""
STRUCTURE = [None, {"rules": {"color-contrast": {"enabled": False}}}]
COLOURS = [None, {"runOnly": ["color-contrast"]}]
SAMPLE = """([family, text]) => {
  document.body.innerHTML = '<p id="sample"></p>';
  const sample = document.getElementById('sample');
  sample.style.font = `20px ${family}, monospace`;
  sample.textContent = text.replace(/[\\s\\p{Cf}\\p{Lm}\\p{Mn}]/gu, '');
  return document.fonts.load(sample.style.font, text).then(() => {});
}"""


def tabs_to_the_text(page):
    for tabs in range(1, MOST_TABS + 1):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('main') !== null"):
            return tabs
    return None


@pytest.fixture(scope="module")
def walked(browser, site):
    """name -> what was found on each page."""
    address, pages = site
    found = {}
    context = browser.new_context(viewport=WIDE, has_touch=True)
    for name in pages:
        page = context.new_page()
        page.goto(address + name)
        facts = page.evaluate(FACTS)
        facts["tabs"] = tabs_to_the_text(page)
        facts["formulas"], facts["prose"] = page.evaluate(CHARACTERS)
        page.set_viewport_size(PHONE)
        facts["small"] = page.evaluate(SMALL_TARGETS)
        page.wait_for_timeout(100)
        facts["cut off"] = page.evaluate(CUT_OFF)
        page.evaluate(FEWER)
        page.evaluate(AXE_SCRIPT)
        facts["axe"] = page.evaluate(AXE, STRUCTURE)
        page.set_viewport_size(WIDE)
        facts["axe"] += page.evaluate(AXE, STRUCTURE)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            facts["axe"] += page.evaluate(AXE, COLOURS)
        found[name] = facts
        page.close()
    context.close()
    return found


def test_axe_finds_nothing(walked):
    assert {name: facts["axe"] for name, facts in walked.items() if facts["axe"]} == {}


def test_formulas_are_whole(walked):
    assert {
        name: facts["uneven"] for name, facts in walked.items() if facts["uneven"]
    } == {}


def test_a_phone_shows_code_and_formulas_whole(walked):
    cut = {name: facts["cut off"] for name, facts in walked.items() if facts["cut off"]}
    assert cut == {}


def test_the_text_is_a_few_tabs_away_and_targets_are_large(walked):
    assert {name for name, facts in walked.items() if not facts["tabs"]} == set()
    assert {name: facts["small"] for name, facts in walked.items() if facts["small"]} == {}


def test_headings_have_links_and_pages_neighbours_and_sources(walked, site_folder):
    ends = {"index.html", "pages/projects.html"}
    for name, facts in walked.items():
        assert not facts["bare"], name
        assert facts["neighbours"] == (1 if name in ends else 2), name
        assert ((site_folder / name).parent / facts["source"]).is_file(), name


def test_a_shared_link_says_what_the_page_is_about(walked, site_folder):
    for name, facts in walked.items():
        assert 30 < len(facts["description"]) <= 205, name
        assert "@" not in facts["description"], name
        assert ((site_folder / name).parent / facts["icon"]).is_file(), name
    assert len({facts["description"] for facts in walked.values()}) == len(walked)


def faces(page, family, text):
    """The faces in which the browser sets `text`."""
    page.evaluate(SAMPLE, [family, "".join(sorted(set(text)))])
    session = page.context.new_cdp_session(page)
    session.send("DOM.enable")
    session.send("CSS.enable")
    root = session.send("DOM.getDocument")["root"]["nodeId"]
    node = session.send("DOM.querySelector", {"nodeId": root, "selector": "#sample"})
    fonts = session.send("CSS.getPlatformFontsForNode", {"nodeId": node["nodeId"]})
    return {font["familyName"] for font in fonts["fonts"]}


def test_the_shipped_faces_hold_what_the_book_sets(walked, open_page):
    page = open_page("index.html")
    formulas = "".join(facts["formulas"] for facts in walked.values())
    prose = "".join(facts["prose"] for facts in walked.values())
    prose = prose.replace("✓", "").replace("✗", "")  # of `check`, from any face
    assert faces(page, "'STIX Two Math'", formulas) == {"STIX Two Math"}
    both = "'STIX Two Text', 'STIX Two Math'"
    assert faces(page, both, prose) == {"STIX Two Text", "STIX Two Math"}
