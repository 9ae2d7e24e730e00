"""`python -m gapfm_teach reproduce ...`: from what was typed to a table or figure on disk."""

import os
import sys
from argparse import Namespace
from pathlib import Path

from gapfm_teach._support.checks import check_count, check_path
from gapfm_teach.datasets import load_movielens
from gapfm_teach.ratings import Ratings

from ..experiments.netflix_size import PLACE, active_users, netflix
from ..primary.command import main as primary
from .make import MAIN, Run, reproduce

RESULTS = Path("notebooks/results")  # of full runs; those of --quick go to a folder inside
NETFLIX = "netflix"
SIMULATED_SCALE = 0.01
STOPPED = 130  # what shells call the end by Ctrl-C


def main(options: Namespace) -> int:
    """Make what `options` name; return 0, 1 for bad input, 130 when stopped by Ctrl-C."""
    try:
        if options.name == "primary":
            return primary(options)
        options.data = options.data or MAIN
        run = _run(options)
        reproduce(run)
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on from here.", file=sys.stderr)
        return STOPPED
    except (ValueError, OSError, FloatingPointError, ImportError) as error:
        # DownloadError is an OSError; ImportError: a library that is there but does not load
        print(error, file=sys.stderr)
        return 1
    print(run.file(".csv"))
    return 0


def _run(options: Namespace) -> Run:
    if options.scale is not None and options.data != NETFLIX:
        raise ValueError(f"--scale goes with --data {NETFLIX}, got --data {options.data}")
    if options.splits is not None:
        check_count(options.splits, "--splits")
    out = RESULTS / "quick" if options.quick else RESULTS
    if options.out is not None:
        out = Path(check_path(options.out, "--out", "name a folder"))
    ratings, probe = _data(options)
    return Run(
        options.name, ratings, options.data, out, _command(options), options.splits,
        options.quick, probe,
    )  # fmt: skip


def _data(options: Namespace) -> tuple[Ratings, Ratings | None]:
    if options.data != NETFLIX:
        return load_movielens(options.data, options.path), None
    return active_users(*netflix(_scale(options), options.path))


def _scale(options: Namespace) -> float:
    """The share of Netflix's users: all of those in real files, few of simulated ones."""
    if options.scale is not None:
        return options.scale
    real = options.path is not None or os.environ.get(PLACE)
    return 1.0 if real else SIMULATED_SCALE


def _command(options: Namespace) -> str:
    """What to type for the same again; folders of this machine are left out."""
    words = ["python -m gapfm_teach reproduce", options.name, "--data", options.data]
    if options.data == NETFLIX:
        words += ["--scale", f"{_scale(options):g}"]
    if options.splits is not None:
        words += ["--splits", str(options.splits)]
    return " ".join([*words, *(["--quick"] if options.quick else [])])
