"""What a training asks of the machine: threads, Ctrl-C, a progress bar."""

import contextlib
import os
import signal
import sys
import threading

import numpy as np
from tqdm.auto import tqdm

from ..kernels.jit import numba
from ..ratings import Ratings

_WORK_WORTH_THREADS = 4_000_000  # nanoseconds of a pass
# Numba's "workqueue" threads, the only ones on some machines, end the whole process when two
# Python threads use them at once. Reentrant: a callback may fit another model.
_one_fit_at_a_time = threading.RLock()


def work(train: Ratings) -> np.ndarray:
    """About how many nanoseconds a pass takes for each user, (n_users,)."""
    counts = np.diff(train.indptr)
    return 40 * counts + 30 * np.minimum(counts, 100)  # the rest is interpolated


def most_threads() -> int:
    """How many threads numba may use here."""
    return numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]


@contextlib.contextmanager
def threads(n: int | None, train: Ratings):
    """Let numba use n threads inside the block, and what it used before afterwards.

    None means numba's own number, or one where `train` is so small that waking threads costs more
    than they save. Another Python thread that wants to fit waits.
    """
    with _one_fit_at_a_time:
        before = numba.get_num_threads()
        if n is None:
            n = before if np.sum(work(train)) > _WORK_WORTH_THREADS else 1
        numba.set_num_threads(n)
        try:
            yield
        finally:
            numba.set_num_threads(before)


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
