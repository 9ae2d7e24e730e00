"""What CONTRIBUTING says about the code, as far as it can be checked."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PATHS = sorted(set(re.findall(r"`((?:[\w.-]+/)+[\w.-]*)`", TEXT)))


@pytest.mark.parametrize("path", PATHS)
def test_every_path_exists(path):
    assert (ROOT / path).exists()


def test_the_map_names_every_part_of_the_packages():
    start = TEXT.index("## A module")
    map_of_code = TEXT[start : TEXT.index("Imports point", start)]
    parts = {
        part.name.removesuffix(".py")
        for package in ("gapfm_teach", "gapfm_lab", "gapfm_course")
        for part in (ROOT / package).iterdir()
        if not part.name.startswith(("_", "chapter_")) and part.name != "py.typed"
    }
    words = set(re.findall(r"\w+", map_of_code))
    assert not parts - words - SMALL


# A file of one idea that nothing else needs to know of.
SMALL = {"catalogue", "html_tables", "paper", "result_files", "versions", "worker_killer"}
