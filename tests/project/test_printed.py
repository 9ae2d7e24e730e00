"""Two outputs are equal where only the last digit of a calculated number differs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tools.printed import agree

ROOT = Path(__file__).resolve().parents[2]
TABLE = """\
         mean    se
------------------
GAPfm   0.093  0.01
PopRec  0.084  0.01
"""


@pytest.mark.parametrize(
    ("stored", "new"),
    [
        ("0.093 users", "0.092 users"),
        (".093 ±.002", ".092 ±.003"),
        ("+.001", "-.000"),
        ("27%", "28 %"),
        ("2 × 10⁻⁵", "3 × 10⁻⁵"),
        ("2e-05", "3e-05"),
        ("10⁻⁵", "9.9 × 10⁻⁶"),  # both by .2g, as in the next four
        ("0.9", "0.89"),
        ("1", "0.99"),
        ("10", "9.9"),
        ("99", "1e+02"),
        ("−0.000", "0.000"),
        ("-0.5", "−0.4"),
        ("10,123.4 films", "10,123.5 films"),
        ("[1.    0.25]", "[0.999 0.251]"),
        ("a  0.1\nb 10.0", "a 0.1\nb  9.9"),
        (TABLE, TABLE.replace("------", "---").replace("0.093", "0.094")),
        ("<td>0.093</td>", "<td>0.092</td>"),
        ("It takes 3.41s.", "It takes 3.42s."),
        ('<div class="gapfm-explorable">[1, 2]', '<div class="gapfm-explorable">[1, 3]'),
        ("<Figure size 616x363>\n y 0.4", "<Figure size 616x363>\n y 0.9"),
        ("<?xml?><svg x=1>", "<?xml?><svg x=2>"),
    ],
)
def test_what_another_processor_prints_is_accepted(stored, new):
    assert agree(stored, new)
    assert agree(new, stored)


@pytest.mark.parametrize(
    ("stored", "new"),
    [
        ("12 users", "13 users"),
        ("10,123", "10,124"),
        ("It is 12.", "It is 13."),
        ("P@5", "P@6"),
        (".093", ".095"),
        (".093", ".093 .093"),
        ("27%", "29%"),
        ("2 × 10⁻⁵", "2 × 10⁻⁴"),
        ("0.9", "0.88"),
        ("1", "0.98"),
        ("0.001", "-0.001"),
        ("0.5", "nan"),
        ("better", "worse"),
        ("0.5 better", "0.5 worse"),
        ("0.5 \N{EN DASH} 0.6", "0.5 + 0.6"),
        (TABLE, TABLE.replace("PopRec  0.084  0.01\n", "")),
        ("<Figure size 616x363>", "<svg x=1>"),
        ("[1 2]", '<div class="gapfm-explorable">[1 2]'),
    ],
)
def test_another_result_is_refused(stored, new):
    assert not agree(stored, new)
    assert not agree(new, stored)


def judged(tmp_path, shown: str, *flags: str) -> subprocess.CompletedProcess:
    """pytest on a notebook that stored `shown`, and prints another number now."""
    cell = nbformat.v4.new_code_cell(
        "import os\nprint(os.environ['GAPFM_TEACH_STATIC'], 0.0925)",
        execution_count=1,
        outputs=[nbformat.v4.new_output("stream", name="stdout", text=shown)],
    )
    notebook = nbformat.v4.new_notebook(cells=[cell])
    (tmp_path / "small.ipynb").write_text(json.dumps(notebook))
    return subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-c", os.devnull, "-p", "no:cacheprovider"),
            *("-p", "notebooks.conftest", *flags, "small.ipynb"),
        ],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )


@pytest.mark.processes
@pytest.mark.slow
def test_nbval_compares_that_way(tmp_path):
    assert judged(tmp_path, "1 0.0926\n", "--nbval").returncode == 0
    assert judged(tmp_path, "1 0.0926\n", "--nbval-lax").returncode == 0
    refused = judged(tmp_path, "1 0.0928\n", "--nbval")
    assert refused.returncode == 1
    assert "0.0928" in refused.stdout
    assert "0.0925" in refused.stdout
