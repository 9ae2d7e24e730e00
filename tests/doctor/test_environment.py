"""The doctor: what it finds, what it advises, its exit code."""

import importlib
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from movielens_files import SMALL_100K, make_zip

import gapfm_teach.__main__ as command_line
from gapfm_course.doctor import environment as doctor
from gapfm_teach import kernels


def found(name):
    [check] = [check for check in doctor.check_environment() if check.name == name]
    return check


@pytest.fixture(autouse=True)
def data_folder(tmp_path, monkeypatch):
    folder = tmp_path / "data"
    monkeypatch.setenv("GAPFM_TEACH_DATA", str(folder))
    return folder


@pytest.fixture
def versions(monkeypatch):
    """Let some packages seem to have another version, or none (None)."""
    pretended = {}
    real = metadata.version

    def version(name):
        if name in pretended and pretended[name] is None:
            raise metadata.PackageNotFoundError(name)
        return pretended.get(name) or real(name)

    monkeypatch.setattr(doctor.metadata, "version", version)
    return pretended


def test_the_environment_of_the_tests_is_fit(capsys):
    assert doctor.main() == 0
    said = capsys.readouterr().out
    assert "Everything needed is there." in said
    assert "problem" not in said


def test_every_dependency_of_the_project_is_looked_at():
    names = {check.name for check in doctor.check_environment()}
    assert {
        "Python",
        "numpy",
        "numba",
        "pandas",
        "scipy",
        "pooch",
        "jupyterlab",
        "ipywidgets",
    } <= names
    assert not {"pytest", "ruff"} & names


def test_missing_and_outdated_packages_are_problems_with_a_remedy(versions, capsys):
    versions.update(numba=None, scipy="1.2.9", pandas="10.0", jupyterlab_widgets=None)
    assert found("numba").state == "problem"
    assert found("numba").remedy.startswith('python -m pip install "numba>=')
    assert "older than" in found("scipy").detail
    assert "--upgrade" in found("scipy").remedy
    assert found("pandas").state == "ok"
    assert found("widgets").state == "problem"
    assert doctor.main() == 1
    said = capsys.readouterr().out
    assert "Problems to mend: 3." in said
    assert '-> python -m pip install "numba>=' in said


def test_what_only_the_notebooks_need_may_be_missing_but_not_old(versions, monkeypatch):
    versions.update(jupyterlab=None, sympy="1.0")
    without(monkeypatch, "jupyterlab")
    assert found("jupyterlab").state == "note"
    assert found("jupyterlab").remedy == 'python -m pip install "gapfm-teach[notebooks]"'
    assert found("sympy").state == "problem"
    assert "Jupyter kernel" not in {check.name for check in doctor.check_environment()}


@pytest.mark.parametrize("error", [ImportError, OSError, ValueError])
def test_a_package_that_is_there_but_does_not_load_is_a_problem(monkeypatch, error):
    real = importlib.import_module

    def import_module(name):
        if name == "scipy":
            raise error("undefined symbol: dgemm")
        return real(name)

    monkeypatch.setattr(doctor.importlib, "import_module", import_module)
    assert found("scipy").state == "problem"
    assert "does not load" in found("scipy").detail
    assert "undefined symbol: dgemm" in found("scipy").detail
    assert "--force-reinstall" in found("scipy").remedy
    assert found("pandas").state == "ok"


def test_an_old_python_is_a_problem(monkeypatch):
    monkeypatch.setattr(doctor.sys, "version_info", (3, 9, 1))
    assert (found("Python").state, found("Python").detail) == ("problem", "3.9.1")


def test_without_a_place_for_compiled_code_it_only_notes_so(monkeypatch):
    monkeypatch.setattr(kernels, "CACHE_ENABLED", True)
    monkeypatch.setattr(doctor, "uncompiled", list)
    assert found("compiled code").state == "ok"
    monkeypatch.setattr(kernels, "CACHE_ENABLED", False)
    assert found("compiled code").state == "note"
    assert "NUMBA_CACHE_DIR" in found("compiled code").remedy


def test_the_data_folder_and_what_is_in_it(data_folder):
    assert found("data folder").state == "ok"
    assert not data_folder.exists()
    assert found("MovieLens 100K").state == "note"
    data_folder.mkdir()
    (data_folder / "ml-100k.zip").write_bytes(b"damaged")
    assert "damaged" in found("MovieLens 100K").detail
    (data_folder / "ml-100k.zip").unlink()
    data_folder.rmdir()
    data_folder.write_text("a file where the folder should be")
    assert found("data folder").state == "problem"
    assert found("data folder").detail == f"{data_folder} is a file, not a folder"
    assert "GAPFM_TEACH_DATA" in found("data folder").remedy


@pytest.mark.parametrize("filled", [False, True])
@pytest.mark.usefixtures("accept_small")
def test_data_that_can_only_be_read_are_no_problem(data_folder, monkeypatch, filled):
    data_folder.mkdir()
    if filled:
        make_zip(data_folder / "ml-100k.zip", SMALL_100K)
    real = os.access
    monkeypatch.setattr(
        doctor.os, "access", lambda path, mode: not mode & os.W_OK and real(path, mode)
    )
    assert found("data folder").state == "note"
    assert found("MovieLens 100K").state == ("ok" if filled else "note")
    assert doctor.main() == 0


def test_without_browser_and_quarto_it_only_notes_so(monkeypatch):
    monkeypatch.delenv("GAPFM_TEACH_CHROMIUM", raising=False)
    monkeypatch.setattr(doctor, "CHROMIUM_PLACES", ())
    monkeypatch.setattr(doctor.shutil, "which", lambda _name: None)
    assert {found(name).state for name in ("Chromium", "Quarto")} == {"note"}
    assert "GAPFM_TEACH_CHROMIUM" in found("Chromium").remedy
    monkeypatch.setenv("GAPFM_TEACH_CHROMIUM", "my-chrome")
    assert doctor.find_chromium() == "my-chrome"
    assert found("Chromium").state == "ok"


def without(monkeypatch, *missing):
    real = importlib.import_module

    def import_module(name):
        if name in missing:
            raise ModuleNotFoundError(f"No module named {name!r}")
        return real(name)

    monkeypatch.setattr(doctor.importlib, "import_module", import_module)


def test_only_the_site_needs_pandoc(monkeypatch):
    without(monkeypatch, "pypandoc")
    monkeypatch.setattr(doctor.shutil, "which", lambda _name: None)
    assert found("pandoc").state == "note"
    assert "to build the site" in found("pandoc").remedy


def test_a_check_that_breaks_is_a_problem_and_the_rest_goes_on(monkeypatch):
    without(monkeypatch, "gapfm_teach.kernels", "jupyter_client.kernelspec")
    checks = doctor.check_environment()
    broken = {check.name for check in checks if check.state == "problem"}
    assert broken == {"compiled", "jupyter", "threads"}
    assert "No module named 'gapfm_teach.kernels'" in doctor.report(checks)
    assert checks[-1].name == "pandoc"


def test_the_command_line_prints_usage_and_runs_the_doctor(monkeypatch, capsys):
    assert command_line.main([]) == 0
    assert "usage: python -m gapfm_teach" in capsys.readouterr().out
    for state, code in (("ok", 0), ("note", 0), ("problem", 1)):
        checks = [doctor.Check("one thing", state, "a detail", "a remedy")]
        monkeypatch.setattr(doctor, "check_environment", lambda checks=checks: checks)
        assert command_line.main(["doctor"]) == code
        assert "-> a remedy" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        command_line.main(["nurse"])


@pytest.mark.processes
def test_it_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "gapfm_teach"],
        capture_output=True,
        text=True,
        cwd=Path.home(),
    )
    assert done.returncode == 0, done.stderr
    assert "doctor" in done.stdout
