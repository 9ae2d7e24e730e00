"""`doctor --class`: the line, the code, and what a teacher learns from it."""

import socket
from importlib import metadata

import pytest

import gapfm_teach.__main__ as command_line
from gapfm_course.doctor import classroom, environment
from gapfm_teach import kernels

MISSING = environment.Check("MovieLens 100K", "note", "fetched on first use")
READY = environment.Check("MovieLens 100K", "ok", "here")


@pytest.fixture(autouse=True)
def data_folder(tmp_path, monkeypatch):
    folder = tmp_path / "data"
    monkeypatch.setenv("GAPFM_TEACH_DATA", str(folder))
    return folder


@pytest.fixture
def ready(monkeypatch):
    """A laptop on which all is well, whatever the one is on which the tests run."""
    monkeypatch.setattr(classroom, "uncompiled", list)
    monkeypatch.setattr(classroom, "_disk_seconds", lambda: 0.1)
    monkeypatch.setattr(classroom, "_memory", lambda: 8.0)
    monkeypatch.setattr(kernels, "CACHE_ENABLED", True)
    monkeypatch.setattr(kernels, "damaged_cache", list)
    monkeypatch.setattr(environment, "movielens", lambda: READY)


def the_line(capsys) -> tuple[str, str, str]:
    """The line, its word, and the code in it."""
    line = capsys.readouterr().out
    assert line.count("\n") == 1
    return line, line.split(":")[0], line.split("Code: ")[1].split()[0]


def test_all_well_is_green_and_a(ready, capsys):
    assert command_line.main(["doctor", "--class"]) == 0
    line, word, code = the_line(capsys)
    assert (word, code) == ("green", f"A-{classroom.checksum()}")
    assert "\033" not in line  # no colour where no terminal is


def no_python(monkeypatch):
    monkeypatch.setattr(environment.sys, "version_info", (3, 9, 1))


def old_package(monkeypatch, name="pandas"):
    real = metadata.version
    monkeypatch.setattr(metadata, "version", lambda n: "0.1" if n == name else real(n))


def missing_package(monkeypatch, name="anywidget"):
    real = metadata.version

    def version(asked):
        if asked == name:
            raise metadata.PackageNotFoundError(asked)
        return real(asked)

    monkeypatch.setattr(metadata, "version", version)


def unwritable_cache(monkeypatch):
    monkeypatch.setattr(kernels, "CACHE_ENABLED", False)


def damaged_cache(monkeypatch):
    monkeypatch.setattr(kernels, "damaged_cache", lambda: ["/some/folder"])


def cold_cache(monkeypatch):
    monkeypatch.setattr(classroom, "uncompiled", lambda: ["gradients"])


def slow_disk(monkeypatch):
    monkeypatch.setattr(classroom, "_disk_seconds", lambda: 9.0)


def full_disk(monkeypatch):
    def fail():
        raise OSError(28, "no space left on device")

    monkeypatch.setattr(classroom, "_disk_seconds", fail)


def little_memory(monkeypatch):
    monkeypatch.setattr(classroom, "_memory", lambda: 0.4)


@pytest.mark.parametrize(
    ("break_it", "letters"),
    [
        (no_python, "P"), (old_package, "V"), (missing_package, "J"), (unwritable_cache, "K"),
        (damaged_cache, "K"), (cold_cache, "W"), (slow_disk, "S"), (full_disk, "S"),
        (little_memory, "M"),
    ],
)  # fmt: skip
def test_each_problem_is_red_and_has_its_letter(
    ready, monkeypatch, capsys, break_it, letters
):
    break_it(monkeypatch)
    assert command_line.main(["doctor", "--class"]) == 1
    line, word, code = the_line(capsys)
    assert (word, code.split("-")[0]) == ("red", letters)
    assert "1 thing to mend" in line


def test_data_are_missed_only_where_no_network_brings_them(ready, monkeypatch):
    def refuse(*_, **__):
        raise OSError("no route")

    monkeypatch.setattr(socket, "create_connection", refuse)
    assert classroom.problems() == ""
    monkeypatch.setattr(environment, "movielens", lambda: MISSING)
    assert classroom.problems() == "N"
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.undo()
        monkeypatch.setenv("GAPFM_TEACH_DATA", str(data_folder))
        monkeypatch.setattr(classroom, "SITE", server.getsockname())
        assert "N" not in classroom.problems()


def test_a_file_in_place_of_the_data_folder_is_named(ready, data_folder, monkeypatch):
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: socket.socket())
    monkeypatch.setattr(environment, "movielens", lambda: MISSING)
    data_folder.write_text("a file")
    assert "D" in classroom.problems()


def test_several_problems_come_in_one_code_that_is_explained(ready, monkeypatch, capsys):
    little_memory(monkeypatch)
    cold_cache(monkeypatch)
    assert command_line.main(["doctor", "--class"]) == 1
    line, _, code = the_line(capsys)
    assert code.startswith("WM-")
    assert "2 things" in line
    assert line.endswith("; first run python -m gapfm_teach warm, then this again\n")
    assert command_line.main(["doctor", "--class", code.lower()]) == 0
    said = capsys.readouterr().out
    assert "W: not all is compiled yet" in said
    assert "python -m gapfm_teach warm" in said
    assert "M: little memory is free" in said
    assert "the same versions as here" in said


def test_other_versions_give_another_code(ready, monkeypatch, capsys):
    here = classroom.checksum()
    assert here == classroom.checksum()
    monkeypatch.setattr(classroom.sys, "version_info", (3, 12, 99))
    other_python = classroom.checksum()
    monkeypatch.undo()
    missing_package(monkeypatch)
    assert len({here, other_python, classroom.checksum()}) == 3
    assert command_line.main(["doctor", "--class", f"A-{here}"]) == 0
    said = capsys.readouterr().out
    assert "A: all is well" in said
    assert "other versions than here" in said


@pytest.mark.parametrize("code", ["Z-222", "A", "AW-222", "A-22", "A-1I0", "green", "-222"])
def test_what_is_no_code_is_said_to_be_none(code, capsys):
    assert command_line.main(["doctor", f"--class={code}"]) == 1
    said = capsys.readouterr().out
    assert repr(code) in said
    assert f"such as A-{classroom.checksum()}" in said


def test_each_letter_has_a_remedy():
    assert classroom.ALL_WELL not in classroom.PROBLEMS
    assert all(problem.what and problem.remedy for problem in classroom.PROBLEMS.values())


def test_what_is_measured_is_measured():
    assert classroom._disk_seconds(n_files=2) > 0.0
    assert 0.01 < classroom._memory() < 2**16
