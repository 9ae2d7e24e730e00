"""What a slide shows of a chapter, taken from its notebook by label, so that the two cannot drift.

`{{< embed notebooks/03_gradients.ipynb#label >}}` on a line of its own becomes an equation
(`eq-`), the output of a figure's or a table's cell (`fig-`, `tbl-`), a table written in the text, or an explorable, whose
view's name is its label. The path is that from the book's root.
"""

import base64
import json
import re
from functools import cache
from pathlib import Path

from preview.explorables import WHOLE
from preview.notebook import BookError, raw_html, shown

EMBED = re.compile(r"^\{\{< embed (?P<path>\S+?)#(?P<label>[\w-]+) >\}\}$", re.M)
EQUATION = r"\$\$((?:(?!\$\$).)+)\$\$ \{{#{label}\}}"
TABLE = r"((?:^\|.*\n)+)\n: .*\{{#{label}\}}$"
IMAGE = re.compile(r"\]\((?P<name>[^)]+)\)")
TYPES = {".png": "image/png", ".svg": "image/svg+xml", ".jpg": "image/jpeg"}


def embedded(markdown: str, root: Path, where: str) -> str:
    """`markdown` with all that it embeds put in. Raises BookError for what is not there."""

    def put_in(found: re.Match) -> str:
        path, label = root / found["path"], found["label"]
        if not path.is_file():
            raise BookError(f"{where}: {found['path']} does not exist")
        content = taken(path, label)
        if content is None:
            raise BookError(f"{where}: {found['path']} has nothing that is called {label}")
        return content

    return EMBED.sub(put_in, markdown)


def taken(path: Path, label: str) -> str | None:
    """What is called `label` in a notebook, as Markdown; None where nothing is."""
    cells = read(path)
    kind = label.partition("-")[0]
    if kind == "eq":
        return equation(cells, label)
    if kind in ("fig", "tbl"):
        return picture(path, label) or written_table(cells, label)
    return explorable(cells, label)


@cache
def read(path: Path) -> list[dict]:
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def equation(cells: list[dict], label: str) -> str | None:
    found = re.search(EQUATION.format(label=re.escape(label)), text_of(cells), re.S)
    return f"$${found[1]}$$" if found else None


def written_table(cells: list[dict], label: str) -> str | None:
    found = re.search(TABLE.format(label=re.escape(label)), text_of(cells), re.M)
    return found[1] if found else None


def text_of(cells: list[dict]) -> str:
    return "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


def picture(path: Path, label: str) -> str | None:
    """The labelled output without its caption, which a slide says in its own words; images inside."""
    files: dict[str, bytes] = {}
    content = shown(path, label, files)
    if content is None:
        return None

    def inside(found: re.Match) -> str:
        name = found["name"]
        data = base64.b64encode(files[name]).decode()
        return f"](data:{TYPES[Path(name).suffix]};base64,{data})"

    return IMAGE.sub(inside, content) if files else content


def explorable(cells: list[dict], view: str) -> str | None:
    for cell in cells:
        for output in cell.get("outputs", []):
            html = "".join(output.get("data", {}).get("text/html", ""))
            found = WHOLE.search(html)
            if found and found["view"] == view:
                return raw_html(found[0])
    return None
