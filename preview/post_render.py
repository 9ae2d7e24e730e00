"""Quarto's post-render step: take out of every page what would call another host, box what is wide,
set formulas well, make drawings a part of it and it whole when it is opened as a file, bring its
explorables to life, add the slides, and mark the folder of the site as built, which Quarto has emptied
before it renders all.

Quarto adds require.js, jquery or the widget manager from a CDN to any page whose
outputs hold HTML. The pages work without them, and must be readable with no network.
"""

import os
import re
import sys
from pathlib import Path

sys.path.insert(
    0, str(Path(__file__).resolve().parent.parent)
)  # Quarto runs this file alone
from preview import drawings, explorables, from_file
from preview.boxes import boxed
from preview.build_folder import mark
from preview.formulas import well_set
from preview.slides.deck import FOLDER, decks, write_decks

REMOTE = r"""["']?(?:https?:)?//[^>]*"""
SCRIPT = re.compile(rf"<script\b[^>]*\bsrc\s*=\s*{REMOTE}>.*?</script\s*>\s*", re.I | re.S)
LINK = re.compile(rf"<link\b[^>]*\bhref\s*=\s*{REMOTE}>\s*", re.I | re.S)
# What Quarto writes right after jquery and require.js; it fails once they are gone.
DEFINE = re.compile(
    r"<script\b[^>]*>\s*define\('jquery', \[\],function\(\) \{return window\.jQuery;\}\)"
    r"\s*;?\s*</script\s*>\s*"
)
# Quarto 1.8 and later put a box with the button that copies around code, and look for folds without.
FOLDED = '".cell > details > .sourceCode"'
FOLDED_BOXED = '".cell > details > :is(.sourceCode, .code-copy-outer-scaffold)"'


def without_remote_tags(page: str) -> str:
    """Return the page without script and link tags that point to another host."""
    for pattern in (SCRIPT, LINK, DEFINE):
        page = pattern.sub("", page)
    return page


def mended(page: str, path: Path, site: Path) -> str:
    """What Quarto has written to `path` in `site`, with all that this step does; again: the same."""
    root = "../" * (len(path.relative_to(site).parts) - 1)
    page = well_set(boxed(without_remote_tags(page))).replace(FOLDED, FOLDED_BOXED)
    page = drawings.drawn(page, lambda name: (path.parent / name).read_bytes())
    page = from_file.searchable(from_file.without_modules(page, path.parent), root)
    return explorables.alive(page, root)


def main() -> None:
    site = Path(os.environ.get("QUARTO_PROJECT_OUTPUT_DIR", "_site"))
    (site / explorables.NAME).write_bytes(explorables.script())
    pages = {
        path.relative_to(site).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(site.rglob("*.html"))
        if path.parent != site / FOLDER
    }
    from_file.renew_search(site, pages)
    for name, page in pages.items():
        (site / name).write_text(mended(page, site / name, site), encoding="utf-8")
    if os.environ.get("QUARTO_PROJECT_RENDER_ALL"):  # else there is what it did not write
        write_decks(decks(Path.cwd()), site)
        mark(site)
    print(
        f"post-render: {len(pages)} pages call no other host, and can be opened as files",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()
