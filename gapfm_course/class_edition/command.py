"""`python -m gapfm_teach course FOLDER`: a folder of notebooks to work in."""

import sys
from argparse import Namespace
from pathlib import Path

from .folder import FOLDED, make, update
from .merge import Merged


def main(options: Namespace) -> int:
    """Make or update the folder that `options` names; return 0, or 1 for bad input."""
    folder = Path(options.folder).expanduser()
    try:
        if options.update:
            done = update(folder, options.solutions)
        else:
            make(folder, options.solutions or FOLDED)
            done = {}
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    for name, merged in done.items():
        print(_said(name, merged))
    print(f"{folder} is ready; open it with: jupyter lab {folder}")
    return 0


def _said(name: str, merged: Merged) -> str:
    said = [f"{name}: {len(merged.changed)} new from the course"]
    if merged.hers:
        said.append(f"{len(merged.hers)} of yours kept")
    if merged.both:
        said.append(f"the course's version above yours at {', '.join(merged.both)}")
    return ", ".join(said)
