"""`python -m gapfm_teach report`, a student's table or that of a class; `... assignments FOLDER`."""

import re
import sys
from argparse import Namespace
from pathlib import Path

from . import EXERCISES, progress_log, report
from .assignments import write_assignments


def main(options: Namespace) -> int:
    """Do what `options` ask for; return 0, or 1 with one line for bad input."""
    try:
        if options.command == "assignments":
            _assignments(Path(options.folder).expanduser())
        elif options.of_class:
            _of_class(Path(options.of_class).expanduser())
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
    path = Path(file or usual).expanduser()
    report.write(path, rows)
    for row in rows:
        print(f"{'✓' if row.solved else '✗'} {row.exercise:20} attempts: {row.attempts}")
    print(
        f"Written to {path}: these columns, your name, and the first slip of each exercise."
    )


def _of_class(folder: Path) -> None:
    table = folder / report.TABLE_OF_CLASS
    files = [path for path in sorted(folder.glob("*.csv")) if path.name != table.name]
    if not files:
        raise ValueError(f"{folder} holds no report; put the students' .csv files into it")
    students = {path: report.read(path, EXERCISES) for path in files}
    summaries = report.summarised(
        [row for rows in students.values() for row in rows], EXERCISES
    )
    if not summaries:
        raise ValueError(f"the reports in {folder} are empty")
    report.write(table, summaries)
    for path, rows in students.items():
        solved = sum(row.solved for row in rows)
        print(f"{rows[0].name if rows else path.stem}: {len(rows)} tried, {solved} solved")
    print(f"\n{'exercise':20} tried solved attempts  commonest first slip")
    for one in summaries:
        slip = f"{one.how_many}: {_short(one.commonest_first_slip)}" if one.how_many else ""
        print(f"{one.exercise:20} {one.tried:5} {one.solved:6} {one.attempts:8g}  {slip}")
    print(f"\nWritten to {table}, with the slips in full.")


def _assignments(folder: Path) -> None:
    for path in write_assignments(folder):
        print(path)
    print(
        f"Make {folder} the `source` folder of a course of nbgrader; then, for instance,\n"
        f"  nbgrader generate_assignment {path.stem}"
    )


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"
