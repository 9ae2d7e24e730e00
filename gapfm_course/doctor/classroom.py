"""`doctor --class`: is this laptop ready, in one line, with a code to read out to the teacher.

The code is a letter for each problem, "A" where there is none, then three characters that stand for
the versions of Python and of all packages: laptops with the same three have the same versions. What
each letter means is in `PROBLEMS`; `doctor --class CODE` says it, and whether the versions are those
of the machine where it is asked. What a browser can do is not seen from here: open one notebook.
"""

from __future__ import annotations  # an older Python must get as far as being named

import contextlib
import hashlib
import importlib
import os
import re
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from . import environment
from .warming import uncompiled

ALL_WELL = "A"
CHARACTERS = "2346789BCDFGHJKMPQRTVWXY"  # none is heard, or written by hand, as another
N_CHARACTERS = 3
LEAST_MEMORY = 1.0  # GiB: a notebook's kernel, JupyterLab and a browser
SLOW_DISK = 2.0  # seconds for `_disk_seconds`; a sound disk takes a tenth or less
SITE = ("files.grouplens.org", 443)
PATIENCE = 3.0  # seconds for an answer from there


def _wrong(look: Callable[[], bool]) -> bool:
    try:
        return look()
    except Exception:  # as of an environment's checks
        return True


def _states(checks) -> set[str]:
    return {check.state for check in checks}


def _bad_notebooks() -> bool:
    """Packages that only the notebooks need are noted where they are missing."""
    return "note" in _states(environment.packages()) or "problem" in _states(
        environment.jupyter()
    )


def _bad_cache() -> bool:
    kernels = importlib.import_module("gapfm_teach.kernels")
    return not kernels.CACHE_ENABLED or bool(kernels.damaged_cache())


def _no_data() -> bool:
    if environment.movielens().state == "ok":
        return False
    try:
        socket.create_connection(SITE, timeout=PATIENCE).close()
    except OSError:
        return True
    return False


class Problem(NamedTuple):
    """What is wrong, the remedy, as the teacher reads it out, and whether it is so here."""

    what: str
    remedy: str
    is_here: Callable[[], bool]


PROBLEMS = {
    "P": Problem(
        "Python is too old",
        "install a newer Python; doctor says which",
        lambda: "problem" in _states(environment.python()),
    ),
    "V": Problem(
        "a package is missing, too old or does not load",
        "python -m gapfm_teach doctor says which one, and what mends it",
        lambda: "problem" in _states(environment.packages()),
    ),
    "J": Problem(
        "JupyterLab, its kernel or what draws its sliders is missing or too old",
        'python -m pip install --upgrade "gapfm-teach[notebooks]"',
        _bad_notebooks,
    ),
    "K": Problem(
        "compiled code cannot be kept, or what is kept is damaged",
        "set NUMBA_CACHE_DIR to a folder of your own, or remove the one that doctor names",
        _bad_cache,
    ),
    "W": Problem(
        "not all is compiled yet, so the first fit of a kind waits",
        "python -m gapfm_teach warm",
        lambda: bool(uncompiled()),
    ),
    "D": Problem(
        "the data folder cannot be used",
        "set GAPFM_TEACH_DATA to the full path of a folder that you may write to",
        lambda: environment.data_folder().state == "problem",
    ),
    "N": Problem(
        "MovieLens 100K is not here, and the site that has it does not answer",
        "with a network: python -c 'import gapfm_teach; gapfm_teach.load_movielens()'; or copy "
        "the data folder of a laptop that has it",
        _no_data,
    ),
    "S": Problem(
        "the disk is slow",
        "work on the laptop's own disk, not on a stick or a network drive",
        lambda: _disk_seconds() > SLOW_DISK,
    ),
    "M": Problem(
        "little memory is free",
        "close other programs, or restart the laptop",
        lambda: _memory() < LEAST_MEMORY,
    ),
}


def problems() -> str:
    """The letters of what is wrong here, in the order of `PROBLEMS`; "" where nothing is.

    What cannot be looked at counts as wrong.
    """
    return "".join(letter for letter in PROBLEMS if _wrong(PROBLEMS[letter].is_here))


def checksum() -> str:
    """Three characters that stand for the versions of Python and of the packages."""
    digest = hashlib.sha256("\n".join(_versions()).encode()).digest()
    return "".join(CHARACTERS[byte % len(CHARACTERS)] for byte in digest[:N_CHARACTERS])


def main(code: str = "") -> int:
    """Print the line for this laptop, or what `code` means; return the exit status.

    0 where all is well, or the code was understood; 1 where something is wrong, or the code is none.
    """
    if code:
        text, understood = explain(code)
        print(text)
        return int(not understood)
    found = problems()
    own = f"{found or ALL_WELL}-{checksum()}"
    if not found:
        print(f"{_in_colour('green', 32)}: ready for class. Code: {own}")
        return 0
    things = "1 thing" if len(found) == 1 else f"{len(found)} things"
    print(
        f"{_in_colour('red', 31)}: {things} to mend before class. Code: {own} "
        f"(what it means: python -m gapfm_teach doctor --class {own})"
        + ("; first run python -m gapfm_teach warm, then this again" * ("W" in found))
    )
    return 1


def explain(code: str) -> tuple[str, bool]:
    """What a code says, and whether it is one."""
    shape = rf"({ALL_WELL}|[{''.join(PROBLEMS)}]+)[- ]?([{CHARACTERS}]{{{N_CHARACTERS}}})"
    parts = re.fullmatch(shape, code.strip().upper())
    if parts is None:
        return (
            f"{code!r} is no code of `doctor --class`: those have a letter for each problem, of "
            f"{', '.join([ALL_WELL, *PROBLEMS])}, and {N_CHARACTERS} characters after a hyphen, "
            f"such as {ALL_WELL}-{checksum()}",
            False,
        )
    letters, versions = parts.groups()
    if letters == ALL_WELL:
        lines = [f"{ALL_WELL}: all is well"]
    else:
        lines = [
            f"{letter}: {PROBLEMS[letter].what}. To fix it: {PROBLEMS[letter].remedy}"
            for letter in letters
        ]
    if versions == checksum():
        lines.append(f"{versions}: the same versions as here")
    else:
        lines.append(
            f"{versions}: other versions than here ({checksum()}); "
            "python -m gapfm_teach doctor lists them on both"
        )
    return "\n".join(lines), True


def _disk_seconds(n_files: int = 20) -> float:
    """How long it takes to put small files on the disk of the home folder."""
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=Path.home(), prefix=".gapfm-teach-") as folder:
        for k in range(n_files):
            with open(Path(folder) / str(k), "wb") as file:
                file.write(bytes(4096))
                file.flush()
                os.fsync(file.fileno())
    return time.perf_counter() - begin


def _memory() -> float:
    """GiB of memory that are free or, on a Mac, that there are."""
    if sys.platform == "win32":
        return _memory_on_windows()
    with contextlib.suppress(OSError):
        text = Path("/proc/meminfo").read_text(encoding="ascii")
        return int(re.findall(r"MemAvailable:\s*(\d+) kB", text)[0]) / 2**20
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30


def _memory_on_windows() -> float:
    import ctypes

    status = (ctypes.c_uint64 * 8)(64)  # MEMORYSTATUSEX: its length; total; available; ...
    ctypes.windll.kernel32.GlobalMemoryStatusEx(status)  # type: ignore[attr-defined]
    return status[2] / 2**30


def _versions() -> list[str]:
    """Python's version, and each package's, this one among them; "none" where it is missing."""
    names = [environment.DISTRIBUTION, *(name for name, _, _ in environment.requirements())]
    versions = [".".join(map(str, sys.version_info[:3]))]
    for name in names:
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            versions.append(f"{name} none")
    return versions


def _in_colour(word: str, number: int) -> str:
    """On a terminal that says what it is, which Windows' older ones do not."""
    if sys.stdout.isatty() and "TERM" in os.environ and "NO_COLOR" not in os.environ:
        return f"\033[{number}m{word}\033[0m"
    return word
