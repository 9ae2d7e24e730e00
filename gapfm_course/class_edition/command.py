"""`python -m gapfm_teach course FOLDER`: a folder of notebooks to work in."""

import sys
from argparse import Namespace

from gapfm_teach._support.checks import check_path

from .cells import source
from .folder import FOLDED, make, update
from .merge import Merged
from .numbers import HEADING


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
        print(_said(name, merged))
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
