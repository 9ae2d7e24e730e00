"""A stored notebook as pandoc Markdown, read the way Quarto reads it. Nothing is run."""

import base64
import html
import json
import re
from pathlib import Path

import yaml

OPTIONS = {
    "label": str,
    "fig-cap": str,
    "fig-alt": str,
    "tbl-cap": str,
    "code-fold": bool,
    "code-summary": str,
    "echo": bool,
    "output": bool,
    "include": bool,
    "warning": bool,
}
# The richest form wins, as in Quarto.
MIME_ORDER = (
    "text/html",
    "text/markdown",
    "text/latex",
    "image/svg+xml",
    "image/png",
    "image/jpeg",
    "text/plain",
)
SUFFIX = {"image/svg+xml": "svg", "image/png": "png", "image/jpeg": "jpg"}
WIDGET = "application/vnd.jupyter.widget-view+json"
# What is saved while one works in JupyterLab is not always what is meant for a page.
REMEDY = (
    "`make notebooks` stores what a page needs and keeps your changes; `git checkout` of that "
    "notebook gives them up"
)
ANSI = re.compile(r"\x1b\[[0-9;]*m")


class BookError(Exception):
    """Something in a source file that this renderer cannot set: file, cell, what."""


def notebook_markdown(path: Path, files: dict[str, bytes]) -> str:
    """Return the notebook as Markdown and put its images into `files` (name -> bytes).

    Cells are counted from 1; a comment `<!--cell N-->` before each tells the filter where
    it is. Raises BookError for an unknown
    option, a failed or an unexecuted cell.
    """
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join(
        raw_html(f"<!--cell {number}-->") + "\n\n" + _cell(cell, path, number, files)
        for number, cell in enumerate(cells, start=1)
    )


def shown(path: Path, label: str, files: dict[str, bytes]) -> str | None:
    """The one output of the cell labelled `label`, as Markdown without a caption; its image in `files`.

    None where no cell has that label. Raises BookError as `notebook_markdown` does.
    """
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    for number, cell in enumerate(cells, start=1):
        source, where = _text(cell["source"]), f"{path.name}, cell {number}"
        if cell["cell_type"] != "code" or f"#| label: {label}\n" not in source:
            continue
        options, _ = cell_options(source, where)
        outputs = [o for o in cell["outputs"] if o["output_type"] != "stream"]
        if len(outputs) != 1:
            raise BookError(
                f"{where}: {label} has {len(outputs)} outputs, a slide shows one"
            )
        return _display(outputs[0], options, where, f"{path.stem}_files/{label}", files)
    return None


def raw_html(text: str) -> str:
    return fenced(text, "{=html}")


def fenced(text: str, attributes: str) -> str:
    """A fence longer than any run of backticks inside it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{attributes}\n{text}\n{fence}"


def _cell(cell: dict, path: Path, number: int, files: dict[str, bytes]) -> str:
    where = f"{path.name}, cell {number}"
    source = _text(cell["source"])
    if cell["cell_type"] == "markdown":
        return source
    if cell["cell_type"] != "code":
        raise BookError(f"{where}: a {cell['cell_type']} cell; use Markdown or code")
    options, code = cell_options(source, where)
    if code and cell.get("execution_count") is None:
        raise BookError(f"{where}: not executed; {REMEDY}")
    # Outputs are read even where they are hidden, so that a failure never hides.
    outputs = _outputs(
        cell["outputs"], options, where, f"{path.stem}_files/cell-{number}", files
    )
    if not options.get("include", True):
        return ""
    parts = [_code(code, options)] if options.get("echo", True) and code else []
    parts += outputs if options.get("output", True) else []
    return "\n\n".join(["::: {.cell}", *parts, ":::"]) if parts else ""


def cell_options(source: str, where: str) -> tuple[dict, str]:
    """Split a code cell into its `#|` options and its code."""
    lines = source.splitlines()
    n_options = next((i for i, s in enumerate(lines) if not s.startswith("#|")), len(lines))
    try:
        options = yaml.safe_load("\n".join(s[2:] for s in lines[:n_options])) or {}
    except yaml.YAMLError as error:
        raise BookError(f"{where}: the #| lines are not YAML ({error})") from error
    for key, value in options.items():
        if key not in OPTIONS:
            raise BookError(
                f"{where}: unknown option '#| {key}'; known: {', '.join(OPTIONS)}"
            )
        if not isinstance(value, OPTIONS[key]):
            kind = OPTIONS[key].__name__
            raise BookError(f"{where}: '#| {key}: {value}' is not a {kind}")
    return options, "\n".join(lines[n_options:]).strip("\n")


def _code(code: str, options: dict) -> str:
    block = fenced(code, " {.python .cell-code}")
    if not options.get("code-fold"):
        return block
    summary = options.get("code-summary", "Code")
    opening = raw_html(
        f'<details class="code-fold"><summary>{html.escape(summary)}</summary>'
    )
    return "\n\n".join([opening, block, raw_html("</details>")])


def _outputs(outputs, options, where, stem, files) -> list[str]:
    """Every output as a Markdown block; the labelled one with number and caption."""
    names = ["stdout", "stderr"] if options.get("warning", True) else ["stdout"]
    shown = [o for o in outputs if o["output_type"] != "stream" and not _is_bare(o)]
    blocks = []
    for name in names:
        # Printed text may be stored in pieces, by the chance of timing.
        text = "".join(_text(o["text"]) for o in outputs if o.get("name") == name)
        if text:
            blocks.append(_box(f"cell-output-{name}", _plain(text)))
    displays = [
        _display(output, options, where, f"{stem}-{i}", files)
        for i, output in enumerate(shown, start=1)
    ]
    label, caption = _caption(options, len(displays), where)
    if caption:
        displays = [f"::: {{{label} .cell-output}}\n\n{displays[0]}\n\n{caption}\n\n:::"]
    else:
        displays = [_box("cell-output-display", block) for block in displays]
    return blocks + displays


def _is_bare(output: dict) -> bool:
    """Whether `output` is a widget and no still of it is stored, as of a progress bar."""
    data = output.get("data", {})
    return WIDGET in data and not set(MIME_ORDER[:-1]) & set(data)


def _caption(options: dict, n_displays: int, where: str) -> tuple[str, str]:
    """The `#label` of a figure or table and its caption; empty if the cell has neither."""
    label = options.get("label", "")
    kind = label.partition("-")[0]
    if kind not in ("fig", "tbl"):
        return "", ""
    caption = options.get(f"{kind}-cap")
    if not caption:
        raise BookError(f"{where}: '#| label: {label}' needs a '#| {kind}-cap:'")
    if n_displays != 1:
        raise BookError(f"{where}: '{label}' needs exactly one output, found {n_displays}")
    return f"#{label}", caption.strip()


def _display(output, options, where, stem, files) -> str:
    if output["output_type"] == "error":
        raise BookError(
            f"{where}: the stored output is an error, {output['ename']}; {REMEDY}"
        )
    data = output["data"]
    mime = next((m for m in MIME_ORDER if m in data), None)
    if mime is None:
        raise BookError(
            f"{where}: an output that a page cannot show ({', '.join(data)}); {REMEDY}"
        )
    text = _text(data[mime])
    if mime == "text/html":
        return raw_html(text)
    if mime in ("text/markdown", "text/latex"):
        return text
    if mime == "text/plain":
        return _plain(text)
    return _image(text, mime, options, where, stem, files)


def _image(text, mime, options, where, stem, files) -> str:
    alt = options.get("fig-alt")
    if not alt:
        raise BookError(f"{where}: an image without '#| fig-alt:'")
    name = f"{stem}.{SUFFIX[mime]}"
    files[name] = text.encode() if mime == "image/svg+xml" else base64.b64decode(text)
    alt = " ".join(alt.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'![]({name}){{fig-alt="{alt}"}}'


def _plain(text: str) -> str:
    return fenced(ANSI.sub("", text).rstrip("\n"), " {.output-text}")


def _box(name: str, block: str) -> str:
    return f"::: {{.cell-output .{name}}}\n\n{block}\n\n:::"


def _text(source: str | list[str]) -> str:
    return source if isinstance(source, str) else "".join(source)
