"""The cells of a chapter as a notebook shows them: options out of sight, captions in it."""

import contextlib
import json
import re
from typing import Any

from .boxes import fold, without_solutions
from .numbers import KIND, Numbers, anchor, captioned
from .text import numbered

Cell = dict[str, Any]

OPTION = re.compile(r'#\| (?P<name>[a-z-]+): (?P<value>"(?:[^"\\]|\\.)*"|\S+)')
OPTIONS = {"label", "fig-cap", "fig-alt", "tbl-cap", "code-fold", "code-summary"}
SPECIAL = re.compile(r"([\\`*_{}\[\]<>$#|~])")  # what Markdown would take for its own


def source(cell: Cell) -> str:
    """The text of a cell, which is stored whole or in lines."""
    return cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])


def markdown(cell_id: str, text: str) -> Cell:
    return {"cell_type": "markdown", "id": cell_id, "metadata": {}, "source": text}


@contextlib.contextmanager
def naming(file: str, cell: Cell):
    """Let a ValueError say where it is."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{file}, cell {cell['id']}: {error}") from error


def drafted(
    cells: list[Cell], file: str, numbers: Numbers, *, solutions: bool, outputs: bool
) -> list[Cell]:
    """The cells of the notebook `file`, counted on in `numbers`; a caption has a cell of its own.

    Without `outputs` a caption is folded: it would answer what the reader is to predict.
    """
    made: list[Cell] = []
    for cell in cells:
        with naming(file, cell):
            if cell["cell_type"] == "code":
                made += _code(cell, numbers, made, outputs)
            elif text := _text(source(cell), numbers, solutions=solutions):
                made.append(cell | {"source": text})
    return made


def _text(text: str, numbers: Numbers, *, solutions: bool) -> str:
    return numbered(text if solutions else without_solutions(text), numbers)


def _code(cell: Cell, numbers: Numbers, before: list[Cell], outputs: bool) -> list[Cell]:
    options, code = split_options(source(cell))
    metadata = dict(cell["metadata"])
    if options:
        metadata["gapfm_teach"] = options
    if options.get("code-fold") == "true":
        metadata["jupyter"] = {"source_hidden": True}
    made = [cell | {"metadata": metadata, "source": code}]
    if not outputs:
        made[0] |= {"outputs": [], "execution_count": None}
    label = options.get("label", "")
    kind = label.partition("-")[0]
    if kind not in KIND:
        return made
    name = captioned(label, numbers.next(label))
    caption = numbered(options[f"{kind}-cap"], numbers)
    words = SPECIAL.sub(r"\\\1", options.get("fig-alt", ""))
    if not outputs:
        inside = f"{caption}\n\n{words}".rstrip()
        caption = f"{name}: run the cell above.\n\n{fold('What it shows', inside)}"
    elif words:
        caption = f"{name} {caption}\n\n{fold('The figure in words', words)}"
    else:
        caption = f"{name} {caption}"
    # A link is to lead to the code and its picture, not to the words below them.
    if before and before[-1]["cell_type"] == "markdown":
        before[-1]["source"] += f"\n\n{anchor(label)}"
    else:
        caption = f"{anchor(label)}\n\n{caption}"
    return [*made, markdown(label, caption)]


def split_options(text: str) -> tuple[dict[str, str], str]:
    """The `#|` lines at the top of a code cell, and its code."""
    options, lines = {}, text.splitlines()
    while lines and lines[0].startswith("#|"):
        line = lines.pop(0)
        found = OPTION.fullmatch(line)
        if not found or found["name"] not in OPTIONS:
            raise ValueError(
                f"{line!r} is no option that a notebook of the course can have"
            )
        value = found["value"]
        options[found["name"]] = json.loads(value) if value.startswith('"') else value
    return options, "\n".join(lines)
