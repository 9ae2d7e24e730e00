"""Three packages, core ← lab ← course, and rooms in each: this table is the map of what imports what."""

import ast
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("gapfm_teach", "gapfm_lab", "gapfm_course")  # each imports from those before it

# Lowest floor first: what the files of a room import, no more and no less. A room is a module or
# a folder; the chapters of the lab are one, and so is each package to the others. The standard
# library is open to all.
IMPORTS: dict[str, str] = {
    "gapfm_teach._support": "numpy pandas pyarrow",
    "gapfm_teach.kernels": "numba numpy",
    "gapfm_teach.gradcheck": "gapfm_teach._support numpy",
    "gapfm_teach.intervals": "gapfm_teach._support numpy pandas scipy",
    "gapfm_teach.paper": "gapfm_teach._support numpy",
    "gapfm_teach.plots": "matplotlib numpy",
    "gapfm_teach.ratings": "gapfm_teach._support numpy pandas scipy",
    "gapfm_teach.consistent": "gapfm_teach._support gapfm_teach.paper numpy",
    "gapfm_teach.datasets": "gapfm_teach._support gapfm_teach.ratings numpy pandas platformdirs pooch requests scipy",
    "gapfm_teach.metrics": "gapfm_teach._support gapfm_teach.paper numpy",
    "gapfm_teach.splits": "gapfm_teach._support gapfm_teach.ratings numpy",
    "gapfm_teach.evaluation": "gapfm_teach._support gapfm_teach.intervals gapfm_teach.kernels gapfm_teach.paper gapfm_teach.ratings gapfm_teach.splits numpy pandas",
    "gapfm_teach.training": "gapfm_teach._support gapfm_teach.consistent gapfm_teach.kernels gapfm_teach.paper gapfm_teach.ratings gapfm_teach.splits numpy pandas tqdm",
    "gapfm_teach.model": "gapfm_teach._support gapfm_teach.ratings gapfm_teach.training numpy",
    "gapfm_teach.distributed": "dask distributed filelock gapfm_teach._support gapfm_teach.model gapfm_teach.ratings gapfm_teach.training numpy",
    "gapfm_lab.versions": "",
    "gapfm_lab.grades": "gapfm_teach._support gapfm_teach.paper gapfm_teach.ratings numpy",
    "gapfm_lab.worker_killer": "distributed gapfm_teach._support",
    "gapfm_lab.result_files": "gapfm_teach._support pandas",
    "gapfm_lab.baselines": "gapfm_lab.grades gapfm_teach._support gapfm_teach.kernels gapfm_teach.model gapfm_teach.ratings gapfm_teach.training numpy pandas scipy sklearn surprise",
    "gapfm_lab.catalogue": "gapfm_teach.evaluation gapfm_teach.paper gapfm_teach.ratings numpy pandas",
    "gapfm_lab.html_tables": "",
    "gapfm_lab.netflix_simulation": "gapfm_teach._support gapfm_teach.datasets gapfm_teach.kernels numpy",
    "gapfm_lab.paper": "gapfm_teach.ratings numpy pandas",
    "gapfm_lab.experiments": "gapfm_lab.html_tables gapfm_lab.netflix_simulation gapfm_lab.paper gapfm_teach._support gapfm_teach.datasets gapfm_teach.model gapfm_teach.paper gapfm_teach.ratings gapfm_teach.splits gapfm_teach.training numpy pandas scipy",
    "gapfm_lab.primary": "gapfm_lab.baselines gapfm_lab.catalogue gapfm_lab.grades gapfm_lab.result_files gapfm_lab.versions gapfm_teach._support gapfm_teach.datasets gapfm_teach.evaluation gapfm_teach.intervals gapfm_teach.model gapfm_teach.ratings gapfm_teach.splits gapfm_teach.training numpy pandas scipy tqdm",
    "gapfm_lab.protocols": "gapfm_lab.baselines gapfm_lab.primary gapfm_teach.model",
    "gapfm_lab.chapter": "gapfm_lab.baselines gapfm_lab.experiments gapfm_lab.paper gapfm_lab.primary gapfm_lab.protocols gapfm_teach._support gapfm_teach.consistent gapfm_teach.datasets gapfm_teach.intervals gapfm_teach.kernels gapfm_teach.metrics gapfm_teach.model gapfm_teach.paper gapfm_teach.plots gapfm_teach.ratings gapfm_teach.splits gapfm_teach.training matplotlib numpy pandas scipy",
    "gapfm_lab.reproduce": "gapfm_lab.baselines gapfm_lab.experiments gapfm_lab.paper gapfm_lab.primary gapfm_lab.protocols gapfm_lab.result_files gapfm_lab.versions gapfm_teach._support gapfm_teach.datasets gapfm_teach.evaluation gapfm_teach.model gapfm_teach.plots gapfm_teach.ratings gapfm_teach.splits gapfm_teach.training matplotlib numpy pandas",
    "gapfm_course.class_edition": "gapfm_teach._support",
    "gapfm_course.doctor": "gapfm_teach.datasets gapfm_teach.evaluation gapfm_teach.kernels gapfm_teach.model gapfm_teach.splits",
    "gapfm_course.explorables": "anywidget numpy traitlets",
    "gapfm_course.notebook_output": "gapfm_course.class_edition gapfm_lab.html_tables gapfm_teach.plots matplotlib numpy pandas",
    "gapfm_course.exercises": "IPython gapfm_course.class_edition gapfm_teach._support gapfm_teach.consistent gapfm_teach.gradcheck gapfm_teach.metrics gapfm_teach.paper numpy platformdirs",
}
MOST_LINES = 350
# Commands hand over to the other packages, and import them only then.
COMMANDS = (ROOT / "gapfm_teach" / "__main__.py", ROOT / "gapfm_course" / "command_line.py")
FACES = {ROOT / package / "__init__.py" for package in PACKAGES}  # they hand names on
FILES = sorted(
    path for package in PACKAGES for path in (ROOT / package).rglob("*.py")
    if path not in FACES and path not in COMMANDS
)  # fmt: skip


def room(module: str) -> str:
    """The row of the table that a module belongs to: gapfm_lab.chapter_04 is in gapfm_lab.chapter."""
    package, _, inside = module.partition(".")
    name = inside.split(".")[0]
    return f"{package}.{'chapter' if name.startswith('chapter_') else name}"


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports(path: Path, source: str):
    """Yield the module, or outside library, of each import, and the name taken from it."""
    home = list(path.relative_to(ROOT).parts[:-1])
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = home[: len(home) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                # a name of a package may be a module of it
                whole = f"{module}.{alias.name}"
                yield (whole if module in PACKAGES else module), alias.name


def used(path: Path) -> set[str]:
    """What a file imports: rooms of its own package, whole rooms of others, libraries."""
    own, found = module_of(path), set()
    for module, _ in imports(path, path.read_text(encoding="utf-8")):
        top = module.split(".")[0]
        if top in PACKAGES:
            found.add(room(module))
        elif top not in sys.stdlib_module_names:
            found.add(top)
    return found - {room(own)}


def offenders(wrong) -> list[str]:
    """The files for which `wrong(path)` is true."""
    return [str(path.relative_to(ROOT)) for path in FILES if wrong(path)]


def test_each_room_imports_just_what_its_row_says():
    found = defaultdict(set)
    for path in FILES:
        found[room(module_of(path))] |= used(path)
    assert dict(found) == {own: set(row.split()) for own, row in IMPORTS.items()}


def test_rows_point_downwards_only():
    below: set[str] = set()
    for own, row in IMPORTS.items():
        upward = {name for name in row.split() if name in IMPORTS and name not in below}
        assert not upward, f"{own} reaches up to {upward}"
        below.add(own)


def test_the_core_imports_neither_lab_nor_course_and_the_lab_not_the_course():
    for number, package in enumerate(PACKAGES):
        above = PACKAGES[number + 1 :]
        rows = {own: row for own, row in IMPORTS.items() if own.startswith(package)}
        assert rows
        for own, row in rows.items():
            assert not [name for name in row.split() if name.startswith(above)], own


def test_the_commands_import_the_other_packages_only_when_they_run():
    for file in COMMANDS:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        at_once = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
        assert not [node for node in at_once if (node.module or "").startswith(PACKAGES)]


def compiles(path: Path) -> bool:
    """Whether compiled code may be in a file: in `kernels`, or beside its only users."""
    return room(module_of(path)) == "gapfm_teach.kernels" or path.stem.endswith("_kernels")


def test_compiled_code_is_where_it_may_be():
    compiled = {"jit", "njit", "vectorize", "guvectorize", "stencil"}

    def astray(path: Path) -> bool:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {
            getattr(node, "id", getattr(node, "attr", None)) for node in ast.walk(tree)
        }
        return bool(names & compiled) and not compiles(path)

    assert not offenders(astray)


def test_files_can_be_read_in_one_sitting():
    assert not offenders(
        lambda path: len(path.read_text(encoding="utf-8").splitlines()) > MOST_LINES
    )


@pytest.mark.parametrize(
    ("place", "line", "expected"),
    [
        ("gapfm_teach/model.py", "from .metrics import ndcg", "gapfm_teach.metrics"),
        ("gapfm_teach/model.py", "from . import model", "gapfm_teach.model"),
        ("gapfm_teach/model.py", "import gapfm_lab.paper as m", "gapfm_lab.paper"),
        ("gapfm_teach/model.py", "def f():\n    import pandas.api", "pandas.api"),
        (
            "gapfm_teach/datasets/simulate.py",
            "from ..ratings import R",
            "gapfm_teach.ratings",
        ),
        (
            "gapfm_teach/datasets/simulate.py",
            "from .. import kernels",
            "gapfm_teach.kernels",
        ),
        ("gapfm_lab/grades.py", "from . import catalogue", "gapfm_lab.catalogue"),
        ("gapfm_lab/grades.py", "from gapfm_teach import paper", "gapfm_teach.paper"),
    ],
)
def test_no_way_of_importing_escapes(place, line, expected):
    assert [module for module, _ in imports(ROOT / place, line)] == [expected]
