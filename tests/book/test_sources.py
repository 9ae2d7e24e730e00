"""What every Quarto from 1.4 on sets as this one does: formulas and references of all pages."""

import json
import re
from pathlib import Path

import pypandoc
import yaml

from preview.build import read_chapters

ROOT = Path(__file__).resolve().parents[2]
CONFIG = yaml.safe_load((ROOT / "_quarto.yml").read_text(encoding="utf-8"))
CHAPTERS = read_chapters(ROOT, CONFIG)
PAGES = {chapter.source.resolve(): chapter for chapter in CHAPTERS}

# The commands in use. Each is known to the pandocs from 2.19 to 3.9; `\Bigl`, say, to the newest
# only, and Quarto 1.4 comes with 3.1. One that is new here has to be tried with an old pandoc.
COMMANDS = {
    *(r"\ ", r"\!", r"\,", r"\;", r"\#", r"\%", r"\{", r"\}", r"\|", r"\\"),
    *(r"\big", r"\Big", r"\bigg", r"\bigl", r"\bigr", r"\left", r"\right"),
    *(r"\langle", r"\rangle", r"\lvert", r"\rvert", r"\lVert", r"\rVert"),
    *(
        r"\alpha",
        r"\beta",
        r"\gamma",
        r"\delta",
        r"\Delta",
        r"\varepsilon",
        r"\kappa",
        r"\lambda",
        r"\mu",
        r"\chi",
        r"\nabla",
    ),
    *(r"\xi", r"\pi", r"\rho", r"\sigma", r"\tau", r"\ell", r"\partial"),
    *(r"\mathbb", r"\mathrm", r"\mathsf", r"\operatorname", r"\text"),
    *(r"\bar", r"\hat", r"\tilde", r"\widehat", r"\underbrace", r"\sqrt"),
    *(r"\frac", r"\dfrac", r"\tfrac", r"\sum", r"\prod", r"\int"),
    *(r"\arccos", r"\cos", r"\exp", r"\ln", r"\log", r"\max", r"\min"),
    *(r"\approx", r"\cdot", r"\dots", r"\ldots", r"\ge", r"\gg", r"\le", r"\ne", r"\pm"),
    *(r"\leftarrow", r"\times", r"\to", r"\quad", r"\qquad", r"\begin", r"\end"),
}
ENVIRONMENTS = {"aligned"}
FENCED = re.compile(r"^(`{3,}).*?^\1", re.M | re.S)
LINK = re.compile(r"\[([^\]]+)\]\(([^)#\s]+\.(?:qmd|ipynb))")


def formulas(markdown: str) -> list[str]:
    """The TeX of all formulas, as pandoc reads them; none is looked for in code and outputs."""
    found = []

    def visit(node):
        if isinstance(node, dict):
            if node.get("t") == "Math":
                found.append(node["c"][1])
            node = list(node.values())
        if isinstance(node, list):
            for child in node:
                visit(child)

    visit(json.loads(pypandoc.convert_text(FENCED.sub("", markdown), "json", "markdown")))
    return found


def unknown(tex: str) -> set[str]:
    """The commands and environments in `tex` that an older pandoc may not know."""
    commands = set(re.findall(r"\\(?:[A-Za-z]+|.)", tex, re.S)) - COMMANDS
    return commands | set(re.findall(r"\\begin\{([^}]*)\}", tex)) - ENVIRONMENTS


def chapter_numbers(chapter):
    """(words, number of the chapter linked to) of each link from `chapter` to a numbered one."""
    for words, target in LINK.findall(chapter.markdown):
        page = PAGES[(chapter.source.parent / target).resolve()]
        if page.number:
            yield words, page.number


def test_formulas_use_what_every_pandoc_knows():
    found = formulas("\n\n".join(chapter.markdown for chapter in CHAPTERS))
    assert len(found) > 1000
    assert {tex: unknown(tex) for tex in found if unknown(tex)} == {}


def test_a_term_is_one_line_after_an_empty_one():
    """Else pandoc reads it and what it means as a part of the paragraph before."""
    for chapter in CHAPTERS:
        text = FENCED.sub("", chapter.markdown)
        terms = re.findall(r"^(.*)\n(.*\S.*)\n:[ \t]", text, re.M)
        assert [term for before, term in terms if before.strip()] == [], chapter.source.name


def test_pages_without_numbers_refer_to_chapters_in_words():
    """There Quarto writes a chapter's title for `@sec-`, not its number."""
    for chapter in CHAPTERS:
        if not chapter.number:
            assert re.findall(r"@sec-[\w-]+", chapter.markdown) == [], chapter.source.name


def test_numbers_written_in_links_are_those_of_the_chapters():
    written = []
    for chapter in CHAPTERS:
        for words, number in chapter_numbers(chapter):
            if found := re.fullmatch(r"(?:Chapter )?(\d+)", words):
                assert found[1] == number, f"{chapter.source.name}: {words}"
                written.append(chapter.source.name)
    assert {"index.qmd", "notation.qmd", "00_start_here.ipynb"} <= set(written)
