"""The class edition of all notebooks, made from the sources in memory."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .bibliography import Work, read_bibliography
from .cells import Cell, drafted, markdown, naming, source
from .numbers import Numbers
from .originals import with_originals
from .sources import BIBLIOGRAPHY, NOTATION, NOTEBOOKS
from .text import References

CHAPTER = "[0-9][0-9]_*.ipynb"
TITLE = re.compile(r"^# .+?(?P<unnumbered>\.unnumbered\b.*)?$", re.M)
METADATA = {
    "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
    "language_info": {"name": "python"},
}


def edition(
    root: Path, *, solutions: bool, outputs: bool = True
) -> dict[str, dict[str, Any]]:
    """{file name: notebook} of the chapters in `root`, and of the page of symbols.

    Without `solutions` the folds that hold them are left out, without `outputs` what the cells
    have shown. Raises ValueError, naming file and cell, for what the sources say in a way that is
    not known here.
    """
    drafts, labels = drafts_and_labels(root, solutions=solutions, outputs=outputs)
    works = read_bibliography(root / BIBLIOGRAPHY)
    return {
        file: _notebook(file, cells, References(labels, works, set(drafts)))
        for file, cells in drafts.items()
    }


def drafts_and_labels(
    root: Path, *, solutions: bool, outputs: bool
) -> tuple[dict[str, list[Cell]], dict[str, tuple[str, str]]]:
    """{file: its cells, references unresolved}, and {label: (file, number)} of the whole book."""
    drafts: dict[str, list[Cell]] = {}
    labels: dict[str, tuple[str, str]] = {}
    for file, cells, numbers in _chapters(root):
        drafts[file] = drafted(cells, file, numbers, solutions=solutions, outputs=outputs)
        for label, number in numbers.labels.items():
            if label in labels:
                raise ValueError(
                    f"{file}: label {label!r} stands in {labels[label][0]}, too"
                )
            labels[label] = file, number
    return drafts, labels


def _chapters(root: Path) -> Iterator[tuple[str, list[Cell], Numbers]]:
    """(file, cells, what counts in it), in the order of the book, whose first page has no number."""
    chapter = 0
    for path in sorted((root / NOTEBOOKS).glob(CHAPTER)):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        title = TITLE.search(source(cells[0]))
        numbered = title is not None and not title["unnumbered"]
        chapter += numbered
        yield path.name, cells, Numbers(str(chapter) if numbered else "")
    page = root / NOTATION
    symbols = [markdown("notation", page.read_text(encoding="utf-8"))]
    yield page.with_suffix(".ipynb").name, symbols, Numbers("")


def _notebook(file: str, cells: list[Cell], references: References) -> dict[str, Any]:
    for cell in cells:
        if cell["cell_type"] == "markdown":
            with naming(file, cell):
                cell["source"] = references.resolve(cell["source"], file)
    if references.cited:
        cells.append(markdown("references", _list(references.cited)))
    return with_originals(
        {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    )


def _list(works: set[Work]) -> str:
    entries = [
        f'- <a id="ref-{work.key}"></a>{work.entry}'
        for work in sorted(works, key=lambda work: (work.authors, work.year))
    ]
    return "\n".join(["## References", "", *entries])
