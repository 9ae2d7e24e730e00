"""`python -m gapfm_teach reproduce ...`: from what was typed to a table or figure on disk."""

import sys
from argparse import Namespace
from pathlib import Path

from ..checks import check_count
from ..datasets import load_movielens
from .reproduce import N_SPLITS, N_TRIALS, QUICK_SPLITS, QUICK_TRIALS, Run, reproduce
from .trials import TUNING_SEED

RESULTS = Path("notebooks/results")  # of full runs; those of --quick go to a folder inside
STOPPED = 130  # what shells call the end by Ctrl-C


def main(options: Namespace) -> int:
    """Make what `options` name; return 0, 1 for bad input, 130 when stopped by Ctrl-C."""
    try:
        run = _run(options)
        reproduce(run)
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on from here.", file=sys.stderr)
        return STOPPED
    except (ValueError, OSError, FloatingPointError, ImportError) as error:
        # DownloadError is an OSError; ImportError: a library that is there but does not load
        print(error, file=sys.stderr)
        return 1
    print(run.out / f"{run.name}.csv")
    return 0


def _run(options: Namespace) -> Run:
    n_splits = options.seeds
    if n_splits is None:
        n_splits = QUICK_SPLITS if options.quick else N_SPLITS
    check_count(n_splits, "seeds", high=TUNING_SEED)  # seeds below that of tuning
    quick = RESULTS / "quick" if options.quick else RESULTS
    return Run(
        options.name,
        load_movielens(options.data, options.path),
        options.data,
        Path(options.out) if options.out else quick,
        _command(options),
        n_splits=n_splits,
        n_trials=QUICK_TRIALS if options.quick else N_TRIALS,
        tune_again=options.tune,
        # The first trials of a full run are those of a quick one.
        trials=None if options.out else RESULTS / "trials.csv",
    )


def _command(options: Namespace) -> str:
    """What to type for the same again; folders of this machine are left out."""
    words = ["python -m gapfm_teach reproduce", options.name, "--data", options.data]
    if options.seeds is not None:
        words += ["--seeds", str(options.seeds)]
    return " ".join([*words, *(["--quick"] if options.quick else [])])
