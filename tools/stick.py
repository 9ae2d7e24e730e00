"""Fill a folder, for a USB stick, with all that a class without network needs.

    python tools/stick.py FOLDER [--systems windows mac linux] [--python 3.12]

It holds the packages as wheels for these systems and this Python, the course among them, the site
where it is built, and `start.py`, which installs from there. The ratings are not among it: their licence
does not let them be passed on.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
COURSE = "gapfm-teach[notebooks,baselines,distributed]"
# What the package is built of.
FILES = (
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "LICENSE-TEXT",
)
FOLDERS = "gapfm_teach", "gapfm_lab", "gapfm_course", "notebooks", "pages"
STARTS = {
    "start.sh": '#!/bin/sh\nexec python3 "$(dirname "$0")/start.py" "$@"\n',
    "start.bat": "@echo off\r\nwhere py >nul 2>nul\r\n"
    'if errorlevel 1 (python "%~dp0start.py") else (py -{python} "%~dp0start.py")\r\npause\r\n',
}


class System(NamedTuple):
    """The tags of wheels that run on the oldest supported version, and the values of markers."""

    tags: tuple[str, ...]
    os_name: str
    sys_platform: str
    platform_system: str
    platform_machine: str


MANYLINUX = (*(f"_2_{n}" for n in range(28, 4, -1)), "2014", "2010", "1")
SYSTEMS = {
    "windows": System(("win_amd64",), "nt", "win32", "Windows", "AMD64"),
    "mac": System(("macosx_14_0_arm64",), "posix", "darwin", "Darwin", "arm64"),
    "linux": System(
        tuple(f"manylinux{version}_x86_64" for version in MANYLINUX),
        *("posix", "linux", "Linux", "x86_64"),
    ),
}


def pinned() -> dict[str, tuple[Requirement, str]]:
    """name -> what requirements.txt says of it: version and marker, and the hashes."""
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    split = (re.split(r"\s+(?=--hash)", line, maxsplit=1) for line in lines)
    entries = ((Requirement(asked), hashes) for asked, hashes in split)
    return {canonicalize_name(asked.name): (asked, hashes) for asked, hashes in entries}


def needed(markers: dict[str, str], requirement: str = COURSE) -> set[str]:
    """The names of all that a requirement brings along on a system, from what is installed here.

    What is not installed here, because another system alone needs it, brings nothing along.
    """
    asked, seen = [Requirement(requirement)], set()
    while asked:
        one = asked.pop()
        name = canonicalize_name(one.name)
        for extra in {"", *one.extras} - {extra for known, extra in seen if known == name}:
            seen.add((name, extra))
            asked += _brought(name, markers | {"extra": extra})
    return {name for name, _ in seen} - {canonicalize_name(Requirement(requirement).name)}


def _brought(name: str, markers: dict[str, str]) -> Iterator[Requirement]:
    try:
        lines = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return
    for line in map(Requirement, lines):
        if line.marker is None or line.marker.evaluate(markers):
            yield line


def requirements(system: str, python: str) -> list[str]:
    """The lines of requirements.txt that a class needs on a system, for pip to download.

    Raises ValueError for a package that is not pinned there.
    """
    markers = SYSTEMS[system]._asdict() | {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }
    pins, lines = pinned(), []
    for name in sorted(needed(markers)):
        if name not in pins:
            raise ValueError(
                f"{name}, for {system}, is not in requirements.txt; pin it there"
            )
        asked, hashes = pins[name]
        lines.append(f"{asked.name}{asked.specifier} {hashes}")
    return lines


def build(wheels: Path) -> None:
    """This package's own wheel, from a copy without what a checkout has besides."""
    with tempfile.TemporaryDirectory() as place:
        for name in FILES:
            shutil.copy(ROOT / name, place)
        unbuilt = shutil.ignore_patterns("__pycache__", ".*", "quick")
        for name in FOLDERS:
            shutil.copytree(ROOT / name, Path(place) / name, ignore=unbuilt)
        pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", wheels, place)


def download(system: str, python: str, wheels: Path) -> None:
    """Fetch the wheels for a system, those that fit several once."""
    listed = wheels / "wanted.txt"
    listed.write_text("\n".join(requirements(system, python)), encoding="utf-8")
    tags = [word for tag in SYSTEMS[system].tags for word in ("--platform", tag)]
    pip(
        "download", "--no-deps", "--only-binary", ":all:", "--require-hashes", *tags,
        "--python-version", python, "--dest", wheels, "-r", listed,
    )  # fmt: skip
    listed.unlink()


def pip(command: str, *arguments: str | Path) -> None:
    own = [sys.executable, "-m", "pip", command, "--quiet", "--disable-pip-version-check"]
    subprocess.run([*own, *map(str, arguments)], cwd=ROOT, check=True)


def fill(folder: Path, systems: Sequence[str], python: str) -> None:
    """Make `folder` anew, whole or not at all."""
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    wheels = unfinished / "wheels"
    wheels.mkdir(parents=True)
    build(wheels)
    for system in systems:
        print(f"fetching the packages for {system}", flush=True)
        download(system, python, wheels)
    if (ROOT / "_site").is_dir():
        shutil.copytree(ROOT / "_site", unfinished / "site")
    shutil.copy(ROOT / "tools" / "stick_start.py", unfinished / "start.py")
    for name, text in STARTS.items():
        (unfinished / name).write_bytes(text.replace("{python}", python).encode())
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.rename(folder)


def main() -> None:
    own = ".".join(map(str, sys.version_info[:2]))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--python", default=own, help=f"3.11 to 3.13; {own} unless told")
    options = parser.parse_args()
    fill(options.folder, options.systems, options.python)
    files = [path for path in options.folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    print(f"{options.folder}: {len(files):,} files, {size / 1e6:,.0f} MB")


if __name__ == "__main__":
    main()
