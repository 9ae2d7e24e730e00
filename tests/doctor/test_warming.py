"""What is compiled, when, and that precompiling leaves nothing to compile."""

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
from gapfm_teach.kernels import consistent_nodes, paper_nodes, selection

KERNELS = {name: kernel for name, kernel in vars(kernels).items() if hasattr(kernel, "stats")}

def compiled():
    return {name: len(f.signatures) for name, f in sorted(KERNELS.items()) if f.signatures}

def stats(what):
    return sum(sum(getattr(kernel.stats, what).values()) for kernel in KERNELS.values())
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
        print(compiled())
        # What selects items, and what interpolates.
        print([len(f.signatures) for f in (selection.mark_highest, paper_nodes._interpolate)])
        GAPfm(n_iter=2, random_state=0, objective="consistent").fit(ratings)
        GAPfm(n_iter=2, random_state=0, objective="geometric").fit(ratings)
        print(len(kernels.consistent_gradients.signatures), len(consistent_nodes._by_nodes.signatures))
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
def test_what_is_precompiled_is_all_that_fitting_and_evaluating_use():
    assert doctor.warm_up() == 0
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
    """)
    assert printed == "0 True\n"


def test_the_command_says_what_it_does(monkeypatch, capsys):
    done = []
    monkeypatch.setattr(warming, "precompile", lambda: done.append(True))
    monkeypatch.setattr(kernels, "is_kept", lambda kernel: True)
    assert doctor.warm_up() == 0
    assert capsys.readouterr().out == "Compiled already.\n"
    assert not done
    monkeypatch.setattr(kernels, "is_kept", lambda kernel: kernel is not kernels.gradients)
    assert doctor.warm_up() == 1
    assert done
    assert "code of gradients could not be kept; set NUMBA_CACHE" in capsys.readouterr().out
    monkeypatch.setattr(kernels, "is_kept", lambda kernel: bool(len(done) > 1))
    assert doctor.warm_up() == 0


@pytest.mark.processes
def test_without_numba_there_is_nothing_to_compile_and_the_doctor_says_so():
    """The stand-in has plain functions, which keep nothing."""
    program = """
        import sys
        sys.modules["numba"] = None  # then it cannot be imported
        from gapfm_course import doctor
        from gapfm_course.doctor.environment import check_environment
        from gapfm_course.doctor.warming import main
        print(main(), doctor.uncompiled())
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
