"""What the search reads: every section, equation, figure, table, term and symbol of the book.

It is one script file, because a page that is opened as a file can fetch nothing. It holds the prose as
written and each name in code once, but no outputs, hints or solutions.
"""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import yaml

from gapfm_course.class_edition.numbers import KIND

NAME = "search_index.js"
SYNONYMS = Path(__file__).with_name("synonyms.yaml")
# How much a hit counts on these pages, where it counts 1 on all others.
WEIGHTS = {
    "pages/glossary.html": 1.2,
    "pages/api.html": 0.2,
    "pages/references.html": 0.1,
    "pages/teaching.html": 0.2,
    "pages/teaching-notes.html": 0.2,
    "pages/projects.html": 0.2,
}
HEADINGS = ("h1", "h2", "h3", "h4")
SILENT = ("script", "style", "svg", "nav", "math", "button")
HIDDEN = (
    "anchor",
    "dataframe",
    "cell-output",
    "hint",
    "solution",
)  # classes; who looks a hint up?
VOID = ("img", "br", "hr", "input", "link", "meta", "source", "wbr", "col")
IDENTIFIER = re.compile(r"[^\W\d]\w{2,}")


class Places(HTMLParser):
    """Collect from a page's `<main>` what a reader may look for, into `found`.

    Each place is a dict of its anchor's `id`, `title`, `text` and `code`.
    """

    def __init__(self, page: str):
        super().__init__()
        self.found: list[dict[str, str]] = []
        self._section: dict[str, str] = {}
        self._symbol: dict[str, str] | None = None  # the row of the notation
        # Each open tag, with where its text goes: a place of its own or the section; which part.
        self._open: list[tuple[str, dict[str, str] | None, str]] = [("", None, "")]
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag in VOID:
            return
        given = {name: value or "" for name, value in attributes}
        if self._open[-1][0] in ("msub", "msup", "msubsup"):
            self.handle_data(" ")  # between a symbol and its index
        self._open.append((tag, *self._goes(tag, given)))

    def _goes(self, tag: str, given: dict[str, str]) -> tuple[dict[str, str] | None, str]:
        _, place, part = self._open[-1]
        kind = KIND.get(given.get("id", "").partition("-")[0])
        if tag == "main":
            return None, "text"
        if tag == "dt" and "id" in given:  # a term of the glossary
            return self._add(given["id"], ""), "title"
        if tag == "dd" and self.found[-1]["id"].startswith("term-"):
            return self.found[-1], "text"
        if tag == "tr" and place and place["id"].startswith("tbl-notation-"):
            self._symbol = self._add(place["id"], "")
            return self._symbol, "text"
        if place and place is self._symbol:
            is_first = tag == "td" and not place["title"]
            return place, "title" if is_first else part
        hidden = any(name in given.get("class", "") for name in HIDDEN)
        if not part or tag in SILENT or hidden:
            return None, ""
        if tag in HEADINGS and "id" in given:
            self._section = self._add(given["id"], "")
            return None, "title"
        if kind and "data-number" in given:
            place = self._add(given["id"], f"{kind} {given['data-number']}")
            if kind != "Equation":
                return place, "text"
            place["text"] = " ".join(given["id"].split("-")[1:])
            return place, ""
        if tag == "pre":
            return place, "code" if "sourceCode" in given.get("class", "") else ""
        return place, part

    def _add(self, name: str, title: str) -> dict[str, str]:
        self.found.append({"id": name, "title": title, "text": "", "code": ""})
        return self.found[-1]

    def handle_endtag(self, tag):
        if tag in [name for name, *_ in self._open]:
            while self._open.pop()[0] != tag:
                pass

    def handle_data(self, data):
        _, place, part = self._open[-1]
        place = self._section if place is None else place
        if part and place:
            place[part] += data


def entries(page: str) -> list[list[str]]:
    """What there is to find on `page`: lists of id, title, text and the names in code."""

    def entry(place: dict[str, str]) -> list[str]:
        title = " ".join(place["title"].split())
        text = " ".join(place["text"].split()).removeprefix(title).strip()
        names = dict.fromkeys(n for n in IDENTIFIER.findall(place["code"]) if n not in text)
        return [place["id"], title, text, " ".join(names)]

    return [entry(place) for place in Places(page).found if place["title"].strip()]


def script(pages: list[tuple[str, str, str]]) -> str:
    """The index of `pages`, each its address, its chapter's name and the page, as JavaScript."""
    index = {
        "pages": [(href, name, WEIGHTS.get(href, 1)) for href, name, _ in pages],
        "entries": [[at, *e] for at, (*_, page) in enumerate(pages) for e in entries(page)],
        "synonyms": yaml.safe_load(SYNONYMS.read_text(encoding="utf-8")),
    }
    text = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
    return f"bookIndex = {text};\n"
