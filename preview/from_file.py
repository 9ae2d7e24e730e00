"""What a page of Quarto's needs to be whole when it is opened as a file.

A browser lets such a page load scripts, but no modules, and fetch nothing: Quarto's modules become
plain scripts, and the texts that its search fetches a script that is loaded when they are asked for.
"""

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

from gapfm_course.explorables.linked import EXPORT, IMPORT, OTHER

MODULE = re.compile(
    r'<script src="(?P<path>(?![a-z]+:|//)[^"]+)\.js" type="module"></script>', re.I
)
SEARCH = "search.js"
NAME = "from_file.js"  # what answers Quarto's search there
BEFORE = 12  # signs before a formula's TeX that tell where in a text it stands


def classic(path: Path) -> str:
    """The module at `path` and all it imports as one plain script.

    Raises ValueError for a form of import or export that is not joined.
    """
    return _called(path) + ";\n"


def _called(path: Path) -> str:
    """The module as a function called at once, whose value is what the module exports."""
    source = path.read_text(encoding="utf-8")

    def taken(found: re.Match) -> str:
        names = found["names"].removeprefix("* as ").replace(" as ", ": ")
        return f"const {names} = {_called(path.parent / found['path'])};\n"

    names = ", ".join(found["name"] for found in EXPORT.finditer(source))
    body = EXPORT.sub("", source)
    if odd := OTHER.search(IMPORT.sub("", body)):
        raise ValueError(f"{path.name}: this form is not joined: {odd[0]}")
    body = IMPORT.sub(taken, body)
    return f'(() => {{\n"use strict";\n{body}\nreturn {{ {names} }};\n}})()'


def without_modules(page: str, folder: Path) -> str:
    """`page`, which lies in `folder`, with plain scripts for modules; writes them beside those."""

    def plain(found: re.Match) -> str:
        module = folder / f"{found['path']}.js"
        try:
            script = classic(module)
        except (ValueError, OSError) as error:
            print(f"post-render: not for pages opened as files: {error}", file=sys.stderr)
            return found[0]
        module.with_suffix(".classic.js").write_text(script, encoding="utf-8")
        return f'<script src="{found["path"]}.classic.js" defer></script>'

    return MODULE.sub(plain, page)


def searchable(page: str, root: str) -> str:
    """`page`, whose site begins at the relative address `root`, with the script for its search."""
    if "quarto-search.js" not in page or f'{NAME}"' in page:
        return page
    return page.replace(
        "</head>", f'<script src="{root}{NAME}" data-root="{root}"></script>\n</head>'
    )


def renew_search(site: Path, pages: dict[str, str]) -> None:
    """Take the TeX out of what the search of `site` reads, whose `pages` are {name: page}, and put
    the same into a script. Nothing where there is no such file."""
    index = site / "search.json"
    if not index.is_file():
        return
    documents = json.loads(index.read_text(encoding="utf-8"))
    formulas = {name: _formulas(page) for name, page in pages.items()}
    for document in documents:
        for before, tex in formulas.get(document["href"].partition("#")[0], ()):
            document["text"] = document["text"].replace(before + tex, before)
    text = json.dumps(documents, ensure_ascii=False)
    index.write_text(text, encoding="utf-8")
    (site / SEARCH).write_text(f"bookIndex = {text};\n", encoding="utf-8")
    script = Path(__file__).with_name(NAME)
    (site / NAME).write_bytes(script.read_bytes())


def _formulas(page: str) -> list[tuple[str, str]]:
    """(the text before it, the TeX) of each formula as the search writes them, from the last to the
    first: what stands before one still holds the TeX of those before."""
    reader = _TexReader()
    reader.feed(page)
    escaped = [(_escaped(before), _escaped(tex)) for before, tex in reader.formulas]
    return escaped[::-1]


def _escaped(text: str) -> str:
    return text.replace("<", "&lt;").replace(">", "&gt;")


class _TexReader(HTMLParser):
    """Collect each annotation of a page, and what was read right before."""

    def __init__(self):
        super().__init__()
        self.formulas: list[tuple[str, str]] = []
        self._read = ""
        self._inside = ""

    def handle_starttag(self, tag, attributes):
        if tag in ("annotation", "script", "style"):
            self._inside = tag

    def handle_endtag(self, tag):
        if tag == self._inside:
            self._inside = ""

    def handle_data(self, data):
        if self._inside in ("script", "style"):
            return
        if self._inside:
            self.formulas.append((self._read, data))
        self._read = (self._read + data)[-BEFORE:]
