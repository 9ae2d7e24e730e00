"""The ground under `GAPfm.fit`: ratings laid out for the kernels, threads, Ctrl-C, progress."""

import contextlib
import os
import signal
import sys
import threading

import numba
import numpy as np
from tqdm.auto import tqdm

from . import kernels
from .metrics import thresholding_probabilities
from .ratings import Ratings

_WORK_WORTH_THREADS = 4_000_000  # nanoseconds of a pass
_MOST_BLOCKS = 64
_BLOCK_BYTES = 2**28  # for all the blocks' copies of ∂F/∂V, where there is more than one
# Numba's "workqueue" threads, the only ones on some machines, end the whole process when two
# Python threads use them at once. Reentrant: a callback may fit another model.
_one_fit_at_a_time = threading.RLock()


def _work(train: Ratings) -> np.ndarray:
    """About how many nanoseconds a pass takes for each user, (n_users,)."""
    counts = np.diff(train.indptr)
    return 40 * counts + 30 * np.minimum(counts, 100)  # the rest is interpolated


class Problem:
    """Ratings in the kernels' layout, and the gradients of (9) at the factors last asked for.

    The users are cut into blocks of about equal work, and each block adds up its own ∂F/∂V: the
    cuts depend on the ratings alone, so no sum depends on the number of threads.
    """

    def __init__(self, train: Ratings, validation: Ratings | None):
        self.train, self.validation = train, validation
        self.delta = thresholding_probabilities(train.max_grade)
        self.cumulative = np.concatenate([[0.0], np.cumsum(self.delta)])
        self.indptr = train.indptr
        self.items = np.empty_like(train.indices)
        self.grades = np.empty_like(train.grades)
        kernels.arrange_by_grade(
            train.indptr,
            train.indices,
            train.grades,
            train.max_grade,
            self.items,
            self.grades,
        )

    def _blocks(self, n_factors: int) -> np.ndarray:
        """First user of each block, and n_users: (number of blocks + 1,).

        Few blocks where adding up their copies of ∂F/∂V would cost more than filling them.
        """
        train = self.train
        n_blocks = min(
            _MOST_BLOCKS,
            train.n_ratings // (2 * train.n_items),
            _BLOCK_BYTES // (8 * train.n_items * n_factors),
        )
        done = np.cumsum(_work(train))
        cuts = done[-1] / max(1, n_blocks) * np.arange(1, n_blocks)
        return np.concatenate([[0], 1 + np.searchsorted(done, cuts), [train.n_users]])

    def gradients(
        self, U, V, reg: float, *, n_selected: int | None = None,
        inner_selected: bool = False, marks: np.ndarray | None = None,
    ) -> float:  # fmt: skip
        """Return F, (9) without 1/M; set `user_gradient`, ∂F/∂U (10), and `item_gradient`, (11).

        `item_gradient` comes from all ratings, from the `n_selected` most misranked of each user
        (Algorithm 1), or from those that `marks` (n_ratings,) marks.
        """
        self._factors = U, V
        blocks = self._blocks(V.shape[1])
        values, parts = np.empty(U.shape[0]), np.empty((blocks.size - 1, *V.shape))
        self.user_gradient, self.item_gradient = np.empty_like(U), np.empty_like(V)
        kernels.gradients(
            U, V, self.indptr, self.items, self.grades, self.train.grades, self.cumulative, blocks,
            np.empty(0, dtype=np.bool_) if marks is None else marks,
            n_selected or 0, inner_selected, values, self.user_gradient, parts,
        )  # fmt: skip
        kernels.add_blocks(parts, self.item_gradient)
        self.user_gradient -= reg * U
        self.item_gradient -= reg * V
        return float(values.sum() - reg / 2 * (np.sum(U**2) + np.sum(V**2)))

    @property
    def scores(self) -> np.ndarray:
        """f of (1) for every rating, at the factors last asked for; computed anew each time."""
        scores = np.empty(self.items.shape[0])
        kernels.score_rated(*self._factors, self.indptr, self.items, scores)
        return scores

    @property
    def coefficients(self) -> np.ndarray:
        """∂F/∂f for every rating, at the factors last asked for; computed anew each time."""
        coefficients = np.empty(self.items.shape[0])
        kernels.user_coefficients(
            self.scores, self.indptr, self.grades, self.cumulative, coefficients
        )
        return coefficients

    def select(self, k: int | None, selection: str, rng) -> np.ndarray:
        """Which ratings' items an iteration updates: all, the k most misranked, or k at random."""
        selected = np.ones(self.items.shape[0], dtype=np.bool_)
        if k is None:
            return selected
        rows = self.indptr, self.train.grades, self.train.max_grade
        if selection == "random":
            priority = rng.random(self.items.shape[0])
        else:
            priority = np.empty(self.items.shape[0])
            kernels.misranking(self.scores, *rows, priority)
        kernels.select_highest(priority, *rows, k, selected)
        return selected

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
            n = before if np.sum(_work(train)) > _WORK_WORTH_THREADS else 1
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
