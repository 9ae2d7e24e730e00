"""Command line: `python -m gapfm_teach doctor`, `... course FOLDER`, `... reproduce table4`."""

from __future__ import annotations  # an older Python must get as far as being named

import argparse
import sys
from collections.abc import Sequence
from io import TextIOWrapper

RESULTS = [f"{what}{n}" for what in ("table", "figure") for n in (1, 2, 3, 4)]
# Tables of the other objectives, and of what makes them.
BEYOND = ["primary", "ablation", "family"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; without a command, print the usage."""
    parser = argparse.ArgumentParser(prog="python -m gapfm_teach", description=__doc__)
    commands = parser.add_subparsers(dest="command", metavar="command")
    _add_doctor(commands)
    commands.add_parser("warm", help="compile beforehand what fitting and evaluating use")
    _add_report(commands)
    _add_assignments(commands)
    _add_course(commands)
    _add_reproduce(commands)
    options = parser.parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):  # an older Windows' knows few letters
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    # Only now, and no more than is asked for: doctor must start where others do not.
    from gapfm_course import doctor

    if options.command == "doctor":
        return (
            doctor.main() if options.code is None else doctor.main_for_class(options.code)
        )
    if options.command == "warm":
        return doctor.warm_up()
    if options.command in ("report", "assignments"):
        from gapfm_course.exercises.command import main as exercises

        return exercises(options)
    if options.command == "course":
        from gapfm_course.class_edition.command import main as course

        if failed := course(options):
            return failed
        if doctor.uncompiled():  # the notebooks run without, too, and wait at the first fit
            doctor.warm_up()
        return 0
    if options.command == "reproduce":
        from gapfm_lab.reproduce.command import main as reproduce

        return reproduce(options)
    parser.print_help()
    return 0


def _add_doctor(commands) -> None:
    parser = commands.add_parser(
        "doctor", help="check this environment and say how to fix it"
    )
    parser.add_argument(
        "--class",
        dest="code",
        nargs="?",
        const="",
        metavar="CODE",
        help="to be run after `course` or `warm`, which compile: one line, green or red, and a code to read out to the teacher: a letter for each "
        "problem, A where there is none, then three characters that stand for the versions, the "
        "same on all laptops that have the same; with a CODE, say what it means",
    )


def _add_report(commands) -> None:
    text = (
        "write a table of the exercises that you tried, if you asked for results to be kept"
    )
    parser = commands.add_parser("report", help=text, description=text)
    parser.add_argument(
        "file", nargs="?", help="report_NAME.csv in this folder unless told"
    )
    parser.add_argument(
        "--class",
        dest="of_class",
        metavar="FOLDER",
        help="put together the reports of students in FOLDER, and write class.csv there: "
        "for each exercise how many solved it, and the commonest first slip",
    )


def _add_assignments(commands) -> None:
    text = "write the exercises as assignments for nbgrader, a notebook for each chapter"
    parser = commands.add_parser("assignments", help=text, description=text)
    parser.add_argument("folder", help="a new folder, the `source` of a course of nbgrader")


def _add_course(commands) -> None:
    text = "write the notebooks of the course into a folder, to work in"
    parser = commands.add_parser("course", help=text, description=text)
    parser.add_argument(
        "folder", help="a new or empty folder; with --update, one of before"
    )
    parser.add_argument(
        "--solutions",
        choices=["folded", "no"],
        help="in their folds (default), or left out; hints stay in either case",
    )
    parser.add_argument(
        "--outputs",
        action=argparse.BooleanOptionalAction,
        help="with the stored output of each cell; without it (default) you predict, then run",
    )
    parser.add_argument(
        "--update",
        action="store_true",
        help="bring the folder up to this edition and keep what was changed or added in it; "
        "make it where there is none",
    )


def _add_reproduce(commands) -> None:
    text = (
        "make a table or figure of the paper on other data, or a table of the other objectives; "
        "an interrupted run is taken up"
    )
    parser = commands.add_parser("reproduce", help=text, description=text)
    parser.add_argument("name", choices=[*RESULTS, *BEYOND])
    parser.add_argument(
        "--data",
        help="100k (default; primary: 100k and latest-small), 1m or another MovieLens set; netflix, of which results are called "
        "netflix_...: simulated in its likeness, unless --path or the environment variable "
        "GAPFM_TEACH_NETFLIX names the real files",
    )
    parser.add_argument(
        "--path",
        help="zip file or folder of that data set, where it is not fetched; primary: a CSV file with "
        "ratings of your own",
    )
    parser.add_argument(
        "--scale",
        type=float,
        help="share of Netflix's users; 0.01 unless told, or all where there are real files",
    )
    parser.add_argument(
        "--splits",
        type=int,
        help="unless told 5 (table4, family: 3; figures: 10; Netflix: 1); primary: 20, and 2 of your own "
        "ratings",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="2 splits (of Netflix 1) and a reduced search",
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="primary: the whole search for your own ratings, too",
    )
    parser.add_argument(
        "--out",
        help="folder; notebooks/results unless told, and with --quick notebooks/results/quick",
    )
