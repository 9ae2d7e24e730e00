"""Start the course from this folder, without network: python start.py [FOLDER]

The first time it makes FOLDER (gapfm-teach in your home folder unless told), with a Python
environment of its own from the packages beside this file, and writes the course there. Then, and
every later time, it opens JupyterLab on it; what you changed is kept. Nothing else on this computer
is changed: delete FOLDER to be rid of it, and of your work.
"""

import os
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
WHEELS = HERE / "wheels"
COURSE = "gapfm-teach[notebooks,baselines,distributed]"


def fitting_python():
    """Whether this Python can use the packages; else say which could."""
    names = [wheel.name for wheel in WHEELS.glob("numba-*.whl")]
    here = "{}.{}".format(*sys.version_info)
    if any(f"-cp{here.replace('.', '')}-" in name for name in names):
        return True
    there = sorted({"3." + name.split("-cp3")[1].split("-")[0] for name in names})
    print(
        f"The packages here are for Python {' and '.join(there)}, and this is Python {here} "
        f"({sys.executable}). Install Python {there[-1]} and start again with it."
    )
    return False


def install(environment):
    """An environment with all packages; a half-made one, or one from another stick, is made anew."""
    python = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    mark = environment / "complete"
    wheels = sorted(f"{w.name} {w.stat().st_size}" for w in WHEELS.glob("*.whl"))
    if mark.exists() and mark.read_text(encoding="utf-8").splitlines() == wheels:
        return python
    print("installing the packages: a minute or two, this once", flush=True)
    venv.create(environment, clear=True, with_pip=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-index", "--find-links", WHEELS, COURSE], check=True)
    mark.write_text("\n".join(wheels), encoding="utf-8")
    return python


def main(folder):
    if not fitting_python():
        return 1
    python = install(folder / ".venv")
    teach, course = [python, "-m", "gapfm_teach"], folder / "course"
    subprocess.run([*teach, "course", course, "--update"], check=True)
    subprocess.run([*teach, "doctor"])
    return subprocess.run([python, "-m", "jupyterlab", course]).returncode


if __name__ == "__main__":
    home = Path(sys.argv[1]) if sys.argv[1:] else Path.home() / "gapfm-teach"
    sys.exit(main(home.absolute()))
