"""What is installed and what is shipped: lowest versions, pinned versions, the source archive."""

import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tools.lowest import lowest

ROOT = Path(__file__).resolve().parents[2]


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


@pytest.mark.processes
def test_the_source_archive_holds_the_package_whole_and_no_half_of_the_tests(tmp_path):
    copy = tmp_path / "project"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "LICENSE-TEXT", "MANIFEST.in"):
        shutil.copy(ROOT / name, copy)
    for name in ("gapfm_teach", "tests", "tools", "preview"):
        leave = shutil.ignore_patterns("__pycache__", ".*")
        shutil.copytree(ROOT / name, copy / name, ignore=leave)
    build = "import sys; from setuptools import build_meta as b; b.build_sdist(sys.argv[1])"
    subprocess.run(
        [sys.executable, "-c", build, str(tmp_path)],
        cwd=copy,
        check=True,
        capture_output=True,
    )
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        names = [member.name.partition("/")[2] for member in tar if member.isfile()]
    package = copy / "gapfm_teach"
    ours = {p.relative_to(copy).as_posix() for p in package.rglob("*") if p.is_file()}
    assert {n for n in names if n.startswith("gapfm_teach/")} == ours
    assert {"pyproject.toml", "README.md", "LICENSE", "LICENSE-TEXT"} <= set(names)
    assert not [n for n in names if n.startswith(("tests/", "tools/", "preview/"))]
