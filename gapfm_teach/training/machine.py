"""What a training asks of the machine: threads, Ctrl-C, a progress bar."""

import contextlib
import os
import signal
import sys
import threading

import numpy as np
from tqdm.auto import tqdm

from .. import kernels
from ..ratings import Ratings

_WORK_WORTH_THREADS = 4_000_000  # nanoseconds of a pass
# Fits that run at once in several Python threads would only get in each other's way. Reentrant: a
# callback may fit another model.
_one_fit_at_a_time = threading.RLock()


def work(train: Ratings) -> np.ndarray:
    """About how many nanoseconds a pass takes for each user, (n_users,)."""
    counts = np.diff(train.indptr)
    return 40 * counts + 30 * np.minimum(counts, 100)  # the rest is interpolated


def most_threads() -> int:
    """How many threads the kernels may use here."""
    return kernels.MOST_THREADS


@contextlib.contextmanager
def threads(n: int | None, train: Ratings):
    """Let the kernels use n threads inside the block, and what they used before afterwards.

    None means as before, or one where `train` is so small that waking threads costs more than
    they save. Another Python thread that wants to fit waits.
    """
    with _one_fit_at_a_time:
        if n is None:
            n = kernels.n_threads() if np.sum(work(train)) > _WORK_WORTH_THREADS else 1
        with kernels.using_threads(n):
            yield


@contextlib.contextmanager
def interrupt_flag():
    """Inside the block Ctrl-C only sets a flag; yields a function that reads it.

    Python delivers signals to the main thread alone; in another one nothing is changed.
    """
    caught = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield caught.is_set
        return
    before = signal.signal(signal.SIGINT, lambda *_: caught.set())
    try:
        yield caught.is_set
    finally:
        signal.signal(signal.SIGINT, before)


def progress(first: int, n_iter: int):
    """first..n_iter behind a progress bar with the time left, after the first second.

    In terminals and notebooks; a training that resumes begins with the bar partly filled.

    Silent where output goes to a file, and in kernels that a test run started: what is stored
    in a notebook must not depend on the time it took.
    """
    tested = "PYTEST_VERSION" in os.environ or "TQDM_DISABLE" in os.environ
    shown = not tested and ("ipykernel" in sys.modules or sys.stderr.isatty())
    return tqdm(
        range(first, n_iter + 1), "GAPfm", total=n_iter, initial=first - 1,
        disable=not shown, delay=1.0, leave=False,
    )  # fmt: skip
