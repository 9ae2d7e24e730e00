"""Work shared out among threads: Python's own, since compiled code lets go of the interpreter.

Numba's `parallel=True` would do the same, but compiles a kernel and all that it calls three times
over, and its threads survive neither a fork nor, on some machines, two Python threads at once.
"""

import contextlib
import functools
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from itertools import pairwise

from .jit import numba

# The processors that this process may use, or what NUMBA_NUM_THREADS says.
MOST_THREADS: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
_n_threads = ContextVar("n_threads", default=MOST_THREADS)


def n_threads() -> int:
    """How many threads `parallel_for` uses here."""
    return _n_threads.get()


@contextlib.contextmanager
def using_threads(n: int) -> Iterator[None]:
    """Let `parallel_for` use n threads inside the block, and what it used before afterwards."""
    before = _n_threads.set(n)
    try:
        yield
    finally:
        _n_threads.reset(before)


def parallel_for(kernel, n: int, *arguments) -> None:
    """Call `kernel(begin, end, *arguments)` on parts that together are 0..n - 1, one a thread.

    No part may write where another reads or writes: then no result depends on the threads.
    """
    n_parts = max(1, min(_n_threads.get(), n))
    first, *others = pairwise(n * k // n_parts for k in range(n_parts + 1))
    waiting = [_pool(os.getpid()).submit(kernel, *part, *arguments) for part in others]
    kernel(*first, *arguments)
    for part in waiting:
        part.result()


@functools.cache  # a child process has none of its parent's threads
def _pool(process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MOST_THREADS, "gapfm_teach")
