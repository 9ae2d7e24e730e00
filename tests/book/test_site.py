"""The built site as a reader meets it: in a browser, with the network cut off."""

import re
from urllib.parse import unquote, urljoin, urlsplit

WIDTHS = (1440, 1280, 768, 390, 320)
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
})"""
# Once the page has had a frame to settle in.
WIDTH = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
  done(document.documentElement.scrollWidth))))"""


def visit(open_page, name):
    """Facts about one page: links, ids, images without alt text, width at each width, text."""
    page = open_page(name)
    facts = page.evaluate(READ_PAGE) | {"text": page.evaluate(READ_TEXT), "wide": {}}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        facts["wide"][width] = page.evaluate(WIDTH)
    page.context.close()
    return facts


def broken_links(site, folder, facts_of):
    """Links inside the site whose page, file or anchor does not exist."""
    address, _ = site
    broken = []
    for name, facts in facts_of.items():
        for link in facts["links"]:
            target = urljoin(address + name, link)
            if not target.startswith(address):
                continue
            page = urlsplit(target).path.lstrip("/") or "index.html"
            # What stands behind an explorable's name is its setting.
            anchor = re.sub(r"^(explore-\w+):.*", r"\1", unquote(urlsplit(target).fragment))
            known = page in facts_of or (not anchor and (folder / page).is_file())
            if not known or (anchor and anchor not in facts_of[page]["ids"]):
                broken.append(f"{name} -> {link}")
    return broken


def test_every_page_is_whole(site, site_folder, open_page):
    _, pages = site
    facts_of = {name: visit(open_page, name) for name in pages}
    problems = list(open_page.problems) + broken_links(site, site_folder, facts_of)
    for name, facts in facts_of.items():
        problems += [
            f"{name}: image without alt text: {src}" for src in facts["withoutAlt"]
        ]
        problems += [
            f"{name}: {wide} px wide on a screen of {width}"
            for width, wide in facts["wide"].items()
            if wide > width
        ]
        for trace in TRACE.finditer(facts["text"]):
            around = slice(max(0, trace.start() - 30), trace.end() + 30)
            problems.append(f"{name}: {facts['text'][around]!r}")
    assert not problems, "\n".join(problems)


def test_paper_shows_what_goes_deeper(site, open_page):
    page = open_page(TRAINING)
    shown = """() => [...document.querySelectorAll('details.deeper')].map(
        (fold) => fold.lastElementChild.checkVisibility({ contentVisibilityAuto: true }))"""
    assert set(page.evaluate(shown)) == {False}
    page.emulate_media(media="print")
    page.wait_for_function(f"() => ({shown})().every((is) => is)")


def test_a_press_on_a_heading_sorts_its_table(site, open_page):
    page = open_page(TRAINING)
    table = page.locator("main table:not(:has([rowspan])):has(th button)").first
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
