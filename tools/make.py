"""Make a target, on every system and with nothing but Python: `python tools/make.py TARGET`.

`make TARGET` calls this. Everything is set up on the way: a plain venv in .venv, pinned.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV, MADE, SITE, PAPER, STICK, DIST = (
    ROOT / name for name in (".venv", ".make", "_site", "_paper", "_stick", "dist")
)
# Stored outputs must not depend on the time a run took or on who looks.
STORED = {"GAPFM_TEACH_STATIC": "1", "TQDM_DISABLE": "1"}
# A file's tests, and a notebook's cells, stay together on one processor.
PYTEST = ("-m", "pytest", "--numprocesses", "auto", "--dist", "loadfile")
# Without its question about news, which covers a corner of a projected notebook.
LAB = ("-m", "jupyterlab", "--LabApp.news_url=None")
PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")

TARGETS: dict[str, Callable[[], None]] = {}


def target(function: Callable[[], None]) -> Callable[[], None]:
    """A function that is made by its name, and whose docstring `help` prints."""
    TARGETS[function.__name__] = function
    return function


def main(names: list[str]) -> int:
    """Make the targets one after the other, `help` without any; return the exit code."""
    if sys.version_info < (3, 11):  # noqa: UP036 it is run by what is there
        print(
            f"Python 3.11 or newer is needed; {sys.executable} is {sys.version.split()[0]}"
        )
        return 2
    if unknown := [name for name in names if name not in TARGETS]:
        print(f"no target is called {unknown[0]!r}; there are: {', '.join(TARGETS)}")
        return 2
    try:
        for name in names or ["help"]:
            TARGETS[name]()
    except subprocess.CalledProcessError as error:
        return error.returncode
    except KeyboardInterrupt:
        return 130
    return 0


# ------------------------------------------------------------------ how things are run


def python_of(venv: Path) -> Path:
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def run(
    *arguments: str | Path,
    program: Path | None = None,
    **environment: str,
) -> None:
    """Run .venv's Python, or another program, here, and stop where it fails."""
    command = [str(program or python_of(VENV)), *map(str, arguments)]
    print(*(f"{k}={v}" for k, v in environment.items()), *command, flush=True)
    subprocess.run(command, cwd=ROOT, env=os.environ | environment, check=True)


def is_older(made: Path, sources: Iterable[Path]) -> bool:
    """Whether `made` is missing, or one of its sources was changed after it."""
    if not made.exists():
        return True
    age = made.stat().st_mtime
    return any(source.stat().st_mtime > age for source in sources)


def notebook_files() -> list[Path]:
    return sorted(ROOT.glob("notebooks/*.ipynb"))


def site_sources() -> list[Path]:
    """What the site and the book on paper are made of."""
    folders = ("pages", "slides", "images", "preview", "gapfm_course/explorables")
    inside = [path for name in folders for path in (ROOT / name).rglob("*")]
    files = [path for path in inside if path.is_file() and "__pycache__" not in path.parts]
    own = [ROOT / name for name in ("index.qmd", "_quarto.yml", "CITATION.cff")]
    return [*own, MADE / "setup", *files, *notebook_files()]


# ------------------------------------------------------------------ the targets


@target
def help() -> None:
    """List the targets"""
    for name, function in TARGETS.items():
        print(f"{name:14}{function.__doc__}")


@target
def setup() -> None:
    """Make .venv with pinned versions and this package in it"""
    done = MADE / "setup"
    if not is_older(done, [ROOT / "requirements.txt", ROOT / "pyproject.toml"]):
        return
    run("-m", "venv", ".venv", program=Path(sys.executable))
    run(*PIP, "-r", "requirements.txt")
    run(*PIP, "--no-deps", "--no-build-isolation", "--editable", ".")
    MADE.mkdir(exist_ok=True)
    done.touch()


@target
def site() -> None:
    """Build the rendered tutorial into _site/"""
    setup()
    if is_older(SITE / "index.html", site_sources()):
        run("-m", "preview.site")
        (SITE / "index.html").touch()


@target
def slides() -> None:
    """Build the decks for two sessions, with the site, into _site/slides/"""
    site()


@target
def pdf() -> None:
    """Write the book for paper, _paper/gapfm-teach.pdf"""
    _on_paper("pdf", "gapfm-teach.pdf")


@target
def epub() -> None:
    """Write the book for e-readers, _paper/gapfm-teach.epub"""
    _on_paper("epub", "gapfm-teach.epub")


@target
def sheet() -> None:
    """Write the formulas on one page, _paper/formula-sheet.pdf"""
    _on_paper("sheet", "formula-sheet.pdf")


def _on_paper(kind: str, name: str) -> None:
    setup()
    sources = [*site_sources(), ROOT / "LICENSE", ROOT / "LICENSE-TEXT"]
    if is_older(PAPER / name, sources):
        run("-m", "preview.paper", kind)


@target
def test() -> None:
    """Pass all tests, and re-run every notebook comparing its outputs"""
    setup()
    _check_all(python_of(VENV))


def _check_all(python: Path) -> None:
    _lint(python)
    run("-m", "gapfm_teach", "warm", program=python)
    run(*PYTEST, "tests", program=python)
    run(*PYTEST, "--nbval", "notebooks", program=python)


@target
def quick() -> None:
    """Pass the tests that are done in two minutes, for daily work"""
    setup()
    run(*PYTEST, "tests", "-m", "not slow and not browser and not processes")


@target
def portable() -> None:
    """Find printed numbers that another processor would print differently"""
    setup()
    run("-m", "tools.portable")


@target
def lowest() -> None:
    """Pass the tests with the lowest versions that pyproject.toml allows"""
    MADE.mkdir(exist_ok=True)
    constraints = MADE / "lowest.txt"
    lines = subprocess.check_output([sys.executable, "tools/lowest.py"], cwd=ROOT)
    constraints.write_bytes(lines)
    python = _new_environment("lowest", "--constraint", constraints)
    run("-m", "pytest", "tests", program=python)


@target
def newest() -> None:
    """Do what `test` does with the newest versions of all packages"""
    _check_all(_new_environment("newest"))


def _new_environment(name: str, *options: str | Path) -> Path:
    """The Python of a new environment in .make/ that holds this package and its tests' needs."""
    venv = MADE / name
    run("-m", "venv", "--clear", venv, program=Path(sys.executable))
    python = python_of(venv)
    run(*PIP, *options, "--editable", ".[dev]", program=python)
    return python


@target
def lint() -> None:
    """Check style and types"""
    setup()
    _lint(python_of(VENV))


def _lint(python: Path) -> None:
    run("-m", "ruff", "check", ".", program=python)
    run("-m", "ruff", "format", "--check", ".", program=python)
    run("-m", "mypy", program=python)


@target
def lab() -> None:
    """Open JupyterLab on a copy of the notebooks to work in, course/"""
    setup()
    run("-m", "gapfm_teach", "course", "course", "--update")
    run(*LAB, "course")


@target
def edit() -> None:
    """Open JupyterLab on the notebooks themselves, to change them"""
    setup()
    run(*LAB, "notebooks")


@target
def notebooks() -> None:
    """Re-execute all notebooks in place and store their outputs"""
    setup()
    run("tools/store_notebooks.py", *notebook_files(), **STORED)


@target
def pictures() -> None:
    """Draw the explorables of the stored notebooks, for where no script runs"""
    setup()
    run("-m", "tools.draw_pictures")


@target
def bench() -> None:
    """Measure, print a table, and write it to benchmarks/results.md"""
    setup()
    run("benchmarks/report.py")


@target
def api() -> None:
    """Write the reference, pages/api.qmd, from the docstrings"""
    setup()
    run("tools/api_page.py")


@target
def films() -> None:
    """Train the factors that the home page's lists are made of"""
    setup()
    run("tools/film_factors.py")


@target
def wheel() -> None:
    """Build into dist/ the wheel that a class installs, and the source archive"""
    setup()
    run("-m", "hatchling", "build", "--directory", DIST)


@target
def stick() -> None:
    """Fill _stick/ for a class without network: packages, notebooks, site, a start script"""
    site()
    run("tools/stick.py", STICK)


@target
def quarto() -> None:
    """Put the Quarto program into .venv, where the network allows"""
    setup()
    run(*PIP, "quarto-cli")


@target
def clean() -> None:
    """Remove what the targets above made, but not course/, where somebody works"""
    for folder in (VENV, MADE, SITE, PAPER, STICK, DIST):
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
