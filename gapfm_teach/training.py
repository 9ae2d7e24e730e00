"""The ground under `GAPfm.fit`: ratings laid out for the kernels, threads, Ctrl-C, progress."""

import contextlib
import os
import signal
import sys
import threading

import numba
import numpy as np
from scipy import sparse
from tqdm.auto import tqdm

from . import kernels
from .metrics import thresholding_probabilities
from .ratings import Ratings

_PAIRS_WORTH_THREADS = 10_000_000  # about ten milliseconds of work
# Numba's "workqueue" threads, the only ones on some machines, end the whole process when two
# Python threads use them at once. Reentrant: a callback may fit another model.
_one_fit_at_a_time = threading.RLock()


class Problem:
    """Ratings in the kernels' layout, and the gradients of (9) at the factors last asked for."""

    def __init__(self, train: Ratings, validation: Ratings | None):
        self.train, self.validation = train, validation
        self.delta = thresholding_probabilities(train.max_grade)
        self.cumulative = np.concatenate([[0.0], np.cumsum(self.delta)])
        user_of = np.repeat(np.arange(train.n_users), np.diff(train.indptr))
        by_grade = np.lexsort((-train.grades.astype(np.int16), user_of))
        self.indptr = train.indptr
        self.items = train.indices[by_grade]
        self.grades = train.grades[by_grade]
        shape = (train.n_users, train.n_items)
        places = np.arange(train.n_ratings)
        by_item = sparse.csr_array((places, self.items, self.indptr), shape=shape).tocsc()
        self.item_indptr, self.raters, self.positions = (
            by_item.indptr,
            by_item.indices,
            by_item.data,
        )
        self.scores = np.empty(train.n_ratings)
        self.coefficients = np.empty(train.n_ratings)
        self.values = np.empty(train.n_users)

    def gradients(self, U, V, reg: float) -> float:
        """Set ∂F/∂f for every rating and ∂F/∂U (10) for every user; return F, (9) without 1/M."""
        kernels.score_rated(U, V, self.indptr, self.items, self.scores)
        kernels.user_coefficients(
            self.scores,
            self.indptr,
            self.grades,
            self.cumulative,
            self.coefficients,
            self.values,
        )
        self.user_gradient = np.empty_like(U)
        kernels.user_gradients(
            U, V, self.indptr, self.items, self.coefficients, reg, self.user_gradient
        )
        return float(self.values.sum() - reg / 2 * (np.sum(U**2) + np.sum(V**2)))

    def select(self, k: int | None, selection: str, rng) -> np.ndarray:
        """Which ratings' items an iteration updates: all, the k most misranked, or k at random."""
        selected = np.ones(self.items.shape[0], dtype=np.bool_)
        if k is None:
            return selected
        if selection == "random":
            priority = rng.random(self.items.shape[0])
        else:
            priority = np.empty(self.items.shape[0])
            kernels.misranking(self.scores, self.indptr, priority)
        kernels.select_highest(priority, self.indptr, k, selected)
        return selected

    def item_gradient(self, U, V, selected, inner_selected: bool, reg: float) -> np.ndarray:
        """∂F/∂V (11), (n_items, D), from the selected ratings only."""
        if inner_selected:
            coefficients = np.empty_like(self.coefficients)
            kernels.selected_coefficients(
                self.scores,
                self.indptr,
                self.grades,
                self.cumulative,
                selected,
                coefficients,
            )
        else:
            coefficients = np.where(selected, self.coefficients, 0.0)
        out = np.empty_like(V)
        kernels.item_gradients(
            U, V, self.item_indptr, self.raters, self.positions, coefficients, reg, out
        )
        return out

    def validation_gap(self, U, V) -> float:
        """Mean GAP over users of held-out items among all items not in training; nan without."""
        if self.validation is None:
            return float("nan")
        held = self.validation
        ranks = np.empty(held.n_ratings, dtype=np.int64)
        kernels.held_out_ranks(
            U, V, self.train.indptr, self.train.indices, held.indptr, held.indices, ranks
        )
        gap = np.empty(held.n_users)
        kernels.gap_at_ranks(ranks, held.indptr, held.grades, self.delta, gap)
        return float(np.nanmean(gap)) if np.isfinite(gap).any() else float("nan")


@contextlib.contextmanager
def threads(n: int | None, train: Ratings):
    """Let numba use n threads inside the block, and what it used before afterwards.

    None means numba's own number, or one where `train` is so small that waking threads costs more
    than they save. Another Python thread that wants to fit waits.
    """
    with _one_fit_at_a_time:
        before = numba.get_num_threads()
        if n is None:
            n = before if np.sum(np.diff(train.indptr) ** 2) > _PAIRS_WORTH_THREADS else 1
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


def progress(n_iter: int):
    """1..n_iter behind a progress bar: in terminals and notebooks, after the first second.

    Silent where output goes to a file, and in kernels that a test run started: what is stored
    in a notebook must not depend on the time it took.
    """
    tested = "PYTEST_VERSION" in os.environ or "TQDM_DISABLE" in os.environ
    shown = not tested and ("ipykernel" in sys.modules or sys.stderr.isatty())
    return tqdm(range(1, n_iter + 1), "GAPfm", disable=not shown, delay=1.0, leave=False)
