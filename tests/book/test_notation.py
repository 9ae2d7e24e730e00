"""The table of notation names code that exists."""

import re
from collections import Counter
from pathlib import Path

from gapfm_teach import GAPfm, Ratings, smooth
from gapfm_teach.lab import experiments
from gapfm_teach.repaired import gap, ranks

ROOT = Path(__file__).resolve().parents[2]
TABLES = (ROOT / "notation.qmd").read_text(encoding="utf-8")
SOURCE = "\n".join(p.read_text(encoding="utf-8") for p in ROOT.glob("gapfm_teach/**/*.py"))


def test_every_name_in_the_table_is_a_word_of_the_package():
    names = set(re.findall(r"`([A-Za-z]\w+)`", TABLES)) - {"gapfm_teach"}
    missing = {name for name in names if not re.search(rf"\b{name}\b", SOURCE)}
    assert len(names) >= 30
    assert not missing


def test_dotted_names_resolve():
    homes = {
        "smooth": smooth,
        "ratings": Ratings([0, 1], [0], [1]),
        "GAPfm": GAPfm,
        "repaired.ranks": ranks,
        "repaired.gap": gap,
        "lab.experiments": experiments,
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
