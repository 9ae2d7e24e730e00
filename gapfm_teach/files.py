"""Writing files whole or not at all."""

import contextlib
import os
import tempfile
from pathlib import Path

import numpy as np


@contextlib.contextmanager
def replacing(path):
    """Yield an open binary file beside `path`; rename it to `path` when the block succeeds.

    When the block fails, whatever stood at `path` still stands there and nothing else is left.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def write_npz(path, arrays: dict[str, np.ndarray]) -> None:
    """Write named arrays to a compressed .npz file, whole or not at all."""
    with replacing(path) as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
