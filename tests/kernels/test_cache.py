"""Compiled code that is kept on disk is compiled anew when a callee in another file changes."""

import os
import subprocess
import sys

import pytest

from gapfm_teach import kernels

CALLEE = (
    "from gapfm_teach.kernels.jit import jit\n@jit()\ndef callee(x):\n    return x + {}\n"
)
CALLER = (
    "from gapfm_teach.kernels.jit import jit\nfrom .callee import callee\n"
    "@jit()\ndef caller(x):\n    return callee(x)\n"
)
RUN = (
    "from two.caller import caller; print(caller(1), sum(caller.stats.cache_hits.values()))"
)


@pytest.mark.skipif(not kernels.COMPILED, reason="without Numba nothing is kept")
def test_a_change_of_a_callee_in_another_file_recompiles_the_caller(tmp_path):
    package = tmp_path / "two"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "caller.py").write_text(CALLER)
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]),
    }

    def result(added: int) -> str:
        (package / "callee.py").write_text(CALLEE.format(added))
        return subprocess.check_output(
            [sys.executable, "-c", RUN], env=environment, text=True
        ).strip()

    assert [result(added) for added in (1, 1, 20)] == ["2 0", "2 1", "21 0"]
