"""Pages for teachers, the glossary and the formula sheet say what the chapters say."""

import re
from contextlib import closing
from itertools import pairwise

import pypdfium2
import pytest
from prose_numbers import ROOT, claims, passages, read_book, rounds_to
from test_sources import CHAPTERS, formulas

from preview.paper.sheet import sheet

PAGES = {path.name: path.read_text("utf-8") for path in ROOT.glob("pages/*.qmd")}
TEACHERS = ("teaching.qmd", "teaching-notes.qmd", "projects.qmd")
NOTEBOOKS = {
    chapter.source.name: chapter.markdown
    for chapter in CHAPTERS
    if chapter.source.suffix == ".ipynb"
}
LINK = re.compile(r"\]\(../notebooks/(?P<chapter>[\w.]+)#(?P<place>[\w-]+)")
DISPLAYED = re.compile(r"\$\$((?:(?!\$\$).)+)\$\$", re.S)


def normal(tex: str) -> str:
    """`tex` without what only moves signs about, and without the full stop of a sentence."""
    return re.sub(r"\\[,;!:]|\s", "", tex).rstrip(".,")


# ------------------------------------------------------------------ for teachers


@pytest.mark.parametrize("name", TEACHERS)
def test_a_result_on_a_teachers_page_is_shown_in_the_chapter_linked_beside_it(name):
    """Planned minutes, points and questions are whole numbers; results are fractions or shares."""
    found = [
        f"{number.text}  in: {passage}"
        for passage in passages(PAGES[name])
        for number, *_ in claims(passage)
        if "." in number.text or number.percent
        if not any(rounds_to(value, number) for value in shown_beside(passage))
    ]
    assert found == []


def shown_beside(passage: str) -> list[float]:
    """What is shown by the chapter that `passage` links to first; nothing where there is no link."""
    place = LINK.search(passage)
    if not place:
        return []
    chapter = read_book().chapters[place["chapter"].removesuffix(".ipynb")]
    return [value for section in chapter for value in section.shown]


def test_every_question_of_the_notes_has_its_answer():
    rows = re.findall(r"^\| (?!Ask|:|the same)(.*?) \|", PAGES["teaching-notes.qmd"], re.M)
    assert len(rows) > 50
    assert [row for row in rows if not re.search(r" \*[^*]+\*$", row)] == []


def test_minutes_follow_each_other_through_both_sessions():
    rows = re.findall(r"^\| (\d+)–(\d+) \|", PAGES["teaching.qmd"], re.M)
    spans = [(int(begin), int(end)) for begin, end in rows]
    sessions = [k for k, (begin, _) in enumerate(spans) if begin == 0]
    assert len(sessions) == 2
    for first, last in zip(sessions, [*sessions[1:], len(spans)], strict=True):
        session = spans[first:last]
        assert session[-1][1] == 85
        assert all(a[1] == b[0] for a, b in pairwise(session))


def test_there_are_notes_on_every_chapter_with_polls():
    parts = re.split(r"^## ", PAGES["teaching-notes.qmd"], flags=re.M)[1:]
    assert [
        re.search(r"\]\(../notebooks/([\w.]+)\): \d+ minutes", part)[1] for part in parts
    ] == [*NOTEBOOKS]
    for part in parts:
        assert len(re.findall(r"^\| (?!Ask|:)", part, re.M)) >= 4, part[:40]
        for word in ("**Stuck**", "**Say**"):
            assert word in part, part[:40]


def test_ten_questions_are_asked_and_answered():
    asked, *rest = PAGES["teaching.qmd"].split("## Ten questions")[1:]
    assert not rest
    folds = re.findall(r"<summary>Answers</summary>(.*?)</details>", asked, re.S)
    answers = [int(n) for fold in folds for n in re.findall(r"^(\d+)\. ", fold, re.M)]
    outside = re.sub(r"<details.*?</details>", "", asked, flags=re.S)
    questions = [int(n) for n in re.findall(r"^(\d+)\. ", outside, re.M)]
    assert questions == answers == list(range(1, 11))


# ------------------------------------------------------------------ glossary


def test_words_of_the_glossary_are_words_of_the_chapter_that_introduces_them():
    found = re.findall(
        r"^\[([^\]]+)\]\(../notebooks/([\w.]+)#([\w-]+)\)\n: ", PAGES["glossary.qmd"], re.M
    )
    words = [word for word, *_ in found]
    assert len(words) >= 40
    assert words == sorted(words, key=str.lower)
    for word, chapter, _ in found:
        text = " ".join(NOTEBOOKS[chapter].split())
        assert re.search(rf"(?i)\b{re.escape(word)}", text), f"{word} is not in {chapter}"


# ------------------------------------------------------------------ formula sheet


def test_formulas_of_the_sheet_are_those_of_the_chapters():
    chapters = "\n\n".join(NOTEBOOKS.values())
    displayed = {normal(tex) for tex in DISPLAYED.findall(chapters)}
    page = PAGES["formula-sheet.qmd"]
    entries = re.findall(
        r"(?m)^(?P<words>[^\n]*)\n\$\$\n(?P<tex>(?:(?!\$\$).)+)\$\$", page, re.S
    )
    assert len(entries) == len(DISPLAYED.findall(page)) > 20
    foreign = [tex for _, tex in entries if normal(tex) not in displayed]
    # (1) stands in a line of text everywhere.
    assert [normal(tex) for tex in foreign] == [
        normal(r"f_{mi} = \langle U_m, V_i \rangle")
    ]
    assert normal(foreign[0]) in {normal(tex) for tex in formulas(chapters)}


def test_a_formula_of_the_sheet_is_linked_to_its_own_place():
    for words, tex in re.findall(
        r"(?m)^([^\n]*)\n\$\$\n((?:(?!\$\$).)+)\$\$", PAGES["formula-sheet.qmd"]
    ):
        place = LINK.search(words)
        assert place, words
        if place["place"].startswith("eq-"):
            own = re.search(
                rf"\$\$((?:(?!\$\$).)+)\$\$ \{{#{place['place']}\}}",
                NOTEBOOKS[place["chapter"]],
                re.S,
            )
            assert normal(own[1]) == normal(tex), words


def test_all_numbered_equations_of_the_paper_stand_on_the_sheet():
    begun = re.findall(r"^\((\d+)\)", PAGES["formula-sheet.qmd"], re.M)
    assert [int(number) for number in begun] == list(range(1, 12))


@pytest.mark.processes
def test_the_sheet_is_one_page_with_all_that_is_on_it(tmp_path):
    with closing(pypdfium2.PdfDocument(sheet(ROOT, tmp_path))) as document:
        assert len(document) == 1
        width, height = document[0].get_size()
        assert (round(width), round(height)) == (595, 842)  # A4 in points
        text = document[0].get_textpage()
        printed = " ".join(text.get_text_bounded().split())
        lowest = min(text.get_rect(i)[1] for i in range(text.count_rects()))
        right = max(text.get_rect(i)[2] for i in range(text.count_rects()))
    assert lowest > 15
    assert right < width - 15
    titles = re.findall(r"^## ([^{]+) \{", PAGES["formula-sheet.qmd"], re.M)
    assert len(titles) == 5
    assert [title for title in titles if title not in printed] == []
    assert [n for n in range(1, 12) if f"({n})" not in printed] == []
