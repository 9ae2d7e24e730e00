"""Compile beforehand what fitting and evaluating use, so that nobody waits for it in class."""

from __future__ import annotations  # an older Python must get as far as being named

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed

# How often each kernel is compiled: with and without interpolation, with and without a selection.
VARIANTS = {
    "arrange_by_grade": 1,
    "gradients": 4,
    "misranking": 1,
    "select_highest": 1,
    "update_items_in_turn": 1,
    "consistent_gradients": 2,
    "consistent_sums": 2,
    "normalize_gains": 1,
    "score_rated": 1,
    "held_out_ranks": 1,
    "gap_at_ranks": 1,
    "draw_lists": 1,
    "top_grades": 1,
    "list_measures": 1,
}


def warm(progress: Callable[[int, int], None] | None = None) -> None:
    """Compile for this machine, and keep, what any `GAPfm.fit` and any evaluation use.

    In several processes, each one part of it: some ten seconds on two processors, and one or two
    where all is kept already. progress: called with how many parts are done, and how many there
    are, after each. Raises RuntimeError where a part fails or cannot be kept.
    """
    done = 0
    with ThreadPoolExecutor(len(PARTS)) as pool:
        running = [pool.submit(_in_a_process, name) for name in PARTS]
        for finished in as_completed(running):
            finished.result()
            done += 1
            if progress is not None:
                progress(done, len(PARTS))
    if missing := cold():
        raise RuntimeError(
            f"compiled code of {', '.join(missing)} could not be kept; set NUMBA_CACHE_DIR to a "
            "folder that you can write to"
        )


def cold() -> list[str]:
    """The kernels that are still to be compiled, all or some of their variants; none without Numba."""
    from gapfm_teach import kernels

    if not kernels.COMPILED:
        return []
    return [
        name
        for name, wanted in VARIANTS.items()
        if kernels.n_kept(getattr(kernels, name)) < wanted
    ]


def main() -> int:
    """Compile, say so, and return 0, or 1 where it could not be kept, or Numba is missing."""
    from gapfm_teach import kernels

    if not kernels.COMPILED:
        print("Without Numba nothing is compiled. To get it: python -m pip install numba")
        return 1
    if not cold():
        print("Compiled already.")
        return 0
    print("Compiling for this machine, once: some ten seconds to a minute.", flush=True)
    try:
        warm(lambda done, of: print(f"  {done} of {of} parts done", flush=True))
    except RuntimeError as error:
        print(error)
        return 1
    return 0


def _in_a_process(part: str) -> None:
    program = f"from gapfm_course.doctor.warming import PARTS; PARTS[{part!r}]()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"compiling failed: {done.stderr.strip() or done.returncode}")


def _data():
    """Ratings of which no list is long enough for interpolation, and of which some are."""
    from gapfm_teach.datasets import simulate_ratings

    few = simulate_ratings(30, 40, mean_ratings=12, random_state=0)
    return few, simulate_ratings(20, 300, mean_ratings=120, random_state=0)


def _printed() -> None:
    from gapfm_teach.model import GAPfm

    for train in _data():
        GAPfm(n_iter=1, random_state=0).fit(train)
        GAPfm(n_iter=1, n_selected=2, random_state=0).fit(train)
        GAPfm(n_iter=1, n_selected=2, update="sequential", random_state=0).fit(train)


def _consistent() -> None:
    from gapfm_teach.model import GAPfm

    for train in _data():
        model = GAPfm(objective="consistent", n_iter=1, random_state=0).fit(train)
        model.fold_in(*train.row(0))


def _evaluation() -> None:
    from gapfm_teach.evaluation import evaluate_ranking, evaluate_top_n
    from gapfm_teach.model import GAPfm
    from gapfm_teach.splits import split_given

    train, test = split_given(_data()[1], 10, random_state=0)
    model = GAPfm(n_iter=1, random_state=0).fit(train, validation=test)
    evaluate_top_n(model, train, test, random_state=0)
    evaluate_ranking(model, test)


PARTS = {"printed": _printed, "consistent": _consistent, "evaluation": _evaluation}
