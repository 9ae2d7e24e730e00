"""What a container and Binder are told: packages that exist, and folders that can be written to."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from test_packaging import floors, pinned

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "container/Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
STEPS = re.findall(r"^([A-Z]+) (.*)", TEXT, re.MULTILINE)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def step(name: str) -> list[str]:
    return [words for kind, words in STEPS if kind == name]


def test_the_container_copies_what_is_there_and_installs_extras_that_exist():
    for words in step("COPY"):
        *sources, _ = words.split()
        assert all((ROOT / source).exists() for source in sources)
    (run,) = step("RUN")
    extras = re.search(r'"\.\[([\w,]+)\]"', run)[1].split(",")
    assert set(extras) <= PROJECT["optional-dependencies"].keys()
    assert step("USER") == ["1000"]


@pytest.mark.processes
@pytest.mark.skipif(shutil.which("sed") is None, reason="there is no sed here")
def test_the_containers_constraints_are_the_pinned_versions_without_hashes():
    script = re.search(r"sed -E '([^']*)'", (ROOT / "container/Containerfile").read_text())[
        1
    ]
    told = subprocess.run(
        ["sed", "-E", script, "requirements.txt"], cwd=ROOT, check=True,
        capture_output=True, encoding="utf-8",
    ).stdout  # fmt: skip
    lines = [line for line in told.splitlines() if line and not line.startswith("#")]
    constraints = [Requirement(line) for line in lines]
    assert {str(next(iter(r.specifier)).version) for r in constraints} == {
        str(version) for version in pinned().values()
    }
    assert len(constraints) == len(pinned())


@pytest.mark.processes
def test_all_that_is_kept_goes_where_the_container_lets_it(tmp_path):
    """Without a home, on a place for temporary files alone, and without a word of complaint."""
    (words,) = step("ENV")
    variables = dict(re.findall(r"(\w+)=(\S+)", words))
    assert variables["HOME"] == "/tmp"
    kept = {
        name: re.sub("^/tmp", str(tmp_path), value) for name, value in variables.items()
    }
    no_home = {"HOME": os.devnull + "/none", "USERPROFILE": os.devnull + "/none"}
    code = """
        import numpy as np, matplotlib.pyplot
        from IPython.core.interactiveshell import InteractiveShell
        from jupyter_core import paths
        from gapfm_teach import kernels
        kernels.pair_sums(np.array([0.0]), np.array([1.0]), np.empty(1))
        InteractiveShell().run_cell("1 + 1", store_history=True)
        print(paths.jupyter_config_dir(), paths.jupyter_data_dir(), paths.jupyter_runtime_dir())
    """
    done = subprocess.run(
        [sys.executable, "-c", re.sub(r"^ +", "", code, flags=re.MULTILINE)],
        env=os.environ | kept | no_home | {"MPLBACKEND": "agg"},
        capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert all(place.startswith(str(tmp_path)) for place in done.stdout.split()[-3:])
    own = tmp_path / "gapfm-teach"
    assert {"ipython", "matplotlib", "numba"} <= {path.name for path in own.iterdir()}
    assert list((own / "numba").rglob("*.nbi"))


def test_binder_gets_the_light_packages_as_the_project_asks_for_them():
    lines = (ROOT / ".binder" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    own, *others = [line for line in lines if not line.startswith("#")]
    assert own == ".[notebooks]"
    for other in map(Requirement, others):
        assert str(other.specifier) == f">={floors()[other.name]}"
    version = (ROOT / ".binder" / "runtime.txt").read_text(encoding="utf-8").strip()
    assert re.fullmatch(r"python-3\.1[1-3]", version)
