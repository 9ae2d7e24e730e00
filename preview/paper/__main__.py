"""`python -m preview.paper pdf` or `epub`: write the book into `_paper/`."""

import os
import sys
import tempfile
from pathlib import Path

from preview.build import ROOT
from preview.notebook import BookError
from preview.paper.epub import epub
from preview.paper.gather import gather
from preview.paper.pdf import pdf

FORMATS = {"pdf": pdf, "epub": epub}


def main(form: str) -> None:
    target = ROOT / "_paper" / f"gapfm-teach.{form}"
    target.parent.mkdir(exist_ok=True)
    try:
        with tempfile.TemporaryDirectory() as folder:
            content = FORMATS[form](gather(ROOT, Path(folder)))
    except BookError as error:
        sys.exit(f"The book was not written.\n  {error}")
    fresh = target.with_suffix(".unfinished")
    fresh.write_bytes(content)
    os.replace(fresh, target)
    print(f"{target.relative_to(ROOT)}: {len(content) / 1e6:.1f} MB")


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in FORMATS:
        sys.exit(f"usage: python -m preview.paper {'|'.join(FORMATS)}")
    main(sys.argv[1])
