"""What a long run has finished, kept on disk entry by entry, so that none is computed twice."""

import contextlib
import hashlib
import json
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from gapfm_teach._support.files import replacing

T = TypeVar("T")
WAKE = 0.2  # seconds; on some systems Ctrl-C does not end a wait without a limit


class Stopped(Exception):
    """The run was asked to stop, and did so between two entries."""


class ResultCache:
    """Finished entries of a run: a CSV file each, named after all that decides its content.

    An entry is a mapping (system, settings, seed, data, ...) that JSON can write; with anything
    changed it is another one. Files are written whole or not at all.
    """

    def __init__(self, folder):
        self.folder = Path(folder)

    def get(
        self, entry: Mapping[str, Any], make: Callable[[], pd.DataFrame]
    ) -> pd.DataFrame:
        """The table stored for `entry`; the first time `make()` gives it.

        It always comes back as it was read, so that it is the same the first time and later;
        the index is not kept.
        """
        text = json.dumps(entry, sort_keys=True, ensure_ascii=False)
        file = self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.csv"
        if not file.exists():
            body = make().to_csv(index=False, lineterminator="\n").encode()
            with replacing(file) as out:
                out.write(body)
        return pd.read_csv(file)

    def clear(self) -> None:
        """Remove all entries, for the run is over; what else is in their folder stays."""
        for file in self.folder.glob(f"{'[0-9a-f]' * 24}.csv*"):
            if file.suffix in (".csv", ".part"):
                file.unlink()
        with contextlib.suppress(OSError):  # what is not ours is in it
            self.folder.rmdir()


def write_csv(path, table: pd.DataFrame, header: list[str]) -> None:
    """Write `table` under lines of `header`, each behind a '#', whole or not at all.

    Six significant digits. Read it by `pandas.read_csv(path, comment="#")`.
    """
    lines = [f"# {' '.join(line.split())}" for line in header]
    body = table.to_csv(index=False, float_format="%.6g", lineterminator="\n")
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
            print("\nStopping as soon as the running entry is done ...", file=sys.stderr)
            raise
