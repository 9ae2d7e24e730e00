"""A part of `_quarto.yml` is a heading in the contents of every page."""

import re
from html import escape
from pathlib import Path

import pytest
import yaml
from built_site import BUILT

from preview.build import ROOT


@pytest.mark.skipif(bool(BUILT), reason="Quarto has contents of its own")
def test_a_part_is_named_once_above_its_first_page(site_folder):
    config = yaml.safe_load((ROOT / "_quarto.yml").read_text(encoding="utf-8"))
    [part] = [entry for entry in config["book"]["chapters"] if isinstance(entry, dict)]
    for path in site_folder.glob("*.html"):
        if path.name == "404.html":  # has no contents
            continue
        page = path.read_text(encoding="utf-8")
        contents = page[page.index('id="contents"') : page.index("<footer")]
        entries = re.findall(r'<li class="part">([^<]*)|<li><a href="([^"#]+)"', contents)
        assert [name for name, _ in entries if name] == [escape(part["part"])]
        after = entries[entries.index((escape(part["part"]), "")) + 1 :]
        stems = [Path(href).stem for _, href in after]
        assert stems == [Path(chapter).stem for chapter in part["chapters"]]
