"""What a notebook's cells were when the course gave them out, kept in its metadata as hashes."""

import hashlib
import json
from typing import Any

from .cells import Cell, source

KEY = "gapfm_teach"
_DIGITS = 12


def with_originals(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook, and in it the prints of its cells as they are."""
    prints = {cell["id"]: print_of(cell) for cell in notebook["cells"]}
    return notebook | {"metadata": notebook["metadata"] | {KEY: {"given": prints}}}


def originals(notebook: dict[str, Any]) -> dict[str, str]:
    """{cell id: its print} of what was given out. ValueError for a notebook that never was."""
    try:
        return dict(notebook["metadata"][KEY]["given"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError("it is no notebook that this course has given out") from error


def print_of(cell: Cell) -> str:
    """What tells a cell from others: a hash of its text, and one of its outputs."""
    outputs = _hash(_joined(cell.get("outputs", [])))
    return f"{_hash([cell['cell_type'], source(cell)])} {outputs}"


def same_text(one: str, other: str) -> bool:
    """Whether two prints are of cells with one text, whatever they have put out."""
    return one.partition(" ")[0] == other.partition(" ")[0]


def _joined(value):
    """Programs cut long texts into lines each in its own way."""
    if isinstance(value, dict):
        return {key: _joined(one) for key, one in value.items()}
    if isinstance(value, list):
        texts = value and all(isinstance(one, str) for one in value)
        return "".join(value) if texts else [_joined(one) for one in value]
    return value


def _hash(value) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
