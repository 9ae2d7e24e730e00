"""`python -m preview.paper pdf`, `epub` or `sheet`: write the book, or its formulas, into `_paper/`."""

import os
import sys
import tempfile
from pathlib import Path

from preview.build import ROOT
from preview.notebook import BookError
from preview.paper.epub import epub
from preview.paper.gather import gather
from preview.paper.pdf import pdf
from preview.paper.sheet import sheet

WRITTEN = {
    "pdf": ("gapfm-teach.pdf", lambda folder: pdf(gather(ROOT, folder))),
    "epub": ("gapfm-teach.epub", lambda folder: epub(gather(ROOT, folder))),
    "sheet": ("formula-sheet.pdf", lambda folder: sheet(ROOT, folder)),
}


def main(what: str) -> None:
    name, made = WRITTEN[what]
    target = ROOT / "_paper" / name
    target.parent.mkdir(exist_ok=True)
    try:
        with tempfile.TemporaryDirectory() as folder:
            content = made(Path(folder))
    except BookError as error:
        sys.exit(f"It was not written: {target.name}\n  {error}")
    fresh = target.with_suffix(".unfinished")
    fresh.write_bytes(content)
    os.replace(fresh, target)
    print(f"{target.relative_to(ROOT)}: {len(content) / 1e6:.1f} MB")


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in WRITTEN:
        sys.exit(f"usage: python -m preview.paper {'|'.join(WRITTEN)}")
    main(sys.argv[1])
