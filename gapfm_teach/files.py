"""Writing files whole or not at all."""

import contextlib
import hashlib
import os
import re
import secrets
import shutil
from pathlib import Path

import numpy as np


@contextlib.contextmanager
def replacing(path):
    """Yield an open binary file beside `path`; rename it to `path` when the block succeeds.

    When the block fails, whatever stood at `path` still stands there and nothing else is left.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Not tempfile's mkstemp: its files are for their owner's eyes only, and stay so when renamed.
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        with open(temporary, "xb") as file:
            yield file
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def new_folder(path):
    """Yield an empty folder beside `path`; rename it to `path` when the block succeeds.

    When the block fails, nothing is left. Raises FileExistsError where `path` is taken, or has
    been meanwhile.
    """
    path = Path(path)
    _check_free(path)
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    temporary.mkdir(parents=True)
    try:
        yield temporary
        _check_free(path)
        os.rename(temporary, path)
    except BaseException:
        shutil.rmtree(temporary)
        raise


def _check_free(path: Path) -> None:
    if os.path.lexists(path):  # a link that leads nowhere takes the name, too
        raise FileExistsError(f"{path} exists already; remove it or pass another name")


def remove_files(folder: Path, names: re.Pattern[str]) -> None:
    """Remove the files in `folder` whose whole names fit `names`, also as `replacing` left them
    half written when it was killed; then the folder itself, unless something else is in it."""
    with os.scandir(folder) as entries:
        found = [entry for entry in entries if entry.is_file(follow_symlinks=False)]
    for entry in found:
        if names.fullmatch(re.sub(r"\.[0-9a-f]{8}\.part$", "", entry.name)):
            Path(entry).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # what is not ours is in it
        folder.rmdir()


def content_hash(*arrays: np.ndarray) -> str:
    """A hash of the arrays' bytes, to tell data from other data; 32 hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def write_npz(path, arrays: dict[str, np.ndarray]) -> None:
    """Write named arrays to a compressed .npz file, whole or not at all."""
    with replacing(path) as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
