"""The class edition beside the rendered site: one counts in Python, the other in pandoc's tree."""

import json
import re
from collections import Counter
from html import unescape

import pypandoc
import pytest
import yaml

from gapfm_course.class_edition.edition import edition
from preview.build import ROOT, read_chapters

CONFIG = yaml.safe_load((ROOT / "_quarto.yml").read_text(encoding="utf-8"))
CHAPTERS = [c for c in read_chapters(ROOT, CONFIG) if c.source.suffix == ".ipynb"]
EDITION = edition(ROOT, solutions=True)

MAIN = re.compile(r"<main.*</main>", re.S)
HEADING = re.compile(r"<h([1-3])\b[^>]*>(.*?)</h\1>", re.S)
ANCHOR_LINK = re.compile(r'<a class="anchor".*?</a>', re.S)
EQUATION = re.compile(r'<span id="(eq-[\w-]+)" class="equation" data-number="([\d.]+)"')
CAPTION = re.compile(r'<figure id="((?:fig|tbl)-[\w-]+)"[^>]* data-number="([\d.]+)"')
XREF = re.compile(r'<a href="([^"#]*)#([\w-]+)" class="xref">(.*?)</a>', re.S)
CITED = re.compile(r'<span class="citation"[^>]*>(.*?)</span>', re.S)
OURS = re.compile(
    r"\[(?:(?:Section|Chapter|Equation|Figure|Table) )?[\d.]+\]\(([^)#]*)#((?:sec|eq|fig|tbl)-[\w-]+)\)"
)
STRAIGHT = str.maketrans("‘’“”", "''\"\"")  # as in the sources
FENCED = re.compile(r"^(`{3,}).*?^\1", re.M | re.S)
TAG = re.compile(r" \\tag\{[\d.]+\}$")
# As JupyterLab, VS Code and Colab read: CommonMark, with tables and dollars.
IN_A_NOTEBOOK = "commonmark+pipe_tables+tex_math_dollars"
# What both readings of a chapter are to be made of.
PARTS = ("BulletList", "OrderedList", "Table", "Code", "Emph", "LineBreak", "BlockQuote")

pytestmark = [
    pytest.mark.processes,  # pandoc's
    pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda c: c.source.stem),
]


def ours(chapter) -> str:
    """The chapter's prose in the class edition, captions too, its list of works left out."""
    cells = EDITION[chapter.source.name]["cells"]
    shown = [c for c in cells if c["cell_type"] == "markdown" and c["id"] != "references"]
    return "\n\n".join(cell["source"] for cell in shown)


def site_page(site_folder, chapter) -> str:
    (main,) = MAIN.findall((site_folder / chapter.href).read_text(encoding="utf-8"))
    return main


def plain(text: str) -> str:
    """What is left of a heading when all that is marked up is taken from it, mathematics too."""
    text = re.sub(r"<math.*?</math>|\$[^$]*\$|<[^>]*>|[*`\\]", "", text, flags=re.S)
    return " ".join(unescape(text).translate(STRAIGHT).split())


def test_headings_have_the_numbers_of_the_site(chapter, site_folder):
    page = ANCHOR_LINK.sub("", site_page(site_folder, chapter))
    theirs = [(int(level), plain(words)) for level, words in HEADING.findall(page)]
    text = FENCED.sub("", ours(chapter))
    found = re.findall(r"^(#{1,3}) (.+)$", text, re.M)
    assert [(len(marks), plain(words)) for marks, words in found] == theirs
    assert len(theirs) > 10


def test_equations_figures_and_tables_have_the_numbers_of_the_site(chapter, site_folder):
    page, text = site_page(site_folder, chapter), ours(chapter)
    equations = re.findall(
        r'<div id="(eq-[\w-]+)"></div>\n\n\$\$[^$]*\\tag\{([\d.]+)\}\n\$\$', text
    )
    assert equations == EQUATION.findall(page)
    captions = re.findall(r"^\*\*((?:Figure|Table) [\d.]+)\*\* ", text, re.M)
    numbers = [
        f"{'Figure' if label.startswith('fig') else 'Table'} {number}"
        for label, number in CAPTION.findall(page)
    ]
    assert captions == numbers
    assert {label for label, _ in CAPTION.findall(page)} <= set(
        re.findall(r'id="([\w-]+)"', text)
    )


def test_references_say_and_lead_to_what_they_do_on_the_site(chapter, site_folder):
    page, text = site_page(site_folder, chapter), ours(chapter)
    theirs = Counter(
        (
            unescape(words).replace("\xa0", " "),
            href.replace("../notebooks/", "").replace(".html", ".ipynb"),
            label,
        )
        for href, label, words in XREF.findall(page)
    )
    found = Counter((m[0][1 : m[0].index("]")], m[1], m[2]) for m in OURS.finditer(text))
    assert found == theirs


def test_the_same_works_are_cited(chapter, site_folder):
    """Where two lists of authors begin alike, the site tells them apart in another way."""

    def works(texts):
        return Counter(
            (re.split(r"[ ,]", work)[0], re.search(r"\d{4}", work)[0])
            for text in texts
            for work in unescape(re.sub("<[^>]*>", "", text)).strip("()").split(";")
            for work in [work.strip()]
        )

    page, text = site_page(site_folder, chapter), ours(chapter)
    cited = re.findall(r"\[([^\]]+)\]\(#ref-", text)
    assert works(cited) == works(CITED.findall(page))


def parts(markdown: str, form: str) -> tuple[Counter, Counter]:
    """How often each of PARTS stands in a text, and its formulas, white space apart."""
    found: Counter[str] = Counter()
    formulas: Counter[str] = Counter()

    def visit(node):
        if isinstance(node, dict):
            found[node.get("t", "")] += 1
            if node.get("t") == "Math":
                formulas[" ".join(TAG.sub("", node["c"][1].strip()).split())] += 1
            node = list(node.values())
        if isinstance(node, list):
            for child in node:
                visit(child)

    visit(json.loads(pypandoc.convert_text(markdown, "json", form)))
    return Counter({part: found[part] for part in PARTS}), formulas


def test_a_notebook_reads_it_as_the_site_does(chapter):
    """Lists, tables, emphasis and every formula, with two dialects of Markdown to read them."""
    cells = json.loads(chapter.source.read_text(encoding="utf-8"))["cells"]
    source = [c["source"] for c in cells if c["cell_type"] == "markdown"]
    text = "\n\n".join("".join(lines) for lines in source)
    shown = [
        cell["source"]
        for cell in EDITION[chapter.source.name]["cells"]
        if cell["cell_type"] == "markdown"
        and not re.match("references|(fig|tbl)-", cell["id"])
    ]
    assert parts("\n\n".join(shown), IN_A_NOTEBOOK) == parts(text, "markdown")
