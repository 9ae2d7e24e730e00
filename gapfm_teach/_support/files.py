"""Writing files whole or not at all, and reading arrays without pickle."""

import contextlib
import hashlib
import os
import secrets
import shutil
import tempfile
from pathlib import Path

import numpy as np

# Factors and ratings shrink to a half or a tenth: a file that would unfold to far more than its
# size is none of ours. Small ones may, up to MOST_FOR_FREE bytes.
MOST_FOLDED, MOST_FOR_FREE = 64, 2**24


@contextlib.contextmanager
def replacing(path):
    """Yield an open binary file beside `path`; rename it to `path` when the block succeeds.

    Where `path` is a link, the file that it points to is replaced, and made where there is none.
    A file that is replaced leaves its mode: what only its owner could read stays so.
    When the block fails, whatever was at `path` is still there and nothing else is left.
    Raises ValueError as `check_file` does; OSError, naming `path`, when it cannot be written.
    """
    target = check_file(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    # Not tempfile's mkstemp: its files are for their owner's eyes only, and stay so when renamed.
    temporary = _beside(target)
    with _named(path):
        try:
            with open(temporary, "xb") as file:
                if target.exists():
                    shutil.copymode(target, temporary)
                yield file
            os.replace(temporary, target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _beside(target: Path) -> Path:
    return target.with_name(f"{target.name}.{secrets.token_hex(4)}.part")


@contextlib.contextmanager
def _named(path):
    """Let an error of the system name `path`, not the temporary file beside it."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        what = f"{error.strerror}; nothing was written"
        raise OSError(error.errno, what, str(path)) from error


def check_file(path) -> Path:
    """The file that `path` names, behind links; there need not be one yet.

    Raises ValueError for a folder or a device, which a renamed file would replace.
    """
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        raise ValueError(f"{str(path)!r} is not a file; pass a file's name")
    return target


def read_npz(path) -> dict[str, np.ndarray]:
    """The arrays of an .npz file by name, read without pickle.

    Raises FileNotFoundError, or ValueError for what would unfold to far more than its size; a
    damaged file may raise nearly anything.
    """
    # Opened here: NumPy would leave a damaged file open, and Windows could not replace it then.
    with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as stored:
        unfolded = sum(info.file_size for info in stored.zip.infolist())
        size = os.fstat(raw.fileno()).st_size
        if unfolded > MOST_FOR_FREE + MOST_FOLDED * size:
            raise ValueError(
                f"its {size:,} bytes would unfold to {unfolded:,}, and no file of this kind does so"
            )
        return dict(stored)


def writable_folder(path: Path) -> Path:
    """Return the folder `path`, made where there is none: OSError if no file can be made in it."""
    path.mkdir(parents=True, exist_ok=True)
    tempfile.TemporaryFile(dir=path).close()
    return path


@contextlib.contextmanager
def new_folder(path):
    """Yield an empty folder beside `path`; rename it to `path` when the block succeeds.

    When the block fails, nothing is left. Raises FileExistsError where `path` is taken, or has
    been meanwhile; OSError, naming `path`, when it cannot be written.
    """
    path = Path(path)
    _check_free(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _beside(path)
    with _named(path):
        temporary.mkdir()
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


def content_hash(*arrays: np.ndarray) -> str:
    """A hash of the arrays' bytes, to tell data from other data; 32 hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
