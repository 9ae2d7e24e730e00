"""`make TARGET` and `python tools/make.py TARGET`: one list, nothing made twice, failures told."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def project(tmp_path):
    """A folder with what the site is made of, and tools/make.py in it."""
    for name in (
        "requirements.txt",
        "pyproject.toml",
        "_quarto.yml",
        "CITATION.cff",
        "index.qmd",
    ):
        (tmp_path / name).write_text(name)
    for name in (
        "notebooks/00.ipynb",
        "pages/a.qmd",
        "preview/fonts/a.woff2",
        "images/a.svg",
    ):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "make.py", tmp_path / "tools")
    return tmp_path


@pytest.fixture
def commands(project, monkeypatch):
    """`commands(name)`: what making a target would run, as far as nothing fails."""
    spec = importlib.util.spec_from_file_location("copied_make", project / "tools/make.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    ran = []

    def pretend(command, env, **_):
        ran.append(" ".join(command[1:]))
        if "preview.site" in command:
            (project / "_site").mkdir(exist_ok=True)
            (project / "_site/index.html").write_text("site")
        if env.get("FAIL") and env["FAIL"] in ran[-1]:
            raise subprocess.CalledProcessError(7, command)

    monkeypatch.setattr(make.subprocess, "run", pretend)

    def made(*names, returns=0):
        ran.clear()
        assert make.main(list(names)) == returns
        return list(ran)

    return made


def later(path):
    """Let a file be newer than everything else, whatever the resolution of its clock."""
    import os

    os.utime(path, (2**33, 2**33))


def test_the_site_is_made_once_and_again_after_a_change(commands, project):
    first = commands("site")
    assert first[0] == "-m venv .venv"
    assert first[-1] == "-m preview.site"
    assert any("-r requirements.txt" in command for command in first)
    assert commands("site") == []
    (project / "preview/__pycache__").mkdir()
    later(project / "preview/fonts")  # a folder is no source, nor is what Python keeps
    (project / "preview/__pycache__/a.pyc").write_text("")
    later(project / "preview/__pycache__/a.pyc")
    assert commands("site") == []


@pytest.mark.parametrize(
    "source",
    [
        "index.qmd",
        "pages/a.qmd",
        "notebooks/00.ipynb",
        "preview/fonts/a.woff2",
        "_quarto.yml",
    ],
)
def test_a_changed_source_makes_the_site_anew_and_nothing_else(commands, project, source):
    commands("site")
    later(project / source)
    assert commands("site") == ["-m preview.site"]


def test_changed_versions_are_installed_first(commands, project):
    commands("site")
    later(project / "requirements.txt")
    assert [command.split()[1] for command in commands("setup")] == [
        "venv",
        "pip",
        "pip",
    ]


def test_tests_are_not_run_after_a_fault_of_style(commands, monkeypatch, project):
    assert [c for c in commands("test") if "pytest" in c and "notebooks" in c]
    monkeypatch.setenv("FAIL", "mypy")
    assert commands("test", "site", returns=7)[-1] == "-m mypy"


def test_an_unknown_target_is_named_and_nothing_is_run(commands, capsys):
    assert commands("site", "sight", returns=2) == []
    assert (
        "no target is called 'sight'; there are: help, setup, site"
        in capsys.readouterr().out
    )


def test_what_make_removes_is_what_it_made(commands, project):
    for name in (".venv", ".make", "_site", "_paper", "_stick"):
        (project / name).mkdir()
    commands("clean")
    left = {path.name for path in project.iterdir() if path.is_dir()}
    assert left == {"notebooks", "pages", "preview", "images", "tools"}


@pytest.mark.processes
@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")
def test_make_hands_each_target_on():
    # `make test` itself has told what it makes calls in variables of its own.
    own = {name: value for name, value in os.environ.items() if "MAKE" not in name}

    def said(*command):
        return subprocess.run(
            command, cwd=ROOT, env=own, check=True, capture_output=True, encoding="utf-8"
        ).stdout

    listed = said("make", f"PYTHON={sys.executable}")
    assert listed == said(sys.executable, "tools/make.py")
    names = re.findall(r"^[a-z]+", listed, re.MULTILINE)
    assert {"site", "test", "notebooks", "stick"} <= set(names)
    assert said("make", "-n", "PYTHON=py", *names).splitlines() == [
        f"py tools/make.py {name}" for name in names
    ]
