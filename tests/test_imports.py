"""The house has floors: this table is its map, and each room imports just what its row says."""

import ast
import sys
from collections import defaultdict
from pathlib import Path

import pytest

import gapfm_teach

PACKAGE = Path(gapfm_teach.__file__).parent

# Lowest floor first: what the files of a room import, no more and no less. A room is a module, a
# folder, or one of `lab`. The standard library is open to all.
IMPORTS = {
    "_support": "matplotlib numpy pandas pyarrow",
    "gradcheck": "numpy _support",
    "kernels": "numba numpy",
    "plots": "matplotlib numpy pandas _support",
    "metrics": "numpy _support",
    "selection": "numpy _support metrics",
    "smooth": "numpy _support metrics",
    "ratings": "numpy pandas scipy _support",
    "splits": "numpy _support ratings",
    "intervals": "numpy pandas scipy _support",
    "evaluation": "numpy pandas _support kernels intervals metrics ratings splits",
    "datasets": "numpy pandas platformdirs _support kernels ratings",
    "repaired": "numpy _support metrics smooth",
    "training": "numpy pandas tqdm _support kernels metrics ratings smooth splits repaired",
    "model": "numpy _support ratings training",
    "doctor": "kernels splits evaluation datasets model",
    "distributed": "dask numpy _support ratings training model",
    "widgets": "anywidget numpy traitlets",
    "course": "_support",
    "exercises": "IPython numpy platformdirs _support course gradcheck metrics smooth repaired",
    "lab.paper": "numpy pandas ratings",
    "lab.catalogue": "numpy pandas metrics ratings evaluation",
    "lab.baselines": "implicit numpy pandas scipy surprise threadpoolctl _support kernels metrics ratings training model",
    "lab.systems": "numpy training model lab.baselines",
    "lab.tuning": "numpy pandas _support ratings splits evaluation lab.catalogue lab.systems",
    "lab.protocols": "numpy pandas ratings splits model lab.systems lab.tuning",
    "lab.experiments": "matplotlib numpy pandas scipy tqdm _support kernels plots metrics ratings datasets lab.paper smooth splits evaluation intervals repaired lab.catalogue learning model lab.baselines lab.systems lab.tuning lab.protocols",
    "lab.chapter_08": "numpy pandas _support ratings smooth",
    "lab.chapter_11": "matplotlib numpy pandas scipy plots",
    "lab.chapter_06": "numpy pandas _support metrics ratings lab.paper learning lab.systems lab.protocols lab.experiments",
    "lab.chapter_06_coverage": "numpy pandas scipy tqdm _support ratings datasets splits intervals learning model lab.baselines lab.systems lab.tuning lab.protocols",
    "lab.chapter_07": "numpy pandas ratings",
    "lab.chapter_09": "numpy pandas kernels metrics ratings smooth repaired learning model lab.experiments",
    "lab.chapter_10": "matplotlib numpy pandas plots metrics ratings learning model lab.protocols",
    "lab.reproduce": "matplotlib numpy pandas tqdm _support plots intervals ratings datasets lab.paper splits evaluation learning model lab.systems lab.tuning lab.protocols lab.experiments",
    "__main__": "course doctor exercises lab.reproduce",
}
# The ground floor lends the upper ones these functions only.
ONLY_NAMES = {("smooth", "metrics"): {"cumulative_weights", "thresholding_probabilities"}}
MOST_MODULES, MOST_FOLDERS, MOST_LINES = 11, 11, 350
FACES = (PACKAGE / "__init__.py", PACKAGE / "lab" / "__init__.py")  # they hand names on

FILES = sorted(path for path in PACKAGE.rglob("*.py") if path not in FACES)


def room(path: Path) -> str:
    """The row of the table that a file belongs to."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[: 2 if parts[0] == "lab" else 1])


def imports(path: Path, source: str):
    """Yield (what, name) for each import: a room of this package or an outside library."""
    home = ["gapfm_teach", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield split(alias.name.split("."), None)
        elif isinstance(node, ast.ImportFrom):
            base = home[: len(home) - node.level + 1] if node.level else []
            for alias in node.names:
                yield split([*base, *(node.module or "").split(".")], alias.name)


def split(parts: list[str], name: str | None) -> tuple[str, str | None]:
    parts = [part for part in parts if part]
    if parts[0] != "gapfm_teach":
        return parts[0], name
    inside = parts[1:]
    if not inside:
        return name or "gapfm_teach", None
    if inside == ["lab"]:
        return f"lab.{name}", None
    return ".".join(inside[: 2 if inside[0] == "lab" else 1]), name


def compiles(path: Path) -> bool:
    """Whether compiled code may stand in a file: in `kernels`, or beside its only users."""
    return room(path) == "kernels" or path.stem.endswith("_kernels")


def offenders(wrong) -> list[str]:
    """The files for which `wrong(path)` is true."""
    return [str(path.relative_to(PACKAGE)) for path in FILES if wrong(path)]


def test_each_room_imports_just_what_its_row_says():
    found = defaultdict(set)
    for path in FILES:
        own = room(path)
        for what, name in imports(path, path.read_text(encoding="utf-8")):
            if what != own and what not in sys.stdlib_module_names:
                found[own].add(what)
            if name and (own, what) in ONLY_NAMES:
                assert name in ONLY_NAMES[own, what], f"{path.name} takes {name}"
    assert set(map(room, FILES)) == set(IMPORTS)
    assert dict(found) == {own: set(row.split()) for own, row in IMPORTS.items() if row}


def test_rows_point_downwards_only():
    below: set[str] = set()
    for own, row in IMPORTS.items():
        upward = {name for name in row.split() if name in IMPORTS and name not in below}
        assert not upward, f"{own} reaches up to {upward}"
        below.add(own)


def test_compiled_code_stands_where_it_may():
    """The compiler's cache does not notice a change in another file."""
    compiled = {"jit", "njit", "vectorize", "guvectorize", "stencil"}

    def astray(path: Path) -> bool:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {
            getattr(node, "id", getattr(node, "attr", None)) for node in ast.walk(tree)
        }
        return bool(names & compiled) and not compiles(path)

    assert not offenders(astray)


def test_a_file_of_compiled_code_calls_none_of_another():
    def calls(path: Path) -> bool:
        source = path.read_text(encoding="utf-8")
        lent = {name for what, name in imports(path, source) if what == "kernels"}
        compiled_nowhere = path.name in ("__init__.py", "jit.py", "without_numba.py")
        holds = compiles(path) and not compiled_nowhere
        return holds and not lent <= {"jit", "numba"}

    assert not offenders(calls)


def test_the_listing_stays_small():
    modules = [path for path in PACKAGE.glob("*.py") if path.name != "__init__.py"]
    folders = {path.relative_to(PACKAGE).parts[0] for path in PACKAGE.rglob("*/*.py")}
    assert len(modules) <= MOST_MODULES
    assert len(folders) <= MOST_FOLDERS
    # What calls each other stands in one file where it is compiled, however long that gets.
    long = lambda path: len(path.read_text(encoding="utf-8").splitlines()) > MOST_LINES  # noqa: E731
    assert not offenders(lambda path: long(path) and not compiles(path))


@pytest.mark.parametrize(
    ("place", "line", "expected"),
    [
        ("smooth.py", "from .metrics import ndcg", ("metrics", "ndcg")),
        ("smooth.py", "from . import model", ("model", None)),
        ("smooth.py", "import gapfm_teach.model as m", ("model", None)),
        ("smooth.py", "from gapfm_teach.model import GAPfm", ("model", "GAPfm")),
        ("smooth.py", "def f():\n    import pandas.api", ("pandas", None)),
        ("datasets/simulate.py", "from ..ratings import Ratings", ("ratings", "Ratings")),
        ("datasets/simulate.py", "from .download import get", ("datasets", "get")),
        ("datasets/simulate.py", "from .. import kernels", ("kernels", None)),
        ("lab/tuning.py", "from . import catalogue", ("lab.catalogue", None)),
        ("lab/tuning.py", "from .baselines.wlt import WLT", ("lab.baselines", "WLT")),
        ("model.py", "from gapfm_lab import paper", ("lab.paper", None)),
    ],
)
def test_no_way_of_importing_escapes(place, line, expected):
    assert set(imports(PACKAGE / place, line)) == {expected}
