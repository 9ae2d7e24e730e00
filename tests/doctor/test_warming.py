"""What is compiled, when, and that warming leaves nothing to compile."""

import os
import subprocess
import sys
import textwrap

import pytest

from gapfm_course import doctor
from gapfm_course.doctor import warming
from gapfm_teach import kernels

HEAD = """
from gapfm_teach import *
from gapfm_course import doctor
from gapfm_teach import kernels
from gapfm_course.doctor import warming
from gapfm_teach.kernels import consistent, gradient, jit

def compiled():
    return {name: len(getattr(kernels, name).signatures) for name in kernels.__all__
            if hasattr(getattr(kernels, name), "signatures")}

def stats(what):
    entries = [getattr(kernels, name) for name in warming.VARIANTS]
    return sum(sum(getattr(kernel.stats, what).values()) for kernel in entries)
"""


def run_python(code: str, **environment) -> str:
    done = subprocess.run(
        [sys.executable, "-c", HEAD + textwrap.dedent(code)],
        env=os.environ | environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.processes
@pytest.mark.slow
def test_a_first_fit_compiles_one_variant_of_what_it_needs_and_no_more(tmp_path):
    printed = run_python(
        """
        ratings = simulate_ratings(40, 50, mean_ratings=12, random_state=0)
        GAPfm(n_iter=2, random_state=0).fit(ratings)
        GAPfm(n_iter=2, random_state=1, learning_rate="auto", n_factors=3).fit(ratings)
        print({name: n for name, n in compiled().items() if n})
        # What selects items, and what interpolates.
        print([len(f.signatures) for f in (gradient._mark_highest, gradient._interpolate)])
        GAPfm(n_iter=2, random_state=0, objective="consistent").fit(ratings)
        GAPfm(n_iter=2, random_state=0, objective="geometric").fit(ratings)
        print(len(kernels.consistent_gradients.signatures), len(consistent._by_nodes.signatures))
        """,
        NUMBA_CACHE_DIR=str(tmp_path),
    )
    assert printed.splitlines() == [
        "{'arrange_by_grade': 1, 'gradients': 1, 'user_sums': 1}",
        "[0, 0]",
        "1 0",
    ]


@pytest.mark.processes
@pytest.mark.slow
@pytest.mark.skipif(not kernels.CACHE_ENABLED, reason="there is no place for compiled code")
def test_what_warming_keeps_is_all_that_fitting_and_evaluating_use():
    if doctor.cold():
        doctor.warm()
    printed = run_python("""
        from gapfm_lab.catalogue import catalogue_per_user
        for ratings in (simulate_ratings(60, 90, mean_ratings=25, random_state=3),
                        simulate_ratings(30, 400, mean_ratings=170, random_state=4)):
            train, test = split_given(ratings, 10, min_test=5, random_state=0)
            for data in (ratings, train):
                for options in (
                    {}, {"learning_rate": "auto"}, {"n_selected": 3},
                    {"n_selected": 3, "selection": "random"},
                    {"n_selected": 3, "inner_sum": "selected"}, {"update": "sequential"},
                    {"n_selected": 3, "update": "sequential"},
                    *({"objective": name} for name in (
                        "consistent", "geometric", "average_precision", "graded_precision",
                        "graded_recall", "expected_reciprocal_rank")),
                ):
                    model = GAPfm(n_iter=2, random_state=0, **options)
                    model.fit(data, validation=test if data is train else None)
                    model.fold_in([1, 2], [3, 4])
                    model.fold_in(*ratings.row(0))
            for n_candidates in (20, None):
                evaluate_top_n(model, train, test, n_candidates=n_candidates, random_state=0)
            evaluate_ranking(model, test)
            catalogue_per_user(model, train, test, random_state=0)
        print(stats("cache_misses"), stats("cache_hits") > 0)
        print({name: n for name, n in compiled().items() if n} == warming.VARIANTS)
    """)
    assert printed.splitlines() == ["0 True", "True"]


def test_what_is_cold_is_named_and_what_cannot_be_kept_is_an_error(monkeypatch):
    monkeypatch.setattr(kernels, "n_kept", lambda kernel: 1)
    several = {name for name, n in warming.VARIANTS.items() if n > 1}
    assert set(doctor.cold()) == several
    seen = []
    monkeypatch.setattr(warming, "_in_a_process", seen.append)
    with pytest.raises(RuntimeError, match=r"gradients.*set NUMBA_CACHE_DIR"):
        doctor.warm()
    assert set(seen) == set(warming.PARTS)
    monkeypatch.setattr(kernels, "n_kept", lambda kernel: 9)
    told = []
    doctor.warm(lambda *done: told.append(done))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_a_part_that_fails_says_why(monkeypatch):
    monkeypatch.setattr(warming.sys, "executable", "python-that-is-not-there")
    with pytest.raises(FileNotFoundError, match="python-that-is-not-there"):
        doctor.warm()


def test_the_command_says_what_it_does(monkeypatch, capsys):
    monkeypatch.setattr(warming, "cold", list)
    assert doctor.warm_up() == 0
    assert capsys.readouterr().out == "Compiled already.\n"
    monkeypatch.setattr(warming, "cold", lambda: ["gradients"])
    monkeypatch.setattr(warming, "_in_a_process", lambda part: None)
    assert doctor.warm_up() == 1
    said = capsys.readouterr().out
    assert "3 of 3 parts done" in said
    assert "compiled code of gradients could not be kept" in said


@pytest.mark.processes
def test_without_numba_there_is_nothing_to_warm_and_the_doctor_says_so():
    """The stand-in has plain functions, which keep nothing."""
    program = """
        import sys
        sys.modules["numba"] = None  # then it cannot be imported
        from gapfm_course import doctor
        from gapfm_course.doctor.environment import check_environment
        from gapfm_course.doctor.warming import main
        print(main(), doctor.cold())
        print(next(c.detail for c in check_environment() if c.name == "compiled code"))
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(program)],
        capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    first, second, third = done.stdout.splitlines()
    assert "python -m pip install numba" in first
    assert second == "1 []"
    assert third.startswith("none without Numba")
