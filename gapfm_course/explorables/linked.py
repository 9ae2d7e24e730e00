"""The scripts of this folder joined into one, since a page opened as a file imports none.

Every module becomes a function that returns what it exports; an import takes from what such a
function has returned. So each keeps its own names, and all stay plain modules to a test or an
editor.
"""

import json
import re
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
IMPORT = re.compile(
    r'^import (?P<names>\{[^}]*\}|\* as \w+) from "(?P<path>[^"]+)";\n', re.M
)
EXPORT = re.compile(
    r"^export (?=(?:async function|function|class|const) (?P<name>\w+))", re.M
)
OTHER = re.compile(r"^(?:import|export)\b.*", re.M)

VIEWS = tuple(sorted(path.stem for path in (HERE / "views").glob("*.js")))


def for_page() -> str:
    """A classic script that brings every explorable of a page to life, its style included."""
    return f"(() => {{\n{_joined(VIEWS)}{_styled()}modules.mount.mountAll(views);\n}})();\n"


@cache
def for_notebook(view: str) -> str:
    """An ES module for one view, as anywidget takes it. Raises ValueError for an unknown view."""
    if view not in VIEWS:
        raise ValueError(f"no view is called {view!r}; there are {', '.join(VIEWS)}")
    return f"{_joined((view,))}export default modules.mount.widget(views);\n"


def style() -> str:
    """The style sheet of all explorables."""
    return (HERE / "explorable.css").read_text(encoding="utf-8")


def _styled() -> str:
    text = json.dumps(style())
    return f"document.head.append(modules.kit.make('style', {{}}, {text}));\n"


def _joined(views: tuple[str, ...]) -> str:
    """`modules` by name, and `views` by name, with all they import before them."""
    order: list[Path] = []
    for path in (HERE / "mount.js", HERE / "kit.js", *(_view(name) for name in views)):
        _visit(path, order)
    parts = ["const sources = {}, modules = {};\n", *map(_wrapped, order)]
    table = ", ".join(f"{name}: modules.{_name(_view(name))}.view" for name in views)
    return "".join(parts) + f"const views = {{ {table} }};\n"


def _view(name: str) -> Path:
    return HERE / "views" / f"{name}.js"


def _name(path: Path) -> str:
    return path.relative_to(HERE).with_suffix("").as_posix().replace("/", "_")


def _visit(path: Path, order: list[Path]) -> None:
    """Append `path` to `order`, after what it imports."""
    if path in order:
        return
    source = path.read_text(encoding="utf-8")
    for found in IMPORT.finditer(source):
        _visit((path.parent / found["path"]).resolve(), order)
    order.append(path)


def _wrapped(path: Path) -> str:
    """The module as a function, called at once; it stays in `sources`, whose text workers run."""
    source = path.read_text(encoding="utf-8")

    def taken(found: re.Match) -> str:
        place = f"modules.{_name((path.parent / found['path']).resolve())}"
        names = found["names"]
        if names.startswith("*"):
            return f"const {names.removeprefix('* as ')} = {place};\n"
        return f"const {names.replace(' as ', ': ')} = {place};\n"

    exported = [found["name"] for found in EXPORT.finditer(source)]
    body = EXPORT.sub("", IMPORT.sub(taken, source))
    if odd := OTHER.search(body):
        raise ValueError(f"{path.name}: this form is not joined: {odd[0]}")
    function = f"function () {{\n{body}return {{ {', '.join(exported)} }};\n}}"
    return f"sources.{_name(path)} = {function};\nmodules.{_name(path)} = sources.{_name(path)}();\n"
