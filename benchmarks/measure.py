"""What all benchmarks use: the best of repeated calls, and a process of one's own."""

import multiprocessing
import platform
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np


def seconds(
    function, repeats: int = 7, at_least: float = 0.05, clock=time.perf_counter
) -> float:
    """Best time of one call, over `repeats` blocks of calls lasting `at_least` seconds each.

    `clock`: time.thread_time, the processor's time of this thread alone, where only one works;
    it leaves out what other programs take.
    """
    function()
    calls, best = 1, np.inf
    for _ in range(repeats):
        while True:
            start = clock()
            for _ in range(calls):
                function()
            took = clock() - start
            if took >= at_least:
                break
            calls *= 2
        best = min(best, took / calls)
    return best


def in_fresh_process(function, *arguments):
    """The result of a function in a new process: its peak memory and settings are its own."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        return pool.submit(function, *arguments).result()


def peak() -> float:
    """GiB that this process held at the most so far."""
    import resource  # not on Windows

    unit = 2**30 if platform.system() == "Darwin" else 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
