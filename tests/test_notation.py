"""The table of notation names code that exists."""

import re
from pathlib import Path

from gapfm_teach import GAPfm, Ratings, smooth

ROOT = Path(__file__).resolve().parent.parent
TABLES = (ROOT / "notation.qmd").read_text(encoding="utf-8")
SOURCE = "\n".join(p.read_text(encoding="utf-8") for p in ROOT.glob("gapfm_teach/**/*.py"))


def test_every_name_in_the_table_is_a_word_of_the_package():
    names = set(re.findall(r"`([A-Za-z]\w+)`", TABLES)) - {"gapfm_teach"}
    missing = {name for name in names if not re.search(rf"\b{name}\b", SOURCE)}
    assert len(names) >= 30
    assert not missing


def test_dotted_names_resolve():
    ratings = Ratings([0, 1], [0], [1])
    homes = {"smooth": smooth, "ratings": ratings, "GAPfm": GAPfm}
    dotted = re.findall(r"`(smooth|ratings|GAPfm)\.(\w+)", TABLES)
    assert len(dotted) > 5
    missing = [f"{home}.{name}" for home, name in dotted if not hasattr(homes[home], name)]
    assert not missing


def test_every_numbered_equation_of_the_paper_stands_in_it():
    column = " ".join(
        row.split("|")[4] for row in TABLES.splitlines() if row.startswith("| ")
    )
    assert {int(n) for n in re.findall(r"\((\d+)\)", column)} == set(range(1, 12))
