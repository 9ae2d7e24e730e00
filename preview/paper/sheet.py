"""The formula sheet: the page `pages/formula-sheet.qmd` on one page of A4, through Typst."""

import json
import shutil
from pathlib import Path

import yaml

from preview.build import read_chapters
from preview.pandoc import run_pandoc
from preview.paper.gather import HERE, read
from preview.paper.pdf import compiled, given

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
    arguments = ["--from", "json", "--to", "typst", "--wrap=preserve", "--fail-if-warnings"]
    for name in ("sheet.lua", "typst.lua"):
        arguments += ["--lua-filter", str(HERE / name)]
    body = run_pandoc(arguments, json.dumps(read(page, "", "", root)), NAME)
    for name in ("book.typ", "sheet.typ"):
        shutil.copy(HERE / name, folder)
    head = f'#import "sheet.typ": *\n#show: sheet.with({given(facts, authors)})\n'
    return compiled(folder / "main.typ", head + body)
