"""`python -m gapfm_teach course FOLDER`: what is there after it, and what it will not touch."""

import importlib
import json
import shutil

import pytest

from gapfm_course import doctor
from gapfm_course.class_edition import command as course_command
from gapfm_course.class_edition import folder as course
from gapfm_course.class_edition.originals import with_originals
from gapfm_course.class_edition.sources import CHECKOUT
from gapfm_course.exercises import progress_log
from gapfm_teach.__main__ import main

ONE = "03_gradients.ipynb"


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def change(path, cell_id, text):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    (cell,) = [cell for cell in notebook["cells"] if cell["id"] == cell_id]
    cell["source"] = text
    path.write_text(json.dumps(notebook), encoding="utf-8")


def sources_of(path):
    return [c["source"] for c in json.loads(path.read_text(encoding="utf-8"))["cells"]]


@pytest.fixture
def made(tmp_path):
    assert main(["course", str(tmp_path / "class")]) == 0
    return tmp_path / "class"


def test_a_new_folder_holds_all_that_the_chapters_read(made):
    beside = {path.name for path in (CHECKOUT / "notebooks" / "results").glob("*.csv")}
    assert {path.name for path in (made / "results").iterdir()} == beside
    for name in beside:
        source = CHECKOUT / "notebooks" / "results" / name
        assert (made / "results" / name).read_bytes() == source.read_bytes()
    assert len(list(made.glob("*.ipynb"))) == 13


def test_what_its_notebooks_use_is_compiled_where_that_is_to_be_done(
    made, monkeypatch, capsys
):
    told = []
    monkeypatch.setattr(doctor, "warm_up", lambda: told.append("compiled") or 1)
    for missing in ([], ["gradients"]):
        monkeypatch.setattr(doctor, "uncompiled", lambda missing=missing: missing)
        assert main(["course", str(made), "--update"]) == 0
        assert told == ["compiled"] * len(missing)
        assert "is ready" in capsys.readouterr().out


def test_a_folder_with_files_is_left_alone(made, capsys):
    before = files(made)
    assert main(["course", str(made)]) == 1
    assert "holds files already" in capsys.readouterr().err
    assert files(made) == before


def test_a_file_is_no_folder(tmp_path, capsys):
    (tmp_path / "class").write_text("mine")
    for more in ([], ["--update"]):
        assert main(["course", str(tmp_path / "class"), *more]) == 1
    assert (tmp_path / "class").read_text() == "mine"


@pytest.mark.parametrize("command", ["course", "assignments", "report --class", "report"])
def test_the_home_of_somebody_unknown_is_an_error(command, capsys, monkeypatch):
    monkeypatch.setattr(progress_log, "is_kept", lambda: True)
    monkeypatch.setattr(progress_log, "student", lambda: "Ada")
    tried = [{"exercise": "gap", "solved": True, "slip": ""}]
    monkeypatch.setattr(progress_log, "results", lambda: tried)
    assert main([*command.split(), "~nobodyx"]) == 1
    assert "must be a path, got '~nobodyx'" in capsys.readouterr().err


def test_an_empty_folder_is_filled(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["course", "."]) == 0
    assert (tmp_path / ONE).exists()


def test_update_makes_a_folder_where_there_is_none_and_then_does_nothing(tmp_path):
    assert main(["course", str(tmp_path / "class"), "--update"]) == 0
    before = files(tmp_path / "class")
    old = {path: path.stat().st_mtime_ns for path in before if path.suffix == ".ipynb"}
    assert main(["course", str(tmp_path / "class"), "--update"]) == 0
    assert files(tmp_path / "class") == before
    assert {path: path.stat().st_mtime_ns for path in old} == old


@pytest.mark.parametrize("more", [[], ["--update"]])
def test_hidden_files_are_not_in_the_way(more, tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("mine")
    assert main(["course", str(tmp_path), *more]) == 0
    assert (tmp_path / ONE).exists()
    assert (tmp_path / ".git" / "HEAD").read_text() == "mine"


def outputs(folder):
    notebooks = [json.loads(p.read_text(encoding="utf-8")) for p in folder.glob("*.ipynb")]
    cells = [cell for notebook in notebooks for cell in notebook["cells"]]
    return [one for cell in cells for one in cell.get("outputs", [])]


def test_outputs_come_only_where_they_are_asked_for(tmp_path):
    folder = tmp_path / "class"
    for options, shown in [
        ([], False), (["--outputs"], True), ([], True), (["--no-outputs"], False)
    ]:  # fmt: skip
        assert main(["course", str(folder), "--update", *options]) == 0
        assert bool(outputs(folder)) is shown
        captions = [text for text in sources_of(folder / ONE) if "**Figure" in text]
        assert captions
        for text in captions:
            said = "run the cell above" in text and "What it shows" in text
            assert said is not shown


def test_update_of_a_folder_that_is_no_course_is_refused(tmp_path, capsys):
    (tmp_path / ONE).write_text("{}")
    assert main(["course", str(tmp_path), "--update"]) == 1
    assert "holds no course" in capsys.readouterr().err
    assert files(tmp_path) == {tmp_path / ONE: b"{}"}


@pytest.fixture
def newer(monkeypatch):
    """An edition in which one question of chapter 3 is a better one."""
    edition = course._edition("folded", outputs=False)
    target = next(cell for cell in edition[ONE]["cells"] if cell["id"] == "03-081")
    target["source"] = "A better question"
    edition[ONE] = with_originals(edition[ONE])
    monkeypatch.setattr(course, "_edition", lambda **choices: edition)


def test_her_answer_survives_a_newer_edition(made, newer, capsys):
    change(made / ONE, "03-031", "my answer")
    assert main(["course", str(made), "--update"]) == 0
    shown = sources_of(made / ONE)
    assert shown.index("my answer") == shown.index("A better question") + 1
    assert f"{ONE}: 1 new from the course, 1 of yours kept\n" in capsys.readouterr().out


def test_old_imports_in_own_cells_are_told_with_what_to_write(made, newer, capsys):
    mine = "from gapfm_teach.exercises import check\nfrom gapfm_teach import GAPfm, smooth"
    change(made / ONE, "03-031", mine)
    assert main(["course", str(made), "--update"]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if "moved" in line] == [
        f"{ONE}: gapfm_teach.{old} in your own cells has moved; write {new} instead"
        for old, new in (
            ("exercises", "gapfm_course.exercises"),
            ("smooth", "gapfm_teach.paper"),
        )
    ]
    for new in course_command.MOVED.values():
        assert importlib.import_module(new)


def test_a_cell_that_both_have_changed_is_named_by_section_and_words(made, newer, capsys):
    change(made / ONE, "03-081", "My question, changed\nand longer")
    assert main(["course", str(made), "--update"]) == 0
    shown = capsys.readouterr().out
    assert ": My question, changed\n" in shown
    assert "03-081" not in shown


def test_a_file_where_a_folder_has_to_be_stops_the_update_before_anything(
    made, newer, capsys
):
    shutil.rmtree(made / "results")
    (made / "results").write_text("mine")
    before = files(made)
    assert main(["course", str(made), "--update"]) == 1
    assert "is a file, and the course needs a folder" in capsys.readouterr().err
    assert files(made) == before


def test_update_goes_on_without_solutions_unless_told(tmp_path):
    folder = tmp_path / "class"
    main(["course", str(folder), "--solutions", "no"])
    main(["course", str(folder), "--update"])
    assert not any("<b>Solution" in text for text in sources_of(folder / ONE))
    main(["course", str(folder), "--update", "--solutions", "folded"])
    assert any("<b>Solution" in text for text in sources_of(folder / ONE))
    main(["course", str(folder), "--update"])
    assert any("<b>Solution" in text for text in sources_of(folder / ONE))


def test_a_notebook_that_is_gone_comes_back_and_others_files_stay(made):
    before = files(made)
    (made / ONE).unlink()
    (made / "notes.txt").write_text("mine")
    assert main(["course", str(made), "--update"]) == 0
    assert files(made) == before | {made / "notes.txt": b"mine"}


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"cells": 3, "metadata": {}}'])
def test_a_notebook_that_cannot_be_merged_stops_the_update_before_anything(
    content, made, capsys
):
    (made / "00_start_here.ipynb").unlink()
    (made / ONE).write_text(content)
    before = files(made)
    assert main(["course", str(made), "--update"]) == 1
    assert ONE in capsys.readouterr().err
    assert files(made) == before


def test_results_are_renewed_but_not_where_she_has_made_her_own(made, monkeypatch):
    (made / "results" / "table4.csv").write_text("mine")
    newer = course._results() | {"table4.csv": b"newer", "table1.csv": b"newer"}
    monkeypatch.setattr(course, "_results", lambda: newer)
    for _ in range(2):
        assert main(["course", str(made), "--update"]) == 0
        assert (made / "results" / "table4.csv").read_text() == "mine"
        assert (made / "results" / "table1.csv").read_text() == "newer"


def test_what_is_broken_off_leaves_whole_files_and_update_ends_it(tmp_path, monkeypatch):
    written = course._write
    left = 5

    def break_off(path, content):
        nonlocal left
        if left == 0:
            raise OSError(28, "no room", str(path))
        left -= 1
        written(path, content)

    monkeypatch.setattr(course, "_write", break_off)
    assert main(["course", str(tmp_path / "class")]) == 1
    assert not (tmp_path / "class").exists()  # made whole, or not at all
    (tmp_path / "empty").mkdir()
    left = 5
    assert main(["course", str(tmp_path / "empty")]) == 1
    monkeypatch.undo()
    assert main(["course", str(tmp_path / "empty"), "--update"]) == 0
    assert len(list((tmp_path / "empty").glob("*.ipynb"))) == 13
    assert not list((tmp_path / "empty").glob("*.part"))
