"""The house has floors: each module may import only what its row of this table lists."""

import ast
import sys
from pathlib import Path

import pytest

import gapfm_teach

PACKAGE = Path(gapfm_teach.__file__).parent

# Lowest floor first. The standard library is open to all.
MAY_IMPORT = {
    "lazy": "",
    "checks": "numpy",
    "files": "numpy",
    "npz": "numpy files",
    "metrics": "numpy checks",
    "smooth": "numpy checks metrics",
    "relatives": "numpy checks metrics smooth",
    "consistent": "numpy checks metrics smooth relatives",
    "selection": "numpy checks",
    "gradcheck": "numpy",
    "kernels": "numpy numba",
    "parquet": "numpy pyarrow checks files",
    "columns": "numpy pandas checks",
    "ratings": "numpy pandas scipy checks columns parquet",
    "splits": "numpy ratings checks",
    "recommender": "numpy ratings splits checks",
    "datasets": "numpy pandas platformdirs files npz kernels ratings checks",
    "training": "numpy scipy numba tqdm kernels ratings metrics checks",
    "steps": "numpy checks training",
    "checkpoint": "numpy checks files npz ratings",
    "objectives": "numpy kernels ratings metrics smooth relatives training steps",
    "model": "numpy pandas numba ratings checks recommender training steps objectives checkpoint",
    "distributed": "numpy pandas numba dask checks files parquet ratings recommender training steps model",
    "intervals": "numpy pandas scipy checks",
    "evaluation": "numpy pandas intervals metrics kernels ratings splits checks",
    "catalogue": "numpy pandas evaluation metrics ratings",
    "baselines": "numpy pandas scipy surprise implicit threadpoolctl lazy kernels ratings metrics "
    "checks recommender training model",
    "tuning": "numpy pandas checks ratings splits recommender model evaluation catalogue baselines",
    "plots": "numpy matplotlib",
    "experiments": "numpy pandas scipy numba matplotlib tqdm checks files consistent objectives training metrics smooth selection "
    "gradcheck kernels ratings splits datasets model intervals evaluation catalogue tuning plots",
    "widgets": "numpy matplotlib ipywidgets IPython ratings plots model experiments",
    "exercises": "numpy smooth metrics selection gradcheck",
    "doctor": "",
    "__main__": "doctor experiments",
}
# The ground floor lends the upper ones one function only.
ONLY_NAMES = {("smooth", "metrics"): {"thresholding_probabilities"}}

FILES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def floor(path: Path) -> str:
    """The row of the table that a file belongs to: its module, or its subpackage."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imports(path: Path, source: str):
    """Yield (what, name) for each import: a floor of this package or an outside library."""
    home = ["gapfm_teach", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from split(alias.name.split("."), None)
        elif isinstance(node, ast.ImportFrom):
            base = home[: len(home) - node.level + 1] if node.level else []
            for alias in node.names:
                yield from split([*base, *(node.module or "").split(".")], alias.name)


def split(parts: list[str], name: str | None):
    parts = [part for part in parts if part]
    if parts[0] != "gapfm_teach":
        yield parts[0], name
    elif len(parts) > 1:
        yield parts[1], name
    else:
        yield name or "gapfm_teach", None


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_what_its_row_lists(path):
    own = floor(path)
    assert own in MAY_IMPORT, f"{path.name} has no row in the table: which floor is it on?"
    allowed = {own, *MAY_IMPORT[own].split(), *sys.stdlib_module_names}
    found = set(imports(path, path.read_text(encoding="utf-8")))
    assert not {what for what, _ in found if what not in allowed}
    for what, name in found:
        if name and (own, what) in ONLY_NAMES:
            assert name in ONLY_NAMES[own, what]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_compiled_code_lives_in_kernels_alone(path):
    """The compiler's cache does not notice a change in another file."""
    compiled = {"jit", "njit", "vectorize", "guvectorize", "stencil"}
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {getattr(node, "id", getattr(node, "attr", None)) for node in ast.walk(tree)}
    assert not names & compiled or floor(path) == "kernels"


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.glob("kernels/*.py")), ids=lambda path: path.name
)
def test_a_file_of_compiled_code_calls_none_of_another(path):
    lent = {name for what, name in imports(path, path.read_text()) if what == "kernels"}
    assert path.name == "__init__.py" or lent <= {"jit"}


def test_rows_point_downwards_only():
    below: set[str] = set()
    for module, row in MAY_IMPORT.items():
        upward = {name for name in row.split() if name in MAY_IMPORT and name not in below}
        assert not upward, f"{module} reaches up to {upward}"
        below.add(module)


@pytest.mark.parametrize(
    ("place", "line", "expected"),
    [
        ("smooth.py", "from .metrics import ndcg", {("metrics", "ndcg")}),
        ("smooth.py", "from . import model", {("model", None)}),
        ("smooth.py", "import gapfm_teach.model as m", {("model", None)}),
        ("smooth.py", "from gapfm_teach.model import GAPfm", {("model", "GAPfm")}),
        ("smooth.py", "def f():\n    import pandas.api", {("pandas", None)}),
        ("datasets/simulate.py", "from ..ratings import Ratings", {("ratings", "Ratings")}),
        ("datasets/simulate.py", "from .download import get", {("datasets", "get")}),
        ("datasets/simulate.py", "from .. import kernels", {("kernels", None)}),
    ],
)
def test_no_way_of_importing_escapes(place, line, expected):
    assert set(imports(PACKAGE / place, line)) == expected
