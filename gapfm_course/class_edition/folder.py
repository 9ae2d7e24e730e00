"""The folder that a student works in: made once, brought up to date, never written over."""

import contextlib
import hashlib
import json
from pathlib import Path
from typing import Any

from gapfm_teach._support.files import new_folder, replacing

from .edition import edition
from .merge import Merged, merge
from .sources import NOTEBOOKS, sources

RESULTS = "results"  # what the chapters read, relative to themselves
STATE = ".gapfm_teach.json"
# JupyterLab reads it where it is started; its question about news covers a corner of a projected notebook.
SETTINGS, NO_NEWS = "jupyter_lab_config.json", b'{"LabApp": {"news_url": null}}\n'
FORMAT, VERSION = "gapfm_teach course", 1
FOLDED, NO = "folded", "no"


def make(folder: Path, solutions: str, outputs: bool) -> None:
    """Write the class edition into `folder`, new or with nothing but hidden files, such as `.git`.

    solutions : "folded", or "no" to leave them out. outputs : whether cells show what they gave.
    Raises FileExistsError where `folder` holds anything else; OSError when it cannot be written.
    """
    choices = {"solutions": solutions, "outputs": outputs}
    if folder.is_dir() and _is_free(folder):
        _fill(folder, choices)
        return
    if folder.exists():
        raise FileExistsError(
            f"{folder} holds files already, and nothing of yours is written over; choose another "
            "name, or bring a course in it up to date with --update"
        )
    with new_folder(folder) as fresh:
        _fill(fresh, choices)


def _is_free(folder: Path) -> bool:
    """Whether a course may be put into `folder`: there is none, or only hidden files are in it."""
    if not folder.is_dir():
        return not folder.exists()
    names = [path.name for path in folder.iterdir()]
    return STATE not in names and all(name.startswith(".") for name in names)


def _fill(folder: Path, choices: dict[str, Any]) -> None:
    results = _results()
    _remember(folder, choices, {})  # so that `update` can end what is broken off here
    for name, notebook in _edition(**choices).items():
        _write(folder / name, _text(notebook))
    for name, content in results.items():
        _write(folder / RESULTS / name, content)
    _write(folder / SETTINGS, NO_NEWS)
    _remember(folder, choices, results)


def update(folder: Path, solutions: str | None, outputs: bool | None) -> dict[str, Merged]:
    """Bring the course in `folder` up to this edition; make it where there is none.

    What the student has changed or added stays; a file that is written is renamed into place
    whole. A choice that is None stays as the folder was made. Returns what was done to each
    notebook that is not as it was. Raises ValueError or OSError, with nothing written, where
    `folder` holds no course, a notebook cannot be read, or something is in the way of a file.
    """
    if _is_free(folder):
        make(folder, solutions or FOLDED, bool(outputs))
        return {}
    state = _state(folder)
    choices: dict[str, Any] = {
        "solutions": solutions or state["solutions"],
        "outputs": state["outputs"] if outputs is None else outputs,
    }
    planned = {
        name: _planned(folder / name, notebook)
        for name, notebook in _edition(**choices).items()
    }
    changed = {name: merged for name, merged in planned.items() if merged is not None}
    writes = {folder / name: _text(merged.notebook) for name, merged in changed.items()}
    results = _results()
    for name, content in results.items():
        path = folder / RESULTS / name
        if not path.exists() or _digest(path.read_bytes()) == state["results"].get(name):
            writes[path] = content
    if (folder / RESULTS).is_file():
        raise FileExistsError(
            f"{folder / RESULTS} is a file, and the course needs a folder of that name; rename it "
            "and update again: nothing was changed"
        )
    for path, content in writes.items():
        _write(path, content)
    _remember(folder, choices, results)
    return changed


def _planned(path: Path, notebook: dict[str, Any]) -> Merged | None:
    """What is to stand at `path`; None where nothing has to be written."""
    if not path.exists():
        return Merged(notebook, changed=[cell["id"] for cell in notebook["cells"]])
    try:
        student_notebook = json.loads(path.read_text(encoding="utf-8"))
        merged = merge(student_notebook, notebook)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{path} cannot be brought up to date ({error}); move it away and update again: "
            "nothing was changed"
        ) from error
    return None if merged.notebook == student_notebook else merged


def _edition(solutions: str, outputs: bool) -> dict[str, dict[str, Any]]:
    return edition(sources(), solutions=solutions != NO, outputs=outputs)


def _results() -> dict[str, bytes]:
    tables = (sources() / NOTEBOOKS / RESULTS).glob("*.csv")
    return {path.name: path.read_bytes() for path in sorted(tables)}


def _text(notebook: dict[str, Any]) -> bytes:
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def _write(path: Path, content: bytes) -> None:
    with replacing(path) as file:
        file.write(content)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _remember(folder: Path, choices: dict[str, Any], results: dict[str, bytes]) -> None:
    prints = {name: _digest(content) for name, content in results.items()}
    state = {"format": FORMAT, "version": VERSION, **choices, "results": prints}
    _write(folder / STATE, json.dumps(state, indent=1).encode())


def _state(folder: Path) -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        state = json.loads((folder / STATE).read_text(encoding="utf-8"))
        if (state["format"], state["version"]) == (FORMAT, VERSION):
            return {
                "solutions": state["solutions"],
                "outputs": state.get(
                    "outputs", True
                ),  # as all had them before there was a choice
                "results": dict(state["results"]),
            }
    raise ValueError(
        f"{folder} holds no course that this version can bring up to date; name the folder of one, "
        "or a new one"
    )
