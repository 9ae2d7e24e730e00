"""What on a rendered page has a number: equations, figures, tables, sections."""

import re
from html.parser import HTMLParser

LABEL = re.compile("(eq|fig|tbl|sec)-")


class Labels(HTMLParser):
    """Collect from `page` the pairs (id, number) of its labels into `found`."""

    def __init__(self, page: str):
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if LABEL.match(given.get("id") or "") and "data-number" in given:
            self.found.append((given["id"], given["data-number"]))
