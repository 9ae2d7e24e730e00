"""Read a rendered page: its numbered labels, and its text section by section."""

import re
from html.parser import HTMLParser

LABEL = re.compile("(eq|fig|tbl|sec)-")
SILENT = ("script", "style", "svg", "nav", "math")
VOID = ("img", "br", "hr", "input", "link", "meta", "source", "wbr", "col")


class PageReader(HTMLParser):
    """Collect from `<main>` the (id, number) of labels and the text under each heading."""

    def __init__(self, page: str):
        super().__init__()
        self.labels: list[tuple[str, str]] = []
        self.sections: list[dict] = []
        self._stack: list[str] = []
        self._heading = False
        self.feed(page)

    def search_entries(self, href: str) -> list[dict]:
        return [
            {
                "href": f"{href}#{section['id']}",
                "title": " ".join(section["title"].split()),
                "text": " ".join(section["text"].split()),
            }
            for section in self.sections
        ]

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if LABEL.match(found.get("id") or "") and "data-number" in found:
            self.labels.append((found["id"], found["data-number"]))
        if tag in ("h1", "h2", "h3") and "id" in found and "main" in self._stack:
            self._heading = True
            self.sections.append({"id": found["id"], "title": "", "text": ""})
        if tag not in VOID:
            self._stack.append(tag)

    def handle_endtag(self, tag):
        if tag in ("h1", "h2", "h3"):
            self._heading = False
        if tag in self._stack:
            while self._stack.pop() != tag:
                pass

    def handle_data(self, data):
        if self.sections and not any(tag in SILENT for tag in self._stack):
            self.sections[-1]["title" if self._heading else "text"] += data
