"""Pages that are in a part of `_quarto.yml`: a heading in the contents of every page."""

import re
from html import escape

import pytest
import yaml
from built_site import BUILT

from preview.build import ROOT


def outline(entries):
    """The parts and addresses of the book's pages, in order."""
    for entry in entries:
        if isinstance(entry, dict):
            yield escape(entry["part"])
            yield from outline(entry["chapters"])
        else:
            yield entry.rpartition(".")[0] + ".html"


@pytest.mark.skipif(bool(BUILT), reason="Quarto has contents of its own")
def test_a_part_is_named_once_above_its_first_page(site_folder):
    config = yaml.safe_load((ROOT / "_quarto.yml").read_text(encoding="utf-8"))
    wanted = list(outline(config["book"]["chapters"]))
    page = (site_folder / "index.html").read_text(encoding="utf-8")
    contents = page[page.index('id="contents"') : page.index("<footer")]
    entries = re.findall(r'<li class="part">([^<]*)|<li><a href="([^"#]+)"', contents)
    found = [part or href for part, href in entries]
    assert found == [entry for entry in wanted if entry in found]
    assert [entry for entry in wanted if not entry.endswith(".html")] == [
        part for part, _ in entries if part
    ]
