"""What a finished page needs that pandoc does not give it, and what it gives and nobody needs."""

import re

# A place to go to, and a link, for each line of code.
LINE_ANCHORS = re.compile(
    r' id="cb\d+(?:-\d+)?"|<a href="#cb\d+-\d+" aria-hidden="true" tabindex="-1"></a>'
)
TOC_IDS = re.compile(r' id="toc-[^"]*"')  # the contents stand on a page twice
HEADING = re.compile(r'(<h[1-4]\b[^>]*\bid="([^"]+)"[^>]*>)(.*?)(?=</h[1-4]>)', re.S)
ANCHOR = r'\1\3 <a class="anchor" href="#\2" aria-label="Link to this section">#</a>'


def polished(page: str) -> str:
    """`page` with a link at each heading, and without anchors at lines of code."""
    page = TOC_IDS.sub("", LINE_ANCHORS.sub("", page))
    start = page.index("<main")
    return page[:start] + HEADING.sub(ANCHOR, page[start:])
