"""All systems in all splits, a piece each, on all processors; finished pieces are kept."""

import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import (
    Executor,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    as_completed,
)
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple, TypeVar
from zlib import crc32

import pandas as pd
from tqdm.auto import tqdm

from gapfm_teach.ratings import Ratings

from .measure import measure, split
from .protocol import Protocol

T = TypeVar("T")
# Each process has one processor; set before NumPy and Numba are loaded there.
ONE_THREAD = dict.fromkeys(
    ("NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1"
)


class Piece(NamedTuple):
    """A system in a split."""

    given: int
    system: str
    seed: int

    @property
    def file_name(self) -> str:
        name = self.system.replace("/", "-")
        return f"{self.seed:02d} given {self.given} {name}.csv"


def described(protocol: Protocol) -> str:
    """All that decides what its pieces hold, but for the ratings."""
    spaces = [(s.numbers, s.choices, s.fixed) for s in protocol.systems.values()]
    return repr((protocol.task, protocol.extent, protocol.tuned_for, spaces))


def folder_name(data: str, searched: object, *parts: Ratings) -> str:
    """Where the pieces go: of other ratings, or searched in another way, elsewhere."""
    value = crc32(repr(searched).encode())
    for ratings in parts:
        for array in (ratings.indptr, ratings.indices, ratings.grades):
            value = crc32(array.tobytes(), value)
    return f"{data}-{value:08x}"


def pieces(protocol: Protocol) -> Iterator[Piece]:
    """Split after split, so that a run that is stopped early has whole splits."""
    for seed in range(protocol.n_splits):
        for given in protocol.givens:
            for name, space in protocol.systems.items():
                if seed < protocol.n_splits_dear or not space.dear:
                    yield Piece(given, name, seed)


def measure_all(
    protocol: Protocol, ratings: Ratings, folder: Path, probe: Ratings | None = None
) -> dict[Piece, pd.DataFrame]:
    """What `measure` gives for each piece of `protocol`.

    Large data, with a `probe` set apart, stay in this process.
    """
    todo = {piece.file_name: piece for piece in pieces(protocol)}
    make = partial(_measure, protocol, ratings, probe)
    return run(todo, make, folder, n_jobs=None if probe is None else 1)


def _measure(
    protocol: Protocol, ratings: Ratings, probe: Ratings | None, piece: Piece
) -> pd.DataFrame:
    parts = split(protocol.task, ratings, piece.given, piece.seed, probe)
    space = protocol.systems[piece.system]
    return measure(space, parts, protocol.extent, protocol.tuned_for)


def run(
    todo: Mapping[str, T], make: Callable[[T], pd.DataFrame], folder: Path, *,
    n_jobs: int | None = None,
) -> dict[T, pd.DataFrame]:  # fmt: skip
    """`make(piece)` of every piece, by the name of its file; those that `folder` has are read.

    n_jobs : processes, None for as many as there are processors; 1: this one. At Ctrl-C the running
    pieces are finished, for a training that is interrupted would look like a whole one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    missing = {name: piece for name, piece in todo.items() if not (folder / name).exists()}
    with _workers(n_jobs or os.cpu_count() or 1) as pool:
        jobs = [
            pool.submit(_store, make, piece, folder / name)
            for name, piece in missing.items()
        ]
        try:
            for job in tqdm(as_completed(jobs), total=len(jobs), desc=folder.name):
                job.result()
        except BaseException:
            print("\nStopping as soon as what runs is done ...", file=sys.stderr)
            pool.shutdown(cancel_futures=True)
            raise
    return {
        piece: pd.read_csv(folder / name, keep_default_na=False)
        for name, piece in todo.items()
    }


def remove_pieces(folder: Path) -> None:
    """The run is over. What `run` did not write, as other runs' pieces, stays."""
    shutil.rmtree(folder)
    with contextlib.suppress(OSError):  # not empty
        folder.parent.rmdir()


@contextlib.contextmanager
def _workers(n_jobs: int) -> Iterator[Executor]:
    if n_jobs == 1:
        with ThreadPoolExecutor(1) as pool:  # Ctrl-C goes to the main thread alone
            yield pool
        return
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    ignored = (signal.SIGINT, signal.SIG_IGN)
    try:
        with ProcessPoolExecutor(
            n_jobs, get_context("spawn"), signal.signal, ignored
        ) as pool:
            yield pool
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update(
                {name: value}
            )


def _store(make: Callable[[T], pd.DataFrame], piece: T, file: Path) -> None:
    unfinished = file.with_name(f"{file.name}.part")
    make(piece).to_csv(unfinished, index=False)
    unfinished.replace(file)
