"""Say what is wrong with an environment, and how to mend it."""

from __future__ import annotations  # an older Python must get as far as being named

import contextlib
import importlib
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from .warming import uncompiled

DISTRIBUTION = "gapfm-teach"
CHROMIUM_ON_PATH = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
CHROMIUM_PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
)
# Third-party modules are imported inside the checks: a missing one is a finding, not a crash.
REINSTALL = "in the project's folder: make, or python -m pip install -e ."
SET_HOME = "this user has no home folder: set HOME to a folder that you may write to"


@dataclass(frozen=True)
class Check:
    """What was looked at, how it stands ("ok", "note" or "problem"), and the remedy if any."""

    name: str
    state: str
    detail: str
    remedy: str = ""


def check_environment() -> list[Check]:
    """Return all checks. Only a "problem" keeps the tutorial from working; a "note" is about
    something optional. A check that itself fails is a problem, never an exception."""
    checks: list[Check] = []
    for look in (python, packages, _compiled, _threads, _data, jupyter, _browser, _site):
        checks.extend(_guarded(look))
    return checks


def report(checks: list[Check]) -> str:
    """Return the checks as text, one a line, each remedy below its problem, and a verdict."""
    width = max(len(check.name) for check in checks)
    lines = []
    for check in checks:
        lines.append(f"  {check.state:<8} {check.name:<{width}}  {check.detail}")
        if check.remedy:
            lines.append(f"  {'':<8} {'':<{width}}  -> {check.remedy}")
    bad = sum(check.state == "problem" for check in checks)
    verdict = "Everything needed is there." if not bad else f"Problems to mend: {bad}."
    return "\n".join([*lines, "", verdict])


def main() -> int:
    """Print the report; return 1 when there is a problem, else 0."""
    checks = check_environment()
    print(report(checks))
    return int(any(check.state == "problem" for check in checks))


def find_chromium() -> str | None:
    """Return the Chromium or Chrome to drive: GAPFM_TEACH_CHROMIUM if set, else one found."""
    named = os.environ.get("GAPFM_TEACH_CHROMIUM")
    if named:
        return named
    on_path = map(shutil.which, CHROMIUM_ON_PATH)
    usual = (place for place in CHROMIUM_PLACES if Path(place).is_file())
    return next((program for program in (*on_path, *usual) if program), None)


def _guarded(look: Callable[[], Iterator[Check]]) -> list[Check]:
    try:
        return list(look())
    except Exception as error:
        name = look.__name__.strip("_")
        remedy = SET_HOME if "home" in str(error) else REINSTALL
        return [Check(name, "problem", f"{type(error).__name__}: {error}", remedy)]


def python() -> Iterator[Check]:
    """Python's version."""
    found = ".".join(map(str, sys.version_info[:3]))
    wanted = metadata.metadata(DISTRIBUTION)["Requires-Python"].lstrip(">=")
    if _version(found) < _version(wanted):
        yield Check("Python", "problem", found, f"install Python {wanted} or newer")
    else:
        yield Check("Python", "ok", found)


def requirements() -> Iterator[tuple[str, str, bool]]:
    """Name and lowest version of each package asked for, and whether only the notebooks do."""
    for requirement in metadata.requires(DISTRIBUTION) or []:
        asked, _, group = requirement.partition("; ")
        parts = re.fullmatch(r"([\w.-]+)>=([\w.]+)", asked)
        if parts is not None and group in ("", "extra == 'notebooks'"):
            yield parts[1], parts[2], bool(group)


def packages() -> Iterator[Check]:
    """Each package: there, new enough, and whole."""
    for name, wanted, optional in requirements():
        yield _package(name, wanted, optional)


def _package(name: str, wanted: str, optional: bool) -> Check:
    """`optional` : what only the notebooks need may be missing, but not too old."""
    try:
        found = metadata.version(name)
    except metadata.PackageNotFoundError:
        if optional:
            remedy = f'python -m pip install "{DISTRIBUTION}[notebooks]"'
            return Check(name, "note", "missing; only the notebooks need it", remedy)
        remedy = f'python -m pip install "{name}>={wanted}"'
        return Check(name, "problem", "missing", remedy)
    if _version(found) < _version(wanted):
        remedy = f'python -m pip install --upgrade "{name}>={wanted}"'
        return Check(name, "problem", f"{found} is older than {wanted}", remedy)
    if broken := _broken(name):
        remedy = f'python -m pip install --force-reinstall "{name}>={wanted}"'
        return Check(name, "problem", f"{found} does not load: {broken}", remedy)
    return Check(name, "ok", found)


def _compiled() -> Iterator[Check]:
    kernels = importlib.import_module("gapfm_teach.kernels")
    damaged = kernels.damaged_cache()
    if not kernels.COMPILED:
        yield Check(
            "compiled code", "note", "none without Numba: all takes many times as long"
        )
    elif damaged:
        detail = f"{len(damaged)} functions damaged in {damaged[0]}, made anew on next use"
        remedy = f"if it stays so, remove {damaged[0]}"
        yield Check("compiled code", "note", detail, remedy)
    elif not kernels.CACHE_ENABLED:
        detail = "compiled anew in every session: no place to keep it can be written to"
        remedy = "set NUMBA_CACHE_DIR to a folder of your own to save seconds each time"
        yield Check("compiled code", "note", detail, remedy)
    elif uncompiled():
        detail = "not all compiled yet: the first fit of a kind waits some seconds"
        yield Check("compiled code", "note", detail, "python -m gapfm_teach warm")
    else:
        yield Check("compiled code", "ok", "kept between sessions")


def _threads() -> Iterator[Check]:
    kernels = importlib.import_module("gapfm_teach.kernels")
    yield Check("threads", "ok", f"{kernels.MOST_THREADS} of {os.cpu_count()} processors")


def _data() -> Iterator[Check]:
    folder = data_folder()
    yield folder
    if folder.state != "problem":
        yield movielens()


def data_folder() -> Check:
    """The folder that keeps data sets."""
    download = importlib.import_module("gapfm_teach.datasets.download")
    remedy = "set GAPFM_TEACH_DATA to the full path of a folder that you may write to"
    try:
        folder = download.data_folder()
    except RuntimeError as error:
        return Check("data folder", "problem", str(error).partition(";")[0], remedy)
    nearest = next(place for place in (folder, *folder.parents) if os.path.exists(place))
    if not nearest.is_dir():
        return Check("data folder", "problem", f"{nearest} is a file, not a folder", remedy)
    if not os.access(nearest, os.R_OK | os.X_OK):
        return Check("data folder", "problem", f"{folder} cannot be read", remedy)
    if not os.access(nearest, os.W_OK):
        detail = f"{folder} cannot be written to: what is fetched is not kept"
        return Check("data folder", "note", detail, remedy)
    return Check("data folder", "ok", str(folder))


def movielens() -> Check:
    """Whether MovieLens 100K is kept here."""
    editions = importlib.import_module("gapfm_teach.datasets.movielens")
    kept = editions.kept_files(editions.EDITIONS["100k"])
    for path in kept:
        with contextlib.suppress(OSError, ValueError):
            editions.load_movielens("100k", path=path)
            return Check("MovieLens 100K", "ok", f"{path.name} in the data folder")
    remedy = 'fetch it now: python -c "import gapfm_teach; gapfm_teach.load_movielens()"'
    detail = "damaged, fetched again on next use" if kept else "fetched on first use"
    return Check("MovieLens 100K", "note", detail, remedy)


def jupyter() -> Iterator[Check]:
    """JupyterLab's kernel, and what draws its sliders."""
    if _broken("jupyterlab"):  # said by `packages`
        return
    specs = importlib.import_module("jupyter_client.kernelspec")
    if "python3" in specs.KernelSpecManager().find_kernel_specs():
        yield Check("Jupyter kernel", "ok", "python3")
    else:
        remedy = "python -m pip install ipykernel"
        yield Check("Jupyter kernel", "problem", "python3 is missing", remedy)
    try:
        yield Check(
            "widgets", "ok", f"jupyterlab_widgets {metadata.version('jupyterlab_widgets')}"
        )
    except metadata.PackageNotFoundError:
        remedy = "python -m pip install jupyterlab_widgets"
        yield Check("widgets", "problem", "sliders will not show in JupyterLab", remedy)


def _browser() -> Iterator[Check]:
    if find_chromium() is not None:
        yield Check("Chromium", "ok", "found; only the browser tests use it")
    else:
        remedy = "apt-get install chromium, or set GAPFM_TEACH_CHROMIUM to a Chrome program"
        yield Check("Chromium", "note", "not found; only the browser tests use it", remedy)


def _site() -> Iterator[Check]:
    beside = Path(sys.executable).parent / "quarto"
    quarto = shutil.which("quarto") or shutil.which(str(beside))
    pandoc = not _broken("pypandoc") or shutil.which("pandoc")
    if quarto:
        yield Check("Quarto", "ok", "found; builds the site")
    else:
        detail = "not found; the preview renderer builds the site instead"
        yield Check("Quarto", "note", detail, "optional: make quarto")
    if pandoc:
        yield Check("pandoc", "ok", "found; the preview renderer uses it")
    else:
        remedy = "to build the site: python -m pip install pypandoc_binary"
        yield Check("pandoc", "note", "not found; without Quarto the site needs it", remedy)


def _broken(package: str) -> str:
    """Why an installed package does not load; "" if it does. Each is imported by its own name."""
    try:
        importlib.import_module(package)
    except Exception as error:  # a damaged package raises nearly anything
        return f"{type(error).__name__}: {error}"
    return ""


def _version(text: str) -> tuple[int, ...]:
    """The leading numbers: "3.11.2" -> (3, 11, 2), "2.0rc1" -> (2, 0)."""
    leading = re.match(r"[\d.]*\d", text)
    return tuple(map(int, leading[0].split("."))) if leading else ()
