"""A deck: one page of HTML with its style, faces, scripts, pictures and explorables inside."""

import base64
import re
from pathlib import Path

import yaml

from gapfm_course.explorables.linked import for_page
from preview.formulas import well_set
from preview.notebook import BookError
from preview.pandoc import run_pandoc
from preview.polish import bare
from preview.slides.embed import embedded

HERE = Path(__file__).resolve().parent
PREVIEW = HERE.parent
FOLDER = "slides"  # of the sources, and of the decks in a site
FACE = re.compile(r'url\("(fonts/[^"]+)"\)')
FRONT = re.compile(r"\A---\n(?P<yaml>.*?)\n---\n", re.S)


def decks(root: Path) -> dict[str, str]:
    """file name -> page, of each `slides/*.qmd` of the book at `root`."""
    return {
        path.with_suffix(".html").name: deck(path, root)
        for path in sorted((root / FOLDER).glob("*.qmd"))
    }


def write_decks(pages: dict[str, str], site: Path) -> None:
    """Write `pages`, as `decks` gives them, into the folder of the slides in `site`."""
    (site / FOLDER).mkdir(exist_ok=True)
    for name, page in pages.items():
        (site / FOLDER / name).write_text(page, encoding="utf-8")


def deck(path: Path, root: Path) -> str:
    """The deck of one source. Raises BookError with the file for what it cannot set."""
    source = path.read_text(encoding="utf-8")
    front = FRONT.match(source)
    if not front:
        raise BookError(f"{path.name}: no '---' lines with a title at its head")
    facts = yaml.safe_load(front["yaml"])
    config = yaml.safe_load((root / "_quarto.yml").read_text(encoding="utf-8"))
    settings = {
        "from": "markdown",
        "to": "html5",
        "template": str(HERE / "deck.html"),
        "filters": [str(PREVIEW / "filter.lua")],
        "html-math-method": {"method": "mathml"},
        "section-divs": True,
        "wrap": "none",
        "metadata": {
            "source": path.name,
            "lang": config["lang"],
            "pagetitle": facts["title"],
        },
        "variables": {
            "book-title": config["book"]["title"],
            "style": style(),
            "script": for_page() + (HERE / "deck.js").read_text(encoding="utf-8"),
        },
    }
    page = run_pandoc(settings, embedded(source, root, path.name), path.name)
    # A heading without words is none.
    return bare(well_set(page)).replace("<th></th>", "<td></td>")


def style() -> str:
    """The book's colours and type and the deck's own rules, the faces inside."""
    text = (PREVIEW / "shared.css").read_text(encoding="utf-8")
    text += (HERE / "deck.css").read_text(encoding="utf-8")

    def inside(found: re.Match) -> str:
        face = base64.b64encode((PREVIEW / found[1]).read_bytes()).decode()
        return f'url("data:font/woff2;base64,{face}")'

    return FACE.sub(inside, text)
