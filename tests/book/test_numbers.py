"""Every number in the prose comes from somewhere.

Read are the markdown cells of each notebook, the captions and alternative texts of its figures and
tables, and README.md. A number counts as found when it is, rounded to the digits printed ("27%" for
.268; "about 300" for 298, since it says so),

- in an output or a setting (a number in the code) of the same section, that is between the same two
  headings `##`, or of what the paragraph refers to by `@tbl-…`, `@fig-…`, `@sec-…`. An output is
  text, a table, the words that go with a figure (`describe_figure`), a widget as it first stands;
- if it has three digits or more: anywhere in the notebook, in a file of `results/` that it reads, or
  in what a widget says at other settings. (Of numbers with one digit or two a file holds them all.)

README.md has the lowest and highest versions in `pyproject.toml` and `environment.yml` behind it.

What is calculated from numbers, or said by the paper, has a comment behind it, and the comment is
checked: `84%<!-- = 1 - 400 / 2500 -->`, where the numbers of the arithmetic must themselves be found
or stand in the paragraph, and `.172<!-- from the paper, Table 3 -->`.

Nothing is asked of

- numbers in words ("two", "a third"), and whole numbers to 10, which count or name ("3 films",
  "grade 5", "rank 1");
- code, mathematics, headings, links, references and what another says, in quotation marks;
- a whole number below 100 that the paragraph's own mathematics or code sets ("$K = 20$ … the 20");
- places and names: section 4.3, Table 2, (10), Given 50, GAP@5, 100K, a year, minutes to read.
"""

import pytest
from prose_numbers import (
    ROOT,
    Book,
    Section,
    numbers,
    passages,
    read_book,
    untraced,
)

CHAPTERS = sorted(path.stem for path in (ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))


def without_source(chapter: str, book: Book) -> list[str]:
    return [
        f"{number}  in: {' '.join(passage.split())}"
        for section in book.chapters[chapter]
        for passage in section.passages
        for number in untraced(passage, chapter, section, book)
    ]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_number_of_a_chapter_is_shown_in_it(chapter):
    assert without_source(chapter, read_book()) == []


def test_each_number_of_the_readme_has_a_source():
    def text(name: str) -> str:
        return (ROOT / name).read_text(encoding="utf-8")

    behind = numbers(text("pyproject.toml") + text("environment.yml"))
    book = Book({"README": [Section(passages(text("README.md")), behind)]})
    assert without_source("README", book) == []


def test_a_number_without_a_source_is_told():
    shown = Section(["It rises from 0.27 to 0.31."], numbers("0.268 0.302"))
    told = without_source("made up", Book({"made up": [shown]}))
    assert [line.split()[0] for line in told] == ["0.31"]
