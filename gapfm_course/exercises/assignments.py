"""The exercises as assignments for nbgrader, a notebook for each chapter.

The metadata are those of nbgrader's format, version 3: a cell to write in, and a locked one that
is graded, with tests that the student does not see.
"""

import ast
import json
import textwrap
from pathlib import Path
from typing import Any

from gapfm_teach._support.files import new_folder

from ..class_edition.edition import CHAPTER, METADATA, drafts_and_labels
from ..class_edition.sources import NOTEBOOKS, sources
from .parsing import ParsedExercise, parse_exercises


def write_assignments(folder: Path) -> list[Path]:
    """Write folder/CHAPTER/CHAPTER.ipynb for each chapter; return these files.

    `folder` is new: FileExistsError where there is one, FileNotFoundError without notebooks, and
    OSError where it cannot be written. Nothing is half written.
    """
    chapters = sorted((sources() / NOTEBOOKS).glob(CHAPTER))
    _, labels = drafts_and_labels(sources(), solutions=True, outputs=False)
    with new_folder(folder) as fresh:
        for path in chapters:
            home = fresh / path.stem
            home.mkdir()
            text = json.dumps(_assignment(path, labels), indent=1, ensure_ascii=False)
            (home / path.name).write_text(text + "\n", encoding="utf-8")
    return [folder / path.stem / path.name for path in chapters]


def _assignment(path: Path, labels: dict[str, tuple[str, str]]) -> dict[str, Any]:
    title = json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"]
    title = "".join(title).splitlines()[0].partition(" {")[0]
    start = "from gapfm_course.exercises import check"
    cells = [
        _cell("markdown", f"{title}\n\nExercises of the chapter `{path.stem}`.", "title"),
        _cell("code", start, "start"),
    ]
    for exercise in parse_exercises(path, labels):
        cells += _cells(exercise)
    return {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}


def _cells(exercise: ParsedExercise) -> list[dict[str, Any]]:
    call = f'("{exercise.name}", {exercise.answer})'
    graded = f"""\
check{call}
### BEGIN HIDDEN TESTS
from gapfm_course.exercises import assert_solved

assert_solved{call}
### END HIDDEN TESTS"""
    return [
        _cell("markdown", f"{exercise.text}\n\n{exercise.hints}", f"{exercise.name}-text"),
        _cell("code", _marked(exercise), exercise.name, locked=False, solution=True),
        _cell("code", graded, f"{exercise.name}-check", grade=True, points=1),
    ]


def _marked(exercise: ParsedExercise) -> str:
    """The solution with marks around what the student is to write."""
    lines = exercise.solution.splitlines()
    for node in ast.parse(exercise.solution).body:
        if isinstance(node, ast.FunctionDef) and node.name == exercise.answer:
            first, last = node.body[0].lineno - 1, node.end_lineno
            body = _between_marks(lines[first:last])
            return "\n".join([*lines[:first], *body, *lines[last:]])
    name = f"# Call your result `{exercise.answer}`."
    return "\n".join([name, *_between_marks(lines)])


def _between_marks(lines: list[str]) -> list[str]:
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    inside = textwrap.dedent("\n".join(lines))
    marked = f"### BEGIN SOLUTION\n{inside}\n### END SOLUTION"
    return textwrap.indent(marked, indent).splitlines()


def _cell(kind: str, source: str, grade_id: str, **options) -> dict[str, Any]:
    """A cell; unless told otherwise, one that the student reads and cannot change."""
    usual = {"grade": False, "locked": True, "solution": False, "task": False}
    about = {
        "schema_version": 3,
        "grade_id": grade_id,
        "cell_type": kind,
        **usual,
        **options,
    }
    cell = {
        "cell_type": kind,
        "id": grade_id,
        "metadata": {"nbgrader": about},
        "source": source,
    }
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})
