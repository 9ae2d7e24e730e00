"""A student's notebook brought up to a newer edition, with every answer of theirs in it.

Three notebooks meet: what the student was given (its prints are in their copy), what they have
now, and the newer one. A cell that only one side has touched is that side's; where both have, both stay.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
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

    Raises ValueError if `student_notebook` is not a copy of the course.
    """
    given, fresh = originals(student_notebook), originals(course)
    if given == fresh:
        return Merged(student_notebook)
    cells = _with_ids(student_notebook["cells"], given)
    mine = {cell["id"]: cell for cell in cells}
    prints = {cell["id"]: print_of(cell) for cell in course["cells"]}
    added = _added(cells, given, prints)
    made = Merged({})
    merged = list(added[None])
    for cell in _in_order(course["cells"], mine, given):
        merged += _one(cell, mine.get(cell["id"]), given.get(cell["id"]), made)
        merged += added[cell["id"]]
    made.own_cells += [cell["id"] for group in added.values() for cell in group]
    metadata = student_notebook["metadata"] | {KEY: course["metadata"][KEY]}
    made.notebook = course | {"cells": _unique(merged), "metadata": metadata}
    return made


def _in_order(course: list[Cell], mine: Iterable[str], given: Iterable[str]) -> list[Cell]:
    """The course's cells as it has them or, where the student has moved some, in their order.

    A cell that they do not have then follows the one that is before it in the course.
    """
    kept = [name for name in mine if name in given]
    if kept == [name for name in given if name in kept]:
        return course
    places, place, placed = {name: i for i, name in enumerate(mine)}, -1, []
    for cell in course:
        place = places.get(cell["id"], place)
        placed.append((place, cell))
    return [cell for _, cell in sorted(placed, key=lambda pair: pair[0])]


def _one(new: Cell, own: Cell | None, given: str | None, made: Merged) -> list[Cell]:
    """The cells that stand for one of the course."""
    fresh = print_of(new)
    course_changed = given is None or not same_text(given, fresh)
    if own is None:
        if not course_changed:
            return []  # the student has deleted it
        made.changed.append(new["id"])
        return [new]
    now = print_of(own)
    new = new | {"metadata": own["metadata"] | new["metadata"]}  # a student's tags stay
    if same_text(now, fresh):
        return [new if now == given else own]  # what the student's run has put out stays
    if given is not None and same_text(now, given):
        made.changed.append(new["id"])
        return [new]
    made.own_cells.append(own["id"])
    if not course_changed:
        return [own]
    made.both.append(own["id"])
    beside = {"id": _id_of_new(new["id"]), "source": _mark(new) + source(new)}
    return [new | beside, own]  # the student's runs last


def _added(
    cells: list[Cell], given: dict[str, str], fresh: dict[str, str]
) -> dict[Any, list[Cell]]:
    """The cells that are the student's alone, by the cell of the course that they stand behind."""
    added: dict[Any, list[Cell]] = defaultdict(list)
    marked = {_id_of_new(name): name for name in given}
    behind = None
    for cell in cells:
        name = cell["id"]
        if name in fresh:
            behind = name
            continue
        text = print_of(cell)
        if (old := marked.get(name)) and given[old] != fresh.get(old):
            # An earlier version of a cell that has changed again: it makes room.
            words = source(cell).removeprefix(_mark(cell))
            name, text = old, print_of(cell | {"source": words})
        if name not in given or not same_text(text, given[name]):
            added[behind].append(cell)
    return added


def _id_of_new(name: str) -> str:
    return f"{name[:50]}-new"


def _mark(cell: Cell) -> str:
    return f"**{NEW}**\n\n" if cell["cell_type"] == "markdown" else f"# {NEW}\n"


def _with_ids(cells: list[Cell], given: dict[str, str]) -> list[Cell]:
    """Cells that all have an id; programs that know none have dropped them.

    A cell without one is what the course gave out with its text, or else in its place.
    """
    named = {cell.get("id") for cell in cells}
    free = {text.partition(" ")[0]: key for key, text in given.items() if key not in named}
    made = [
        {"id": free.pop(print_of(cell).partition(" ")[0], None)} | cell for cell in cells
    ]
    taken, following = {cell["id"] for cell in made}, dict(pairwise([None, *given]))
    before = None
    for cell in made:
        if cell["id"] is None:
            place = following.get(before)
            cell["id"] = "own" if place is None or place in taken else place
        before = cell["id"] if cell["id"] in given else before
    return _unique(made)


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
