"""Command line: `python -m gapfm_teach doctor`."""

from __future__ import annotations  # an older Python must get as far as being named

import argparse
import sys
from collections.abc import Sequence

from . import doctor


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; without a command, print the usage."""
    parser = argparse.ArgumentParser(prog="python -m gapfm_teach", description=__doc__)
    commands = parser.add_subparsers(dest="command", metavar="command")
    commands.add_parser("doctor", help="check this environment and say how to mend it")
    if parser.parse_args(arguments).command == "doctor":
        return doctor.main()
    parser.print_help()
    return 0


if __name__ == "__main__":
    sys.exit(main())
