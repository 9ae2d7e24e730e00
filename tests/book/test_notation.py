"""The table of notation names code that exists, and no letter takes a meaning it does not say."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from gapfm_lab import experiments
from gapfm_teach import GAPfm, Ratings, paper
from gapfm_teach.consistent import gap, ranks

ROOT = Path(__file__).resolve().parents[2]
TABLES = (ROOT / "pages/notation.qmd").read_text(encoding="utf-8")
SOURCE = "\n".join(p.read_text(encoding="utf-8") for p in ROOT.glob("gapfm_*/**/*.py"))


def test_every_name_in_the_table_is_a_word_of_the_package():
    names = set(re.findall(r"`([A-Za-z]\w+)`", TABLES)) - {"gapfm_teach"}
    missing = {name for name in names if not re.search(rf"\b{name}\b", SOURCE)}
    assert len(names) >= 30
    assert not missing


def test_dotted_names_resolve():
    homes = {
        "paper": paper,
        "ratings": Ratings([0, 1], [0], [1]),
        "GAPfm": GAPfm,
        "consistent.ranks": ranks,
        "consistent.gap": gap,
        "gapfm_lab.experiments": experiments,
    }
    dotted = re.findall(rf"`({'|'.join(homes)})\.(\w+)", TABLES)
    assert {home for home, _ in dotted} == set(homes)
    missing = [f"{home}.{name}" for home, name in dotted if not hasattr(homes[home], name)]
    assert not missing


def test_every_numbered_equation_of_the_paper_stands_in_it():
    column = " ".join(
        row.split("|")[4] for row in TABLES.splitlines() if row.startswith("| ")
    )
    assert {int(n) for n in re.findall(r"\((\d+)\)", column)} == set(range(1, 12))


def test_a_symbol_has_one_meaning_or_stands_among_those_that_have_two():
    meanings, _, letters = TABLES.partition("## Letters that mean two things")
    found = [
        symbol
        for row in re.findall(r"^\| ([^|]*\$[^|]*)", meanings, re.MULTILINE)
        for symbol in set(re.findall(r"\$([^$]+)\$", row))
    ]
    twice = {symbol for symbol, times in Counter(found).items() if times > 1}
    said = set(
        re.findall(
            r"\$([^$]+)\$", " ".join(re.findall(r"^\| ([^|]+)", letters, re.MULTILINE))
        )
    )
    assert len(found) >= 50
    assert twice
    assert twice <= said


# Letters in the chapters

CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.M | re.S)
MATHEMATICS = re.compile(r"\$\$(.+?)\$\$|\$([^$]+?)\$", re.S)
WORDS = re.compile(r"\\(?:text|mathrm|operatorname|mathit)\{[^}]*\}")


def chapters_with(symbol: str) -> set[int]:
    """The chapters in whose formulas a letter stands, with any index or with none."""
    letter = re.compile(rf"(?<![A-Za-z\\]){re.escape(symbol)}(?![A-Za-z])")
    found = set()
    for path in (ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        prose = "\n".join(
            "".join(c["source"]) for c in cells if c["cell_type"] == "markdown"
        )
        formulas = " ".join(map("".join, MATHEMATICS.findall(CODE.sub("", prose))))
        if letter.search(WORDS.sub("", formulas)):
            found.add(int(path.name[:2]))
    return found


def chapters_named(words: str) -> set[int]:
    """The chapters in "chapter 2" and "chapters 4, 5 and 6"."""
    lists = re.findall(r"chapters? ((?:\d+(?:, | and )?)+)", words)
    return {int(number) for one in lists for number in re.findall(r"\d+", one)}


def rows_with(words: str) -> dict[str, str]:
    """{symbol: row} of the rows of all tables in which `words` is found."""
    rows = re.findall(r"^\| \$([^$]+)\$ \| (.*)$", TABLES, re.MULTILINE)
    return {symbol: row for symbol, row in rows if re.search(words, row)}


ALONE = rows_with("in that chapter alone")
# Where the page says of each meaning in which chapters: what it does not say is not allowed.
SEVERAL = {s: row for s, row in rows_with(r"chapters? \d[^|]*\|[^|]*chapter").items()}


def test_the_page_has_letters_of_both_kinds():
    assert {"h", r"\chi"} <= set(ALONE)
    assert {"c", "p", "L", "C"} <= set(SEVERAL)


@pytest.mark.parametrize(("symbol", "row"), ALONE.items(), ids=ALONE)
def test_a_letter_of_one_chapter_stands_in_no_other(symbol, row):
    assert chapters_with(symbol) == {int(re.search(r"\[(\d+)\]\(\.\./notebooks", row)[1])}


@pytest.mark.parametrize(("symbol", "row"), SEVERAL.items(), ids=SEVERAL)
def test_a_letter_means_something_only_where_the_page_says_what(symbol, row):
    assert chapters_with(symbol) <= chapters_named(row)


def test_what_a_user_is_called_has_two_items_below_it_for_one_thing_only():
    """`m_{ij}` and its like: the slope of a measure, from chapter 9 on."""
    assert chapters_with("m_{ij}") <= {9, 10}
    assert chapters_with("p_{ij}") == set()
