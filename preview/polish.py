"""What a finished page needs that pandoc does not give it, and what it gives and nobody needs."""

import re

from preview.formulas import well_set

# A place to go to, and a link, for each line of code.
LINE_ANCHORS = re.compile(
    r' id="cb\d+(?:-\d+)?"|<a href="#cb\d+-\d+" aria-hidden="true" tabindex="-1"></a>'
)
# Formulas in TeX, beside those in MathML, with a namespace that HTML does not need.
TEX = re.compile(r"<semantics>(.*?)<annotation\b[^>]*>.*?</annotation></semantics>", re.S)
NAMESPACE = ' xmlns="http://www.w3.org/1998/Math/MathML"'
PANDAS_STYLE = re.compile(r"<style scoped>\s*\.dataframe\b.*?</style>\s*", re.S)
TOC_IDS = re.compile(r' id="toc-[^"]*"')  # the contents stand on a page twice
HEADING = re.compile(r'(<h[1-4]\b[^>]*\bid="([^"]+)"[^>]*>)(.*?)(?=</h[1-4]>)', re.S)
NO_WORD = re.compile(r"\W+")
TERM = re.compile(r"<dt>(?=<a [^>]*>([^<]*)</a></dt>)")  # of the glossary
ANCHOR = r'\1\3 <a class="anchor" href="#\2" aria-label="Link to this section">#</a>'


def bare(page: str) -> str:
    """`page` without what only makes it heavy."""
    for pattern in (LINE_ANCHORS, TOC_IDS, PANDAS_STYLE):
        page = pattern.sub("", page)
    return TEX.sub(r"\1", page).replace(NAMESPACE, "")


def polished(page: str) -> str:
    """`page` with a link at each heading and formulas set well, and bare of the rest."""
    page = bare(well_set(page))
    start = page.index("<main")
    page = TERM.sub(
        lambda term: f'<dt id="term-{NO_WORD.sub("-", term[1].lower())}">', page
    )
    return page[:start] + HEADING.sub(ANCHOR, page[start:])
