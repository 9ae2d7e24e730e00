"""A student's notebook brought up to a newer edition, with every answer of theirs in it.

Three notebooks meet: what she was given (its prints are in her copy), what she has now, and the
newer one. A cell that only one side has touched is that side's; where both have, both stay.
"""

from collections import defaultdict
from collections.abc import Set
from dataclasses import dataclass, field
from typing import Any

from .cells import Cell, source
from .originals import KEY, originals, print_of, same_text

NEW = "New in the course; your own version follows."


@dataclass
class Merged:
    """The notebook that came of it; the ids of cells that are the student's, of those that the
    course has changed, and of those where both have."""

    notebook: dict[str, Any]
    own_cells: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    both: list[str] = field(default_factory=list)


def merge(student_notebook: dict[str, Any], course: dict[str, Any]) -> Merged:
    """`student_notebook`, a copy that the course once gave out, brought up to `course`.

    Raises ValueError where `student_notebook` is no such copy.
    """
    given, fresh = originals(student_notebook), originals(course)
    if given == fresh:
        return Merged(student_notebook)
    cells = _with_ids(student_notebook["cells"], given)
    mine = {cell["id"]: cell for cell in cells}
    added = _added(cells, given, fresh.keys())
    made = Merged({})
    merged = list(added[None])
    for cell in course["cells"]:
        merged += _one(cell, mine.get(cell["id"]), given.get(cell["id"]), made)
        merged += added[cell["id"]]
    made.own_cells += [cell["id"] for group in added.values() for cell in group]
    metadata = student_notebook["metadata"] | {KEY: course["metadata"][KEY]}
    made.notebook = course | {"cells": _unique(merged), "metadata": metadata}
    return made


def _one(new: Cell, own: Cell | None, given: str | None, made: Merged) -> list[Cell]:
    """The cells that stand for one of the course."""
    fresh = print_of(new)
    course_changed = given is None or not same_text(given, fresh)
    if own is None:
        if not course_changed:
            return []  # she has deleted it
        made.changed.append(new["id"])
        return [new]
    now = print_of(own)
    if same_text(now, fresh):
        return [new if now == given else own]  # what her own run has put out stays
    if given is not None and same_text(now, given):
        made.changed.append(new["id"])
        return [new]
    made.own_cells.append(own["id"])
    if not course_changed:
        return [own]
    made.both.append(own["id"])
    beside = _marked(new, NEW) | {"id": f"{new['id'][:50]}-new"}
    return [beside, own]  # the student's runs last


def _added(
    cells: list[Cell], given: dict[str, str], named: Set[str]
) -> dict[Any, list[Cell]]:
    """The cells that are the student's alone, by the cell of the course that they stand behind."""
    added: dict[Any, list[Cell]] = defaultdict(list)
    behind = None
    for cell in cells:
        if cell["id"] in named:
            behind = cell["id"]
        elif cell["id"] not in given or not same_text(print_of(cell), given[cell["id"]]):
            added[behind].append(cell)
    return added


def _marked(cell: Cell, words: str) -> Cell:
    mark = f"**{words}**\n\n" if cell["cell_type"] == "markdown" else f"# {words}\n"
    return cell | {"source": mark + source(cell)}


def _with_ids(cells: list[Cell], given: dict[str, str]) -> list[Cell]:
    """Cells that all have an id; programs that know none have dropped them."""
    named = [cell.get("id") for cell in cells]
    free = {text.partition(" ")[0]: key for key, text in given.items() if key not in named}
    return _unique(
        [
            cell
            if "id" in cell
            else cell | {"id": free.pop(print_of(cell).partition(" ")[0], "own")}
            for cell in cells
        ]
    )


def _unique(cells: list[Cell]) -> list[Cell]:
    """The cells, none of which has the id of one before."""
    seen: set[str] = set()
    made = []
    for cell in cells:
        name, count = cell["id"], 1
        while name in seen:
            count += 1
            name = f"{cell['id'][:50]}-{count}"
        seen.add(name)
        made.append(cell | {"id": name})
    return made
