"""Where Numba is missing: the first chapters run and print what they print with it."""

import importlib
import inspect
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gapfm_course.exercises.core import NOT_YET
from gapfm_teach import kernels, simulate_ratings, split_given
from gapfm_teach.training.data import TrainingData
from gapfm_teach.training.loop import held_out_gap
from gapfm_teach.training.objectives import SMOOTH_RANKS, PaperObjective

ROOT = Path(__file__).resolve().parents[2]
WITHOUT_KERNELS = ("01_from_ap_to_gap", "03_gradients")
CHAPTERS = ("00_start_here", "01_from_ap_to_gap", "02_smoothing", "03_gradients")
HOMES = [
    importlib.import_module(f"gapfm_teach.kernels.{path.stem}")
    for path in Path(kernels.__file__).parent.glob("*.py")
    if path.stem not in ("__init__", "without_numba")
]
ABOUT_THE_COMPILER = {"00-003"}


@pytest.fixture(scope="module")
def stand_in():
    with pytest.warns(UserWarning, match="python -m pip install numba"):
        return importlib.import_module("gapfm_teach.kernels.without_numba")


def stored(chapter: str) -> dict[str, str]:
    """What each code cell printed when the notebook was stored."""
    text = (ROOT / "notebooks" / f"{chapter}.ipynb").read_text(encoding="utf-8")
    return {
        cell["id"]: "".join(
            "".join(output["text"])
            for output in cell["outputs"]
            if output.get("name") == "stdout"
        )
        for cell in json.loads(text)["cells"]
        if cell["cell_type"] == "code"
    }


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_prints_without_numba_what_it_prints_with_it(chapter):
    script, notebook = ROOT / "tests/chapter_without_numba.py", f"notebooks/{chapter}.ipynb"
    done = subprocess.run(
        [sys.executable, script, ROOT / notebook],
        cwd=ROOT, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    printed, expected = found["printed"], stored(chapter)
    assert len(printed) >= 20
    for cell in printed.keys() - ABOUT_THE_COMPILER:
        # What is stored shows a dialogue there.
        assert printed[cell].replace(f"{NOT_YET}\n", "") == expected[cell], cell
    said = [text for text in found["warnings"] if "Numba is missing" in text]
    assert len(said) == (chapter not in WITHOUT_KERNELS)
    if chapter == "00_start_here":
        assert "python -m pip install" in printed["00-003"]


def test_each_form_in_numpy_takes_what_the_kernel_takes(stand_in):
    for name, form in stand_in._IN_NUMPY.items():
        found = {getattr(home, name) for home in HOMES if hasattr(home, name)}
        signatures = [inspect.signature(kernel.py_func) for kernel in found]
        assert signatures == [inspect.signature(form)], name


@pytest.fixture
def in_numpy(stand_in, monkeypatch):
    """`with_forms()`: let the kernels be what they are where Numba is missing."""

    def put() -> None:
        for home in (*HOMES, kernels):
            for name, kernel in vars(home).items():
                if hasattr(kernel, "py_func"):
                    form = stand_in._IN_NUMPY.get(name, kernel.py_func)
                    monkeypatch.setattr(home, name, form)

    return put


@pytest.mark.parametrize("n_selected", [None, 3])
def test_objective_gradients_and_held_out_gap_are_those_of_the_compiled_code(
    in_numpy, n_selected
):
    ratings = simulate_ratings(40, 90, mean_ratings=25, random_state=0)
    train, held_out = split_given(ratings, 10, random_state=0)
    rng = np.random.default_rng(1)
    U = rng.normal(0, 2, (train.n_users, 4))
    V = rng.normal(0, 2, (train.n_items, 4))

    def measure():
        data = TrainingData(train)
        value, by_user, by_item = PaperObjective(n_selected=n_selected).gradients(
            data, U, V
        )
        return value, by_user, by_item, held_out_gap(U, V, train, held_out)

    compiled = measure()
    in_numpy()
    for ours, theirs in zip(measure(), compiled, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("objective", SMOOTH_RANKS)
@pytest.mark.parametrize("n_drawn", [20, 90])
def test_gradients_of_smooth_rank_objectives_are_those_of_the_compiled_code(
    in_numpy, objective, n_drawn
):
    train = simulate_ratings(30, 90, mean_ratings=15, random_state=0)
    measure = replace(SMOOTH_RANKS[objective], temperature=0.7, unrated_weight=0.1)
    rng = np.random.default_rng(1)
    U, V = rng.normal(0, 2, (train.n_users, 4)), rng.normal(0, 2, (train.n_items, 5))
    arguments = TrainingData(train), U, V, rng.random((train.n_users, n_drawn))
    compiled = measure.sampled_gradients(*arguments)
    in_numpy()
    for ours, theirs in zip(measure.sampled_gradients(*arguments), compiled, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_sums_of_far_scores_stay_finite_and_right(stand_in):
    scores, weights = np.array([900.0, 0.0, -900.0]), np.array([3.0, 2.0, 1.0])
    ours, compiled = np.empty(3), np.empty(3)
    value = stand_in.user_sums(scores, weights, 0.0, None, ours)
    assert value == pytest.approx(kernels.pair_sums(scores, weights, compiled))
    np.testing.assert_allclose(ours, compiled, atol=1e-12)
