"""What a long run has finished, kept on disk piece by piece, so that no piece is done twice."""

import hashlib
import json
import shutil
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from ..files import replacing

T = TypeVar("T")
WAKE = 0.2  # seconds; on some systems Ctrl-C does not end a wait without a limit


class Stopped(Exception):
    """The run was asked to stop, and did so between two pieces."""


class Journal:
    """Finished pieces of a run: tables, each under all that decides its content.

    A piece is named by a mapping (system, settings, seed, data, ...) that JSON can write; a piece
    with anything changed is another one. Files are written whole or not at all.
    """

    def __init__(self, folder):
        self.folder = Path(folder)

    def get(
        self, piece: Mapping[str, Any], make: Callable[[], pd.DataFrame]
    ) -> pd.DataFrame:
        """The table stored for `piece`; the first time `make()` gives it.

        It always comes back as it was read, so that it is the same the first time and later;
        the index is not kept.
        """
        text = json.dumps(piece, sort_keys=True, ensure_ascii=False)
        name = hashlib.sha256(text.encode()).hexdigest()[:24]
        file = self.folder / f"{name}.csv"
        if not file.is_file():
            write_csv(file, make(), [text], float_format=None)
        return pd.read_csv(file, skiprows=1)

    def clear(self) -> None:
        """Remove all pieces, for the run is over."""
        shutil.rmtree(self.folder, ignore_errors=True)


def write_csv(
    path, table: pd.DataFrame, header: list[str], *, float_format: str | None = "%.6g"
) -> None:
    """Write `table` under lines of `header`, each behind a '#', whole or not at all.

    Read it by `pandas.read_csv(path, comment="#")`. `float_format` None writes every digit.
    """
    lines = [f"# {' '.join(line.split())}" for line in header]
    body = table.to_csv(index=False, float_format=float_format, lineterminator="\n")
    with replacing(path) as file:
        file.write("\n".join([*lines, body]).encode())


def stoppable(work: Callable[[Callable[[], None]], T]) -> T:
    """Run work(check) so that Ctrl-C takes effect only where `work` calls check().

    In the main thread a training ends at Ctrl-C with what it has learned so far, which would then
    be measured and stored as if it were whole. So `work` runs in another thread, and Ctrl-C makes
    its next `check()` raise Stopped; KeyboardInterrupt comes back here once it has ended.
    """
    asked = threading.Event()

    def check() -> None:
        if asked.is_set():
            raise Stopped

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work, check)
        try:
            while not future.done():
                wait([future], WAKE)
            return future.result()
        except KeyboardInterrupt:
            asked.set()
            raise
