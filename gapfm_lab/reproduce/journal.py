"""What a long run has finished, kept on disk piece by piece, so that no piece is done twice."""

import hashlib
import io
import json
import re
import sys
import threading
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

import pandas as pd

from gapfm_teach._support.files import remove_files, replacing

T = TypeVar("T")
_PIECE = re.compile(r"[0-9a-f]{24}\.csv")
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
        the index is not kept. A file that is not whole any more is made anew, with a warning.
        """
        text = json.dumps(piece, sort_keys=True, ensure_ascii=False)
        name = hashlib.sha256(text.encode()).hexdigest()[:24]
        file = self.folder / f"{name}.csv"
        body = _stored(file, text)
        if body is None:
            body = make().to_csv(index=False, lineterminator="\n").encode()
            with replacing(file) as out:
                out.write(_head(text, body) + body)
        return pd.read_csv(io.BytesIO(body))

    def clear(self) -> None:
        """Remove all pieces, for the run is over; what else is in their folder stays."""
        if self.folder.is_dir():
            remove_files(self.folder, _PIECE)


def _head(text: str, body: bytes) -> bytes:
    """What stands above a piece: its name in full, and a checksum of the table."""
    return f"# {text}\n# crc32 {crc32(body):08x}\n".encode()


def _stored(file: Path, text: str) -> bytes | None:
    """The table of a piece as it was written; None where there is none, or a damaged one."""
    try:
        found = file.read_bytes()
    except FileNotFoundError:
        return None
    body = found.split(b"\n", 2)[-1]
    if found == _head(text, body) + body:
        return body
    warnings.warn(f"{file} is damaged; this piece is made anew", stacklevel=3)
    return None


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
            print("\nStopping as soon as the running piece is done ...", file=sys.stderr)
            raise
