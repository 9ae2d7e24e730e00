"""`make portable` finds what rounding on another processor changes, and nothing else."""

import ast
import asyncio

import nbformat
import pytest

from tools import portable
from tools.portable import Run, problems
from tools.store_notebooks import store
from tools.widen import Widen


@pytest.mark.parametrize(
    ("stored", "wide"),
    [
        ("0.093", ["0.0925001", "0.0925002"]),
        ("0.093", ["0.0924999", "0.0925001"]),  # prints .092 once, which is accepted
        ("12 users", ["12 users", "12 users"]),
        ("12", ["12.2000000", "12.2000100"]),
        ("15,000", ["14,719.4", "14,719.5"]),  # rounded to thousands
        ("27%", ["26.6000%", "26.7000%"]),
    ],
)
def test_a_number_that_rounding_leaves_alone_is_not_listed(stored, wide):
    assert list(problems([stored], [[text] for text in wide])) == []


@pytest.mark.parametrize(
    ("kind", "stored", "wide"),
    [
        ("(a)", "0.093", ["0.0925001", "0.0950000"]),
        ("(a)", "12 users", ["12 users", "13 users"]),
        ("(a)", "20 users", ["20 users", "21 users"]),
        ("(a)", "15,000", ["14,490.4", "14,719.5"]),
        ("(a)", "better", ["better", "worse"]),
        ("(a)", "12", ["12.4999000", "12.5001000"]),
        ("(b)", "0.093", ["0.0925001", "0.0929000"]),
        ("(b)", "12", ["12.4998000", "12.4999000"]),
        ("(b)", "0.9", ["0.896000", "0.900000"]),  # .2g, whose unit is 0.01
    ],
)
def test_a_number_that_rounding_moves_is_listed(kind, stored, wide):
    assert kind in "".join(problems([stored], [[text] for text in wide]))


def test_a_missing_output_is_listed():
    assert "(a)" in "".join(problems(["1", "2"], [["1"], ["1", "2"]]))


@pytest.mark.parametrize(
    ("code", "wide"),
    [
        ("f'{x:.3f} {x:+.0%} {x:,.1f} {x:d}'", "f'{x:.7f} {x:+.4%} {x:,.5f} {x:d}'"),
        ("f'{x:.2g} {x:g}'", "f'{x:#.6g} {x:.10g}'"),
        ("a.map('{:.3f}'.format)", "a.map('{:.7f}'.format)"),
        ("'half: 1.5f'", "'half: 1.5f'"),
        ("round(x, 2)", "round(x, wide_digits(2))"),
        ("np.round(x, 2)", "np.round(x, wide_digits(2))"),
        ("a.round({'b': 2})", "a.round(wide_digits({'b': 2}))"),
        ("a.round()", "a.round()"),
    ],
)
def test_code_prints_four_digits_more(code, wide):
    assert ast.unparse(Widen().visit(ast.parse(code))) == ast.unparse(ast.parse(wide))


SURE = """\
import os
import numpy as np
import pandas as pd
x = np.random.default_rng(0).normal(size=50)
print(f"{x.mean():.3f} of {x.size}")
pd.DataFrame({"mean": [x.mean(), x.std()]}).round(3)"""
CHAOS = """\
x = np.random.default_rng(0).uniform()
for _ in range(200):
    x = 3.99 * x * (1 - x)
print(f"the last: {x:.3f}")"""
PROCESSOR = "print(os.environ.get('WHICH', 'none'))"


@pytest.fixture
def examined(tmp_path, monkeypatch, capsys):
    """The exit code for a notebook of these cells, and the report."""
    todo = [Run("here"), Run("elsewhere", {"WHICH": "another"}), Run("jitter", jitter=1)]
    monkeypatch.setattr(portable, "runs", lambda: (todo, ["z80"]))

    def examine(*cells: str) -> tuple[int, str]:
        path = tmp_path / "small.ipynb"
        notebook = nbformat.v4.new_notebook(cells=[*map(nbformat.v4.new_code_cell, cells)])
        nbformat.write(notebook, path)
        store(path)
        return asyncio.run(portable.main([str(path)])), capsys.readouterr().out

    return examine


@pytest.mark.processes
@pytest.mark.slow
def test_a_notebook_that_no_processor_changes_passes(examined):
    code, report = examined(SURE)
    assert code == 0
    assert "small.ipynb: nothing found" in report
    assert "z80" in report


@pytest.mark.processes
@pytest.mark.slow
def test_cells_that_depend_on_the_processor_are_found(examined):
    code, report = examined(SURE, CHAOS, PROCESSOR)
    assert code == 1
    assert "small.ipynb: 2 found" in report
    assert "cell 1: (a) `0." in report
    assert "cell 2: (a) run 2 has other words: 'none', now 'another'" in report
