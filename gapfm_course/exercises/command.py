"""`python -m gapfm_teach report`, a student's table or that of a class; `... assignments FOLDER`."""

import re
import sys
from argparse import Namespace
from pathlib import Path

from gapfm_teach._support.checks import check_path

from . import EXERCISES, progress_log, report
from .assignments import write_assignments
from .core import shortened

NAMED = "pass a name that you may write to"


def main(options: Namespace) -> int:
    """Do what `options` ask for; return 0, or 1 with one line for bad input."""
    try:
        if options.command == "assignments":
            _assignments(check_path(options.folder, "FOLDER", NAMED))
        elif options.of_class:
            _of_class(check_path(options.of_class, "FOLDER", NAMED))
        else:
            _of_student(options.file)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _of_student(file: str | None) -> None:
    if not progress_log.is_kept():
        raise ValueError(
            "no results are kept on this computer; to begin, run in a notebook:\n"
            "  from gapfm_course.exercises import record_results\n"
            '  record_results("your name")'
        )
    name = progress_log.student()
    rows = report.rows_of(name, progress_log.results(), EXERCISES)
    if not rows:
        raise ValueError(f"nothing was tried yet since results are kept for {name}")
    usual = "report_" + re.sub(r"[^\w-]+", "_", name) + ".csv"
    path = check_path(file or usual, "file", NAMED)
    report.write(path, rows)
    for row in rows:
        solved = "solved" if row.solved else "not solved"
        print(f"{row.exercise:20} attempts: {row.attempts:3}, {solved}")
    print(
        f"Written to {path}: these columns, your name, and the first slip of each exercise."
    )


def _of_class(folder: Path) -> None:
    table = folder / report.TABLE_OF_CLASS
    students: dict[str, list[report.Row]] = {}
    for path in sorted(folder.glob("[!.]*.csv")):
        if path.name == table.name:
            continue
        try:
            rows = report.read(path)
            if rows[0].name in students:
                raise ValueError(f"{path.name!r} is a second report of {rows[0].name}")
            students[rows[0].name] = rows
        except (ValueError, OSError) as error:
            print(f"Set aside: {error}", file=sys.stderr)
    if not students:
        raise ValueError(f"{folder} holds no report; put the students' .csv files into it")
    all_rows = [row for rows in students.values() for row in rows]
    summaries = report.summarised(all_rows, EXERCISES)
    report.write(table, summaries)
    for name, rows in students.items():
        print(f"{name}: {len(rows)} tried, {sum(row.solved for row in rows)} solved")
    print(f"\n{'exercise':20} tried solved attempts  commonest first slip")
    for one in summaries:
        slip = (
            f"{one.how_many}: {shortened(one.commonest_first_slip, 60)}"
            if one.how_many
            else ""
        )
        print(f"{one.exercise:20} {one.tried:5} {one.solved:6} {one.attempts:8g}  {slip}")
    print(f"\nWritten to {table}, with the slips in full.")


def _assignments(folder: Path) -> None:
    for path in write_assignments(folder):
        print(path)
    print(
        f"Make {folder} the `source` folder of a course of nbgrader; then, for instance,\n"
        f"  nbgrader generate_assignment {path.stem}\n"
        "Students' code runs in the same Python as the tests and can replace `assert_solved`: look at "
        "the code of full marks, too."
    )
