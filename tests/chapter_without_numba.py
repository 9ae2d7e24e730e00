"""Run the cells of a notebook where Numba cannot be imported.

    python tests/chapter_without_numba.py NOTEBOOK

Prints as JSON what each cell printed, by the cell's id, and the warnings of all.
"""

import contextlib
import io
import json
import os
import sys
import warnings
from pathlib import Path


class Hidden:
    """Finds no Numba, whether it is installed or not."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in ("numba", "llvmlite"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def run(notebook: Path) -> dict[str, str]:
    """What each code cell printed."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    os.chdir(notebook.parent)
    names, printed = {"__name__": "__main__"}, {}
    for cell in cells:
        if cell["cell_type"] == "code":
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
            printed[cell["id"]] = said.getvalue()
    return printed


if __name__ == "__main__":
    sys.meta_path.insert(0, Hidden())
    os.environ |= {"MPLBACKEND": "agg", "TQDM_DISABLE": "1"}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        printed = run(Path(sys.argv[1]).absolute())
    json.dump(
        {"printed": printed, "warnings": [str(w.message) for w in caught]}, sys.stdout
    )
