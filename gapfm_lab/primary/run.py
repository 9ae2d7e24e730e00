"""All systems in all splits, a piece each, on all processors; finished pieces are kept."""

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import pandas as pd
from tqdm.auto import tqdm

from gapfm_teach.ratings import Ratings

from .declared import GIVEN, N_SPLITS_DEAR, SYSTEMS
from .measure import measure, split
from .search import FULL, Extent

# Each piece has one processor; set before NumPy and Numba are loaded.
ONE_THREAD = dict.fromkeys(
    ("NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1"
)


def folder_name(data: str, ratings: Ratings, extent: Extent) -> str:
    """Where the pieces go: of other ratings, or of another search, elsewhere."""
    value = crc32(repr(extent).encode())
    for array in (ratings.indptr, ratings.indices, ratings.grades):
        value = crc32(array.tobytes(), value)
    return f"{data}-{value:08x}"


class Piece(NamedTuple):
    """A system in a split."""

    given: int
    system: str
    seed: int

    @property
    def file_name(self) -> str:
        return f"{self.seed:02d} given {self.given} {self.system}.csv"


def pieces(
    n_splits: int, systems: Sequence[str] = tuple(SYSTEMS), givens: Sequence[int] = GIVEN
) -> Iterator[Piece]:
    """Split after split, so that a run that is stopped early has whole splits."""
    for seed in range(n_splits):
        for given in givens:
            for name in systems:
                if seed < N_SPLITS_DEAR or not SYSTEMS[name].dear:
                    yield Piece(given, name, seed)


def run(
    ratings: Ratings, folder: Path, todo: Sequence[Piece], extent: Extent = FULL, *,
    n_jobs: int | None = None,
) -> Mapping[Piece, pd.DataFrame]:  # fmt: skip
    """What `measure` gives for each piece; the pieces that `folder` has are read from there."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [piece for piece in todo if not (folder / piece.file_name).exists()]
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        with ProcessPoolExecutor(
            n_jobs or os.cpu_count(),
            get_context("spawn"),
            _start,
            (ratings, folder, extent),
        ) as pool:
            jobs = [pool.submit(_make, piece) for piece in missing]
            try:
                for job in tqdm(as_completed(jobs), total=len(jobs), desc="primary"):
                    job.result()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update(
                {name: value}
            )
    return {
        piece: pd.read_csv(folder / piece.file_name, keep_default_na=False)
        for piece in todo
    }


_shared: tuple[Ratings, Path, Extent]


def _start(*shared) -> None:
    global _shared
    _shared = shared
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C: the running pieces are finished


def _make(piece: Piece) -> None:
    ratings, folder, extent = _shared
    table = measure(SYSTEMS[piece.system], split(ratings, piece.given, piece.seed), extent)
    unfinished = folder / f"{piece.file_name}.part"
    table.to_csv(unfinished, index=False)
    unfinished.replace(folder / piece.file_name)
