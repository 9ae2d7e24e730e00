"""The USB stick: which wheels it takes along, and what its start script does with them."""

import subprocess
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tools import stick, stick_start

ROOT = Path(__file__).resolve().parents[2]

# What a package brings is read from the packages that are installed, others than those pinned with
# the lowest versions.
pytestmark = pytest.mark.skipif(
    f"pandas=={version('pandas')} " not in (ROOT / "requirements.txt").read_text("utf-8"),
    reason="a stick is filled where the pinned packages are installed",
)


def names(system, python="3.12"):
    return {
        Requirement(line.split(" --")[0]).name
        for line in stick.requirements(system, python)
    }


@pytest.mark.parametrize("system", stick.SYSTEMS)
def test_the_wheels_are_those_of_the_course_pinned_and_hashed(system):
    lines = stick.requirements(system, "3.12")
    assert all(line.count("==") == 1 and "--hash=sha256:" in line for line in lines)
    brought = names(system)
    assert {"numpy", "numba", "llvmlite", "jupyterlab", "anywidget", "mpmath"} <= brought
    assert {"scikit-learn", "scikit-surprise", "distributed", "pyarrow"} <= brought
    assert not brought & {"pytest", "ruff", "mypy", "playwright", "typst", "gapfm-teach"}


def test_each_system_gets_its_own():
    assert {"colorama", "pywinpty"} <= names("windows")
    assert "pexpect" not in names("windows")
    assert {"pexpect", "appnope"} <= names("mac")
    assert not names("linux") & {"colorama", "pywinpty", "appnope"}


def test_what_is_not_pinned_is_named(monkeypatch):
    pins = stick.pinned()
    del pins["numba"]
    monkeypatch.setattr(stick, "pinned", lambda: pins)
    with pytest.raises(ValueError, match=r"numba, for mac, is not in requirements\.txt"):
        stick.requirements("mac", "3.12")


@pytest.fixture
def packed(tmp_path, monkeypatch):
    """A stick, packed without network: with wheels that are empty files."""

    def pip(command, *arguments):
        words = [str(word) for word in arguments]
        option = "--dest" if command == "download" else "--wheel-dir"
        wheels = Path(words[words.index(option) + 1])
        version = (
            words[words.index("--python-version") + 1] if command == "download" else "3"
        )
        name = "numba" if command == "download" else "gapfm_teach"
        tag = "cp" + version.replace(".", "")
        (wheels / f"{name}-1-{tag}-{tag}-any.whl").write_text("")

    monkeypatch.setattr(stick, "pip", pip)
    folder = tmp_path / "stick"
    stick.fill(folder, ["linux", "windows"], "3.12")
    return folder


def test_the_stick_holds_packages_a_start_and_no_ratings(packed):
    held = {path.relative_to(packed).as_posix() for path in packed.rglob("*")}
    assert {"start.py", "start.sh", "start.bat"} <= held
    assert "wheels/wanted.txt" not in held
    assert not [name for name in held if "movielens" in name.lower() and ".npz" in name]
    assert b"py -3.12" in (packed / "start.bat").read_bytes()
    subprocess.run(["sh", "-n", packed / "start.sh"], check=True)


def test_a_failed_download_leaves_the_stick_as_it_was(packed, monkeypatch):
    def fail(*_):
        raise subprocess.CalledProcessError(1, "pip")

    monkeypatch.setattr(stick, "pip", fail)
    before = sorted(packed.rglob("*"))
    with pytest.raises(subprocess.CalledProcessError):
        stick.fill(packed, ["linux"], "3.12")
    assert sorted(packed.rglob("*")) == before


def test_another_python_is_told_which_one_to_install(packed, monkeypatch, capsys):
    monkeypatch.setattr(stick_start, "WHEELS", packed / "wheels")
    monkeypatch.setattr(stick_start.sys, "version_info", (3, 12, 1))
    assert stick_start.fitting_python()
    monkeypatch.setattr(stick_start.sys, "version_info", (3, 14, 0))
    assert not stick_start.fitting_python()
    assert (
        "packages here are for Python 3.12, and this is Python 3.14"
        in capsys.readouterr().out
    )


def test_the_wheel_is_built_of_all_that_it_is_made_of(monkeypatch, tmp_path):
    def pip(command, *arguments):
        place = Path(arguments[-1])
        wheel = tomllib.loads((place / "pyproject.toml").read_text(encoding="utf-8"))
        wheel = wheel["tool"]["hatch"]["build"]["targets"]["wheel"]
        wanted = [*wheel["packages"], *wheel["force-include"]]
        assert len(wanted) == 6
        assert all((place / name).exists() for name in wanted)
        asked.append(command)

    asked = []
    monkeypatch.setattr(stick, "pip", pip)
    stick.build(tmp_path)
    assert asked == ["wheel"]


def test_a_second_start_keeps_the_environment(packed, monkeypatch, tmp_path):
    made = []
    monkeypatch.setattr(stick_start, "HERE", packed)
    monkeypatch.setattr(stick_start, "WHEELS", packed / "wheels")
    monkeypatch.setattr(stick_start.subprocess, "run", lambda *_, **__: None)

    def create(folder, clear, with_pip):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "complete").unlink(missing_ok=True)
        made.append(folder)

    monkeypatch.setattr(stick_start.venv, "create", create)
    for _ in range(2):
        stick_start.install(tmp_path / "home/.venv")
    assert len(made) == 1
    (packed / "wheels/scipy-2-any.whl").write_text("")  # another stick
    stick_start.install(tmp_path / "home/.venv")
    assert len(made) == 2
