"""The script that brings a page's explorables to life: one file for the site, no request elsewhere.

A chapter's explorables bring their data along. Where a page runs no code, an empty element names
the file of `gapfm_course/explorables/data` that holds them; they are written into the page, since
one that is opened as a file can fetch nothing.
"""

import html
import re
from pathlib import Path

import nbformat

from gapfm_course.explorables.explorable import fragment
from gapfm_course.explorables.linked import for_page
from gapfm_course.explorables.stored import stored

NAME = "explorables.js"
EMPTY = re.compile(
    r'<div class="gapfm-explorable"(?P<given>(?: data-[a-z]+="[^"]*")* data-from="[^"]+"[^>]*)>\s*</div>'
)
WHOLE = re.compile(
    r'<div class="gapfm-explorable" data-view="(?P<view>\w+)">.*?</script>\n</div>', re.S
)
ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')


def script() -> bytes:
    return for_page().encode()


def alive(page: str, root: str) -> str:
    """`page`, whose site begins at the relative address `root`, with what its explorables need."""
    page = filled(page)
    if 'class="gapfm-explorable"' not in page or f'{NAME}" defer' in page:
        return page
    return page.replace("</body>", f'<script src="{root}{NAME}" defer></script>\n</body>')


def filled(page: str) -> str:
    """`page` with an explorable in each empty element that has data-view, data-from and data-alt."""

    def whole(found: re.Match) -> str:
        given = {
            name: html.unescape(text) for name, text in ATTRIBUTE.findall(found["given"])
        }
        return fragment(given["data-view"], stored(given["data-from"]), given["data-alt"])

    return EMPTY.sub(whole, page)


def stored_fragments(root: Path) -> dict[str, str]:
    """The explorables of the book at `root` as its notebooks store them, or a page asks for them:
    {view: fragment}."""
    sources = [
        path.read_text(encoding="utf-8")
        for path in sorted([root / "index.qmd", *root.glob("pages/*.qmd")])
    ]
    pages = [filled(text) for text in sources]
    for path in sorted((root / "notebooks").glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            outputs = cell.get("outputs", [])
            pages += [output.get("data", {}).get("text/html", "") for output in outputs]
    return {found["view"]: found[0] for page in pages for found in WHOLE.finditer(page)}
