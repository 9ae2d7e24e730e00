"""`python -m gapfm_teach course FOLDER`: a folder of notebooks to work in."""

import re
import sys
from argparse import Namespace

from gapfm_teach._support.checks import check_path

from .cells import source
from .folder import FOLDED, make, update
from .merge import Merged
from .numbers import HEADING

# Modules of `gapfm_teach` that earlier editions import, and where their contents are now.
MOVED = {
    "exercises": "gapfm_course.exercises",
    "explorables": "gapfm_course.explorables",
    "widgets": "gapfm_course.explorables",
    "lab": "gapfm_lab",
    "learning": "gapfm_teach.training",
    "repaired": "gapfm_teach.consistent",
    "selection": "gapfm_teach.paper",
    "smooth": "gapfm_teach.paper",
}


def main(options: Namespace) -> int:
    """Make or update the folder that `options` names; return 0, or 1 for bad input."""
    done: dict[str, Merged] = {}
    try:
        folder = check_path(options.folder, "FOLDER", "pass the name of a folder")
        if options.update:
            done = update(folder, options.solutions, options.outputs)
        else:
            make(folder, options.solutions or FOLDED, bool(options.outputs))
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    for name, merged in done.items():
        print("\n".join([_said(name, merged), *_old_imports(name, merged)]))
    print(f"{folder} is ready; open it with: jupyter lab {folder}")
    return 0


def _said(name: str, merged: Merged) -> str:
    said = [f"{name}: {len(merged.changed)} new from the course"]
    if merged.own_cells:
        said.append(f"{len(merged.own_cells)} of yours kept")
    if merged.both:
        said.append("in these cells the course's version is above yours:")
    return "\n  ".join([", ".join(said), *_places(merged)])


def _places(merged: Merged) -> list[str]:
    """Section and first words of each cell that both sides have changed."""
    places, section = [], ""
    for cell in merged.notebook["cells"]:
        words = source(cell).strip().partition("\n")[0][:60]
        if cell["cell_type"] == "markdown" and (heading := HEADING.search(source(cell))):
            section = heading["title"]
        if cell["id"] in merged.both:
            places.append(f"{section}: {words}")
    return places


def _old_imports(name: str, merged: Merged) -> list[str]:
    """What to write instead of each moved module that the student's own cells import."""
    cells = merged.notebook["cells"]
    own = "\n".join(source(cell) for cell in cells if cell["id"] in merged.own_cells)
    return [
        f"{name}: gapfm_teach.{old} in your own cells has moved; write {new} instead"
        for old, new in MOVED.items()
        if re.search(rf"\bgapfm_teach(?:\.| import .*\b){old}\b", own)
    ]
