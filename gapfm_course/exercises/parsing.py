"""The exercises as the notebooks pose them: text, stub, hints and solution."""

import ast
import json
import re
from dataclasses import dataclass
from pathlib import Path

from ..class_edition.text import References

HEADING = re.compile(r"^#{1,3} ", re.MULTILINE)
ATTRIBUTES = re.compile(r" *\{[#.][^}\n]*\}")
SOLUTION = re.compile(r'<details class="solution">(?P<inside>.*?)</details>\n*', re.DOTALL)
CODE = re.compile(r"^```python\n(?P<code>.*?)^```", re.MULTILINE | re.DOTALL)
CITATION = re.compile(r" ?\[@[^\]]+\]")
LINK = re.compile(r"\[(?P<words>[^\]]+)\]\([\w.]*#[\w-]+\)")


@dataclass(frozen=True)
class ParsedExercise:
    """An exercise in its chapter.

    answer : what `check` is called with, the name of a function or of a value.
    """

    name: str
    answer: str
    text: str
    hints: str
    solution: str


def parse_exercises(
    notebook: Path, labels: dict[str, tuple[str, str]]
) -> list[ParsedExercise]:
    """The exercises of a chapter, whose references say the number in `labels`, without a link.

    Raises OSError or ValueError where it cannot be read.
    """
    references = References(labels, {}, set())

    def plain(text: str) -> str:
        text = CITATION.sub("", ATTRIBUTES.sub("", text)).strip()
        return LINK.sub(r"\g<words>", references.resolve(text, notebook.name))

    found, before = [], ""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    for place, cell in enumerate(cells):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            before = source
            continue
        for name, answer in _checks(source):
            text = before[[found.start() for found in HEADING.finditer(before)][-1] :]
            below = "".join(cells[place + 1]["source"])
            hints, solution = _hints_and_solution(below)
            found.append(ParsedExercise(name, answer, plain(text), plain(hints), solution))
    return found


def _checks(source: str) -> list[tuple[str, str]]:
    """The calls check("name", answer) in a code cell, as (name, answer)."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [
        (ast.literal_eval(call.args[0]), ast.unparse(call.args[1]))
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == "check"
    ]


def _hints_and_solution(below: str) -> tuple[str, str]:
    end = HEADING.search(below)
    below = below[: end.start()] if end else below
    fold = SOLUTION.search(below)
    code = CODE.search(fold["inside"]) if fold else None
    if fold is None or code is None:
        raise ValueError(f"no solution follows: {below[:60]!r}")
    return below[: fold.start()].strip(), code["code"].strip()
