"""Build `_site/`: with Quarto 1.4 or newer where there is one, else with the preview."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from preview import build
from preview.build_folder import check_replaceable

NEEDED = (1, 4)


def find_quarto() -> tuple[str, str] | None:
    """Return (program, version) of a Quarto in the environment or on the path."""
    beside_python = str(Path(sys.executable).parent)
    for place in (beside_python, None):
        program = shutil.which("quarto", path=place)
        if not program:
            continue
        done = subprocess.run([program, "--version"], capture_output=True, text=True)
        version = re.match(r"(\d+)\.(\d+)", done.stdout)
        if version and (int(version[1]), int(version[2])) >= NEEDED:
            return program, done.stdout.strip()
        print(f"{program} is older than Quarto {NEEDED[0]}.{NEEDED[1]}: not used.")
    return None


def main() -> None:
    quarto = find_quarto()
    if quarto is None:
        print("No Quarto of version 1.4 or newer was found; the preview renderer does it.")
        build.main()
        return
    program, version = quarto
    try:
        check_replaceable(build.ROOT / "_site")
    except FileExistsError as error:
        sys.exit(f"The site was not built.\n  {error}")
    # Quarto looks for a Python to run the post-render step: give it this one.
    environment = os.environ | {"QUARTO_PYTHON": sys.executable}
    done = subprocess.run([program, "render"], cwd=build.ROOT, env=environment)
    if done.returncode:
        sys.exit(f"Quarto {version} could not build the site; its messages are above.")
    print(f"_site/: built by Quarto {version}.\nOpen _site/index.html")


if __name__ == "__main__":
    main()
