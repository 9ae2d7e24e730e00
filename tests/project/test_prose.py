"""Habits that the course's language has dropped do not come back.

Read are all words for readers: Markdown cells, captions and alternative texts of notebooks, the
pages, slides, README and CONTRIBUTING. Mathematics, code, quotations and links are left out. Each
pattern is a habit that made readers stumble, with what to write instead; a pattern that a good
sentence can meet is not in the list.
"""

import re

import nbformat
import pytest
from prose_numbers import ROOT

HABITS = {
    r"\bwhoever\b": "if you … / anybody who …",
    r"\b(?:she|hers?|herself)\b": "they, their",
    r"\bthat one wants\b|\bone (?:knows|asks|walks)\b": "you, we",
    r"\bmend(?:s|ed|ing)?\b": "fix, correct",
    r"\bamiss\b": "wrong",
    r"\bby lot\b|\bdrawing lots\b": "at random",
    r"\bputting back\b": "with replacement",
    r"\bbeamers?\b": "projector",
    r"\bin (?:the|its|their) place of\b": "instead of",
    r"\btaken up\b|\btakes? up again\b": "resumed",
    r"\bhangs? on\b": "depends on",
    r"\bleaves? (?:0|zero) out\b|\bholds? (?:0|zero)\b": "excludes 0, includes 0",
    r"\bworth nothing\b|\bearns? nothing\b": "makes no difference",
    r"\bput(?:s|ting)? beside\b": "compare with",
    r"\btold apart from\b": "distinguishable from",
    r"\btakes? along\b": "take away, remember",
    r"\bmay the\b[^.]*\?": "does the …?",
    r"\b(?:stands?|lies?) (?:in|on|under|behind|beside|next to) (?:the|a|an|its|@)": "is, appears",
    r"\bthe more[^.,;]{1,40} the (?:more|harder|better)\b[^,]*$": "whole sentence with a verb",
    r"\bis so\b(?! \w+ (?:that|as))": "works this way",
    r"\bno (?:friend|number|matter) of\b": "not …",
}
LEFT_OUT = re.compile(
    r"^```.*?^```|\$\$.*?\$\$|\$[^$]*\$|`[^`]*`|<!--.*?-->|\]\([^)]*\)|\"[^\"]*\"|“[^”]*”|<[^>]*>",
    re.MULTILINE | re.DOTALL,
)
OPTION = re.compile(r"^#\| (?:fig-cap|fig-alt|tbl-cap): (.*)$", re.MULTILINE)


def sources():
    """(name, text) of everything that is checked."""
    for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        words = [c.source for c in cells if c.cell_type == "markdown"]
        words += [line for c in cells for line in OPTION.findall(c.source)]
        yield path.stem, "\n\n".join(words)
    pages = [*(ROOT / "pages").glob("*.qmd"), *(ROOT / "slides").glob("*.qmd")]
    pages = [page for page in sorted(pages) if page.name != "api.qmd"]
    for path in [ROOT / "index.qmd", *pages, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
        yield path.name, path.read_text(encoding="utf-8")


def found(text: str) -> list[str]:
    plain = " ".join(LEFT_OUT.sub(" ", text).split())
    return [
        f"…{plain[max(0, hit.start() - 40) : hit.end() + 30]}…: write {better}"
        for habit, better in HABITS.items()
        for hit in re.finditer(habit, plain, re.IGNORECASE)
    ]


@pytest.mark.parametrize(
    ("name", "text"), [*sources()], ids=[name for name, _ in sources()]
)
def test_dropped_habits_stay_dropped(name, text):
    assert found(text) == [], name


def test_each_habit_is_recognised():
    bad = "Whoever knows her list finds 0 in its place of and the interval leaves 0 out."
    assert len(found(bad)) == 4
    assert found("Anybody who knows the list will see that the interval excludes 0.") == []
