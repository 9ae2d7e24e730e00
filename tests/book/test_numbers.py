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

import json
from pathlib import Path

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


# ------------------------------------------------------------------ the test of the test


def found_in(passage: str, shown: str = "", elsewhere: str = "", **labels: str) -> bool:
    here, other = Section([passage], numbers(shown)), Section([], numbers(elsewhere))
    book = Book({"made up": [here, other]}, {k: numbers(v) for k, v in labels.items()})
    return without_source("made up", book) == []


@pytest.mark.parametrize(
    ("passage", "shown"),
    [
        ("It rises to 0.27.", "0.268"),
        ("It rises to .268 here.", "| .268 ±.002 |"),
        ("About 27% of them.", "share 0.268"),
        ("About 27 % of them.", "share 26.8%"),
        ("It loses 0.5 points.", "-0.49"),
        ("There are 1,682 films.", "1682"),
        ("Some 300 users are left.", "298"),
        ("It has 2.7 billion lines.", "2671493210"),
        ("It falls below 0.00001.", "1e-05"),
        ("By 84%<!-- = 1 - 400 / 2500 --> less.", "400 2500"),
        ("With $26 + 57$ it is 73%<!-- = (26 + 57) / (2 * 57) -->.", ""),
        ("In $K = 20$ the 20 films.", ""),
        ("It doubles in about 7,000<!-- = log(2) / log(1 + 10 ** -4) --> steps.", ""),
        ("The paper has .172<!-- from the paper, Table 3 -->.", ""),
        ("It takes 60<!-- from the paper, 5.2 --> iterations.", ""),
        ("<!-- check 99 --> Three of the 10 films, of grade 5, at rank 1.", ""),
        (
            "Section 5.3.3, (10) and (11), Tables 2 and 3, Given 20 or 30, GAP@5, MovieLens 100K.",
            "",
        ),
        ('In 2013 `n=99` and $x = 123$ said "at least 50" (@sec-gap-99).', ""),
    ],
)
def test_a_number_is_found(passage, shown):
    assert found_in(passage, shown)


@pytest.mark.parametrize(
    ("passage", "shown"),
    [
        ("It rises to 0.27.", "0.263"),
        ("It rises to 0.270.", "0.268"),
        ("It is 27 of them.", "0.268"),
        ("5% of them.", "5.6"),
        ("There are 300 users.", "298"),
        ("There are 1,682 films.", "1683 682 1"),
        ("By 85%<!-- = 1 - 400 / 2500 --> less.", "400 2500"),
        ("By 84%<!-- = 1 - 400 / 2500 --> less.", "400"),
        ("By 84%<!-- = 0.84 --> less.", ""),
        ("By 84%<!-- = open('x') --> less.", ""),
        ("The paper has .173<!-- from the paper, Table 3 -->.", ""),
        ("The paper has .172<!-- from the paper, Table 9 -->.", ""),
        ("It takes 60<!-- because --> iterations.", ""),
        ("By 84% <!-- = 1 - 400 / 2500 -->.", "400 2500"),  # a reader would see "84% ."
        ("It has 11 films.", "1 1"),
    ],
)
def test_a_number_without_a_source_is_told(passage, shown):
    assert not found_in(passage, shown)


def test_few_digits_are_looked_for_close_by_only():
    assert not found_in("It rises to 0.27.", elsewhere="0.268")
    assert found_in("It rises to 0.268.", elsewhere="0.268")
    assert found_in("It rises to 0.27 (@tbl-there).", **{"tbl-there": "0.268"})
    assert not found_in("It rises to 0.27 (@tbl-there).", **{"tbl-here": "0.268"})


CELLS = {
    "cells": [
        {
            "cell_type": "markdown",
            "id": "a",
            "metadata": {},
            "source": "## One\n\nOf 744 users 12.",
        },
        {
            "cell_type": "code",
            "id": "b",
            "execution_count": 1,
            "metadata": {},
            "source": '#| label: fig-x\n#| fig-alt: "From 0.04 to 0.2."\nn = 12  # 13\n',
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": "744 users"},
                {
                    "output_type": "display_data",
                    "metadata": {},
                    "data": {"image/png": "", "text/plain": "<Figure>\ny 0.041 0.19"},
                },
            ],
        },
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("users", "users", []),
        ("Of 744", "Of 745", ["745"]),
        ("users 12", "users 13", ["13"]),  # a comment in the code is no setting
        ("to 0.2.", "to 0.3.", ["0.3"]),
        ("y 0.041", "y 0.05", ["0.04"]),
    ],
)
def test_a_made_up_notebook_is_read(tmp_path: Path, old, new, told):
    text = json.dumps(CELLS).replace(old, new)
    (tmp_path / "00_made_up.ipynb").write_text(text, encoding="utf-8")
    wrong = without_source("00_made_up", read_book(tmp_path))
    assert [line.split()[0] for line in wrong] == told
