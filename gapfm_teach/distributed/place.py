"""The folder a training writes its checkpoints to: its own, and no other's meanwhile."""

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from .._support.checks import check_path
from .._support.files import is_same, read_json, writable_folder

FORMAT, VERSION = "gapfm_teach.DistributedGAPfm checkpoint", 2
STATE, LOCK = "checkpoint.json", "checkpoint.lock"
_FAR = 2**30  # Windows lets nobody else read the byte that is locked: one behind the text


@contextlib.contextmanager
def lock_dir(path, resume=None) -> Iterator[Path]:
    """Yield the folder `path`, absolute, made where there is none, and keep others out of it.

    It must be empty, or of checkpoints already: of the one to `resume` from, or of none that was
    finished. The lock is the operating system's and ends with this process, however it ends. Its
    file stays: it also tells whose folder this is.

    Raises TypeError or ValueError for no path, FileExistsError for a folder that holds something
    else, BlockingIOError where another training has it, OSError where nothing can be written:
    not at the first checkpoint only must it fail.
    """
    path = check_path(path, "checkpoint", "pass a folder's name such as 'run'").absolute()
    if resume is not None:
        resume = check_path(resume, "resume", "pass a folder from fit(checkpoint=...)")
    strange = _first_strange(path) if path.is_dir() else None
    if strange is not None:
        raise FileExistsError(
            f"checkpoint {str(path)!r} holds {strange!r}, which no training of this version "
            "wrote; pass an empty folder, a new one, or one of checkpoints"
        )
    with contextlib.ExitStack() as stack:
        try:
            writable_folder(path)
            file = stack.enter_context(open(path / LOCK, "ab"))
            free = _lock(file)
            if free and not os.fstat(file.fileno()).st_size:
                file.write(json.dumps({"format": FORMAT, "version": VERSION}).encode())
                file.flush()
        except OSError as error:
            raise OSError(
                f"checkpoint {str(path)!r} cannot be written ({error}); pass a folder that you "
                "and the workers can write to, on a disk that knows locks"
            ) from error
        if not free:
            raise BlockingIOError(
                f"another training is writing to checkpoint {str(path)!r}; wait until it has "
                "ended, or pass another folder"
            )
        if (path / STATE).exists() and not is_same(path, resume):
            raise FileExistsError(
                f"checkpoint {str(path)!r} is another training's, which would be lost; to go on "
                f"from there pass resume={str(path)!r} too, else pass another folder or delete it"
            )
        yield path


def _first_strange(path: Path) -> str | None:
    """The first name in a folder that is neither empty nor of checkpoints, else None.

    Older checkpoints have no lock, and a training that was killed early leaves an empty one. A
    link is nobody's checkpoint: what it leads to would be written.
    """
    for name in (LOCK, STATE):
        if os.path.lexists(path / name) and not _is_plain(path / name):
            return name
    if any(_is_ours(path / name) for name in (LOCK, STATE)):
        return None
    empty = (path / LOCK).exists() and not (path / LOCK).stat().st_size
    names = sorted({entry.name for entry in path.iterdir()} - ({LOCK} if empty else set()))
    return names[0] if names else None


def _is_plain(file: Path) -> bool:
    return file.is_file() and not file.is_symlink()


def _is_ours(file: Path) -> bool:
    try:
        stored = read_json(file)
        return (stored["format"], stored["version"]) == (FORMAT, VERSION)
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return False


def _lock(file: BinaryIO) -> bool:
    """Lock an open file until it is closed; False where somebody else has locked it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(file.fileno(), _FAR, os.SEEK_SET)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
