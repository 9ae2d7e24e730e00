"""What is installed and what is shipped: lowest versions, pinned versions, the source archive."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tools.lowest import lowest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("gapfm_teach", "gapfm_lab", "gapfm_course")


def pinned() -> dict[str, Version]:
    """name -> version of everything in requirements.txt."""
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    found = re.findall(r"^([\w.-]+)==([\w.]+)", text, re.MULTILINE)
    return {canonicalize_name(name): Version(version) for name, version in found}


def floors() -> dict[str, Version]:
    """name -> lowest version that pyproject.toml allows."""
    asked = [Requirement(line) for line in lowest()]
    return {
        canonicalize_name(r.name): Version(next(iter(r.specifier)).version) for r in asked
    }


def test_each_requirement_has_a_lowest_version(tmp_path):
    assert {"numpy", "implicit", "dask", "pytest"} <= floors().keys()
    project = tmp_path / "pyproject.toml"
    project.write_text(
        '[project]\nname = "p"\ndependencies = ["numpy"]\noptional-dependencies.dev = []\n'
    )
    with pytest.raises(ValueError, match="'numpy' has no lowest version"):
        lowest(project)


def test_the_conda_environment_names_the_same_lowest_versions():
    entries = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    *conda, pip = entries["dependencies"]
    named = [
        Requirement(e) for e in [*conda, *pip["pip"]] if re.fullmatch(r"[\w-]+>=.*", e)
    ]
    theirs = {
        canonicalize_name(r.name): Version(next(iter(r.specifier)).version) for r in named
    }
    ours = floors()
    for name, version in theirs.items():
        assert ours.get(name, version) == version, name
    # Dask comes with distributed; ranx is for Linux alone.
    assert ours.keys() - theirs.keys() == {"dask", "ranx"}


def test_what_is_pinned_is_allowed_hashed_and_bound_to_no_host():
    versions = pinned()
    for name, low in floors().items():
        assert versions[name] >= low, name
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    lines = re.sub(r"\\\n", " ", text).splitlines()
    entries = [line for line in lines if line and not line.startswith("#")]
    assert len(entries) == len(versions)
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", entry) for entry in entries)
    assert "//" not in text


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of what is built from."""
    copy = tmp_path_factory.mktemp("built") / "project"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "LICENSE-TEXT"):
        shutil.copy(ROOT / name, copy)
    for name in (*PACKAGES, "notebooks", "pages", "tests", "tools", "preview"):
        leave = shutil.ignore_patterns("__pycache__", ".*")
        shutil.copytree(ROOT / name, copy / name, ignore=leave)
    return copy


def built(project: Path, kind: str, folder: Path) -> Path:
    """The one file that is built of `kind`, "sdist" or "wheel", into `folder`."""
    build = f"import sys; from hatchling import build as b; b.build_{kind}(sys.argv[1])"
    command = [sys.executable, "-c", build, str(folder)]
    subprocess.run(command, cwd=project, check=True, capture_output=True)
    (made,) = folder.iterdir()
    return made


def files(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


@pytest.mark.processes
def test_the_source_archive_holds_the_package_whole_and_no_half_of_the_tests(
    project, tmp_path
):
    with tarfile.open(built(project, "sdist", tmp_path)) as tar:
        names = {member.name.partition("/")[2] for member in tar if member.isfile()}
    for package in PACKAGES:
        inside = {f"{package}/{name}" for name in files(project / package)}
        assert {n for n in names if n.startswith(f"{package}/")} == inside
    assert {"pyproject.toml", "README.md", "LICENSE", "LICENSE-TEXT"} <= names
    assert not [n for n in names if n.startswith(("tests/", "tools/", "preview/"))]
    # What a wheel is built from is in it.
    read = {f"notebooks/{n}" for n in files(project / "notebooks")}
    assert {n for n in names if n.startswith("notebooks/")} == read
    assert {"pages/references.bib", "pages/notation.qmd"} <= names


def test_a_release_waits_for_its_owner_and_the_readme_names_the_wheel():
    text = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    assert {name: job.get("if") for name, job in jobs.items()} == {
        "build": None, "pypi": "vars.RELEASE == 'on'", "site": "vars.RELEASE == 'on'"
    }  # fmt: skip
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    wheel = f"gapfm_teach-{project['version']}-py3-none-any.whl"
    assert wheel in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.processes
def test_a_wheel_writes_the_course_that_the_checkout_does(project, tmp_path):
    installed = tmp_path / "installed"
    (tmp_path / "wheel").mkdir()
    with zipfile.ZipFile(built(project, "wheel", tmp_path / "wheel")) as wheel:
        wheel.extractall(installed)  # all that installing one of pure Python does
    assert (installed / "gapfm_course" / "class_edition" / "sources").is_dir()
    for name, home in {"theirs": installed, "ours": ROOT}.items():
        subprocess.run(
            [sys.executable, "-m", "gapfm_teach", "course", str(tmp_path / name)],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(home)},
            check=True,
        )
    assert files(tmp_path / "theirs") == files(tmp_path / "ours")
