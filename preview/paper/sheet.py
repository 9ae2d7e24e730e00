"""The formula sheet: the page `pages/formula-sheet.qmd` on one page of A4, through Typst."""

import json
import shutil
from pathlib import Path

import yaml

from preview.build import read_chapters
from preview.paper.gather import HERE, read
from preview.paper.pdf import compiled, given, to_typst

NAME = "formula-sheet.qmd"


def sheet(root: Path, folder: Path) -> bytes:
    """The PDF of the book at `root`, made in `folder`; tagged, as the volume is."""
    config = yaml.safe_load((root / "_quarto.yml").read_text(encoding="utf-8"))
    citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    [page] = [c for c in read_chapters(root, config) if c.source.name == NAME]
    facts = {
        "title": page.title,
        "subtitle": f"{config['book']['title']}. CC BY 4.0",
        "language": config["lang"],
    }
    authors = [author["name"] for author in citation["authors"]]
    document = json.dumps(read(page, "", "", root))
    body = to_typst(document, NAME, "sheet.lua", "typst.lua")
    for name in ("book.typ", "sheet.typ"):
        shutil.copy(HERE / name, folder)
    head = f'#import "sheet.typ": *\n#show: sheet.with({given(facts, authors)})\n'
    return compiled(folder / "main.typ", head + body)
