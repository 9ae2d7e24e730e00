"""The exported assignments are what nbgrader's format says, and their solutions solve them."""

import re

import nbformat
import pytest

from gapfm_course.class_edition import sources
from gapfm_course.exercises import EXERCISES, assert_solved, assignments
from gapfm_teach.__main__ import main

# From nbgrader's schema, version 3: the type of each key that a cell has.
KEYS = {
    "schema_version": int,
    "grade": bool,
    "locked": bool,
    "solution": bool,
    "task": bool,
    "grade_id": str,
    "cell_type": str,
}
POINTS = {"points": int}
SOLUTION = re.compile(r"^( *)### BEGIN SOLUTION\n.*?^ *### END SOLUTION$", re.M | re.S)
HIDDEN = re.compile(r"^### BEGIN HIDDEN TESTS\n.*?^### END HIDDEN TESTS$", re.M | re.S)


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("course") / "source"
    return {
        path.stem: nbformat.read(path, as_version=4)
        for path in assignments.write_assignments(folder)
    }


def run(cells) -> None:
    names = {}
    for cell in cells:
        if cell.cell_type == "code":
            exec(cell.source, names)


def test_every_exercise_is_assigned_once(notebooks):
    graded = [
        cell.metadata.nbgrader.grade_id
        for notebook in notebooks.values()
        for cell in notebook.cells
        if cell.metadata.nbgrader.grade
    ]
    assert graded == [f"{name}-check" for name in EXERCISES]


def test_metadata_fit_the_schema(notebooks):
    for notebook in notebooks.values():
        nbformat.validate(notebook)
        about = [cell.metadata.nbgrader for cell in notebook.cells]
        assert len({one.grade_id for one in about}) == len(about)
        for cell, one in zip(notebook.cells, about, strict=True):
            wanted = KEYS | (POINTS if one.grade else {})
            assert {key: type(value) for key, value in one.items()} == wanted
            assert one.schema_version == 3
            assert re.fullmatch(r"[a-zA-Z0-9_\-]+", one.grade_id)
            assert one.cell_type == cell.cell_type
            assert one.locked is not one.solution
            assert one.solution is bool(SOLUTION.search(cell.source))
            assert one.grade is bool(HIDDEN.search(cell.source))


def test_the_teachers_version_passes_its_hidden_tests(notebooks, capsys):
    for notebook in notebooks.values():
        run(notebook.cells)
    said = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("✓") for line in said) == len(EXERCISES)
    assert not any(line.startswith(("✗", "○")) for line in said)


def test_a_students_version_can_be_run_and_its_hidden_tests_fail(notebooks, capsys):
    """With what nbgrader puts in the place of solutions: it says "not yet", and earns nothing."""
    stub = r"\1raise NotImplementedError()"
    for name, notebook in notebooks.items():
        for cell in notebook.cells:
            hidden = cell.source
            cell.source = HIDDEN.sub("", SOLUTION.sub(stub, cell.source))
            if hidden != cell.source and cell.metadata.nbgrader.grade:
                assert "assert_solved" in hidden
        by_value = "\nraise NotImplementedError()"  # at the top of a cell, for a value
        cells = [cell for cell in notebook.cells if by_value not in cell.source]
        cells = [
            cell for cell in cells if cell.source.strip() != 'check("by-hand", answer)'
        ]
        run(cells)
        said = capsys.readouterr().out
        assert "✓" not in said, name
        assert "✗" not in said, name


@pytest.mark.parametrize("answer", [None, lambda grades, delta: 0.0])
def test_an_answer_that_is_not_right_is_an_error_for_a_grader(answer):
    with pytest.raises(AssertionError, match=r"○ Not solved yet|✗ Whatever it is given"):
        assert_solved("gap", answer)
    assert_solved("gap", EXERCISES["gap"].solution)


def test_texts_are_free_of_what_only_the_book_resolves(notebooks):
    for notebook in notebooks.values():
        for cell in notebook.cells:
            assert not re.search(r"@(eq|fig|tbl|sec)-|\[@|\{#|“[a-z-]+”|\(#", cell.source)
    (text,) = (
        c.source for c in notebooks["02_smoothing"].cells if c.id == "smoothed-gap-text"
    )
    assert re.search(r"Equation 2\.\d+", text)


def test_a_value_is_asked_for_by_its_name(notebooks):
    (cell,) = (c for c in notebooks["01_from_ap_to_gap"].cells if c.id == "by-hand")
    assert "`answer`" in SOLUTION.sub("", cell.source)


def test_nothing_is_written_over(tmp_path, capsys):
    (tmp_path / "essay.txt").write_text("mine")
    assert main(["assignments", str(tmp_path)]) == 1
    assert "exists already" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["essay.txt"]


def test_where_no_notebooks_came_along(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sources, "INSTALLED", tmp_path / "here")
    monkeypatch.setattr(sources, "CHECKOUT", tmp_path / "there")
    assert main(["assignments", str(tmp_path / "new")]) == 1
    assert "no notebooks came with gapfm_teach" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
