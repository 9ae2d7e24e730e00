"""The built site as a reader meets it: in a browser, with the network cut off."""

import functools
import http.server
import os
import re
import threading
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest

from preview.build import build

ROOT = Path(__file__).resolve().parents[2]
WIDTHS = (1280, 390)
BUILT = os.environ.get("GAPFM_TEACH_SITE")
preview_only = pytest.mark.skipif(bool(BUILT), reason="Quarto has its own menu and search")
# What no reader should meet: a reference, a formula, a box or a label that was not set.
TRACE = re.compile(r"\?@|@(?:fig|eq|tbl|sec)-|\{#|\$\$|\\[A-Za-z]{2,}|:::")
TRAINING = "notebooks/04_train_on_movielens.html"

# Visible text, without code, and without the TeX that MathML keeps for copying.
READ_TEXT = """() => {
  const copy = document.body.cloneNode(true);
  copy.querySelectorAll('code, pre, script, style, annotation').forEach((e) => e.remove());
  return copy.textContent;
}"""
READ_PAGE = """() => ({
  links: [...document.querySelectorAll('a[href]')].map((a) => a.href),
  ids: [...document.querySelectorAll('[id]')].map((e) => e.id),
  withoutAlt: [...document.images].filter((i) => !(i.alt || '').trim()).map((i) => i.src),
  width: document.documentElement.scrollWidth,
})"""


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site, serve it on the loopback; yield (address, pages).

    GAPFM_TEACH_SITE names a site built already, by Quarto for example, to look at instead.
    """
    if BUILT:
        folder = Path(BUILT)
        pages = [path.relative_to(folder).as_posix() for path in folder.rglob("*.html")]
    else:
        folder = tmp_path_factory.mktemp("site") / "_site"
        pages = build(ROOT, folder)
    handler = functools.partial(QuietHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", pages
        server.shutdown()


@pytest.fixture
def open_page(browser, site):
    """Open pages with other hosts blocked; what went wrong is in `open_page.problems`."""
    address, _ = site
    context = browser.new_context()
    problems: list[str] = []

    def guard(route):
        if route.request.url.startswith((address, "data:")):
            route.continue_()
        else:
            problems.append(f"request to another host: {route.request.url}")
            route.abort()

    def opener(name, width=1280):
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": 900})
        page.on("pageerror", lambda error: problems.append(f"{name}: {error}"))
        page.on(
            "console", lambda m: m.type == "error" and problems.append(f"{name}: {m.text}")
        )
        page.goto(address + name, wait_until="load")
        return page

    context.route("**/*", guard)
    opener.problems = problems
    yield opener
    context.close()


def visit(open_page, name, width):
    """Facts about one page: links, ids, images without alt text, width, text."""
    page = open_page(name, width)
    facts = page.evaluate(READ_PAGE) | {"text": page.evaluate(READ_TEXT)}
    page.close()
    return facts


def broken_links(address, facts_of):
    """Links inside the site whose page or anchor does not exist."""
    broken = []
    for name, facts in facts_of.items():
        for link in facts["links"]:
            target = urljoin(address + name, link)
            if not target.startswith(address):
                continue
            page = urlsplit(target).path.lstrip("/") or "index.html"
            anchor = unquote(urlsplit(target).fragment)
            if page not in facts_of or (anchor and anchor not in facts_of[page]["ids"]):
                broken.append(f"{name} -> {link}")
    return broken


@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_is_whole(site, open_page, width):
    address, pages = site
    facts_of = {name: visit(open_page, name, width) for name in pages}
    problems = list(open_page.problems) + broken_links(address, facts_of)
    for name, facts in facts_of.items():
        problems += [
            f"{name}: image without alt text: {src}" for src in facts["withoutAlt"]
        ]
        if facts["width"] > width:
            problems.append(f"{name}: {facts['width']} px wide on a screen of {width}")
        for trace in TRACE.finditer(facts["text"]):
            around = slice(max(0, trace.start() - 30), trace.end() + 30)
            problems.append(f"{name}: {facts['text'][around]!r}")
    assert not problems, "\n".join(problems)


@preview_only
def test_the_search_finds_a_section_and_leads_to_it(site, open_page):
    page = open_page("index.html")
    page.get_by_label("Search the book").fill("notation")
    page.locator("#found a").first.click()
    page.wait_for_url("**/*.html#*")
    assert page.locator(f"[id='{urlsplit(page.url).fragment}']").count() == 1
    assert not open_page.problems


@preview_only
def test_the_menu_opens_on_a_phone(site, open_page):
    page = open_page("index.html", 390)
    chapters = page.get_by_role("navigation", name="Book")
    assert not chapters.is_visible()
    page.get_by_role("button", name="Contents").click()
    assert chapters.is_visible()


def test_paper_shows_what_goes_deeper(site, open_page):
    page = open_page(TRAINING)
    shown = """() => [...document.querySelectorAll('details.deeper')].map(
        (fold) => fold.lastElementChild.checkVisibility({ contentVisibilityAuto: true }))"""
    assert set(page.evaluate(shown)) == {False}
    page.emulate_media(media="print")
    assert set(page.evaluate(shown)) == {True}


def test_a_press_on_a_heading_sorts_its_table(site, open_page):
    page = open_page(TRAINING)
    table = page.locator("main table:has(th button)").first
    before = table.locator("tbody tr").all_inner_texts()
    table.locator("th button").last.click()
    assert table.locator("th[aria-sort=ascending]").count() == 1
    assert sorted(table.locator("tbody tr").all_inner_texts()) == sorted(before)
    assert not open_page.problems


def test_an_explorable_of_a_page_answers_the_keyboard(site, open_page):
    """And none is left dead: each has taken the place of its picture."""
    page = open_page(TRAINING)
    page.wait_for_function(
        """() => [...document.querySelectorAll('.gapfm-explorable')].every(
             (root) => Number(root.dataset.drawn) > 0)"""
    )
    explorable = page.locator(".gapfm-explorable").first
    slider, words = (
        explorable.locator("input[type=range]").first,
        explorable.locator(".gx-said"),
    )
    before = words.inner_text()
    slider.focus()
    page.keyboard.press("PageUp")
    page.wait_for_function(
        "before => document.querySelector('.gx-said').textContent !== before", arg=before
    )
    assert not open_page.problems
