"""Command line: `python -m gapfm_teach doctor`, `... course FOLDER`, `... reproduce table4`.

The commands are those of the lab and the course: `gapfm_course.command_line` has them.
"""

from __future__ import annotations  # an older Python must get as far as being named

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; without a command, print the usage."""
    from gapfm_course.command_line import main as run

    return run(arguments)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:  # while the libraries load; later on a run stops by itself
        sys.exit(130)
