"""Writing files whole or not at all."""

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

# What the system says when there is no room: a full disk, a quota, a limit for one file.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextlib.contextmanager
def replacing(path):
    """Yield an open binary file beside `path`; rename it to `path` when the block succeeds.

    Where `path` is a link, the file that it points to is replaced, and made where there is none.
    A file that is replaced leaves its mode: what only its owner could read stays so.
    When the block fails, whatever stood at `path` still stands there and nothing else is left.
    Raises ValueError as `regular` does; OSError, naming `path`, when it cannot be written.
    """
    target = regular(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    # Not tempfile's mkstemp: its files are for their owner's eyes only, and stay so when renamed.
    temporary = _beside(target)
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    with _named(path, temporary):
        try:
            with open(temporary, "xb", opener=partial(os.open, mode=mode or 0o666)) as file:
                if mode is not None:
                    os.chmod(temporary, mode)  # whatever the umask says
                yield file
            os.replace(temporary, target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _beside(target: Path) -> Path:
    return target.with_name(f"{target.name}.{secrets.token_hex(4)}.part")


@contextlib.contextmanager
def _named(path, temporary: Path):
    """Let an OSError name `path`, where it says that there is no room or names `temporary`."""
    try:
        yield
    except OSError as error:
        ours = isinstance(error.filename, str) and error.filename.startswith(str(temporary))
        if error.errno in _NO_ROOM:
            what = (
                f"{error.strerror}; nothing was written, make room or choose another place"
            )
        elif ours:
            what = f"{error.strerror}; nothing was written"
        else:
            raise
        raise OSError(error.errno, what, str(path)) from error


def regular(path) -> Path:
    """The file that `path` names, behind links; there need not be one yet.

    Raises ValueError for what only looks like a file (a folder, a device, a pipe): renaming would
    put a file in its place, and reading might never end.
    """
    target = Path(os.path.realpath(path))
    # Asked of `path` too, since a pipe's link in /proc leads to a name that is not there.
    if (os.path.exists(path) and not os.path.isfile(path)) or target.is_symlink():
        what = "a folder" if os.path.isdir(path) else "a device, a pipe or a link to itself"
        raise ValueError(f"{str(path)!r} is {what}, not a file; pass a file's name")
    return target


def is_same(path, other) -> bool:
    """Whether both are there, and one file or folder by two names; nothing (None) is none."""
    there = other is not None and os.path.exists(path) and os.path.exists(other)
    return there and os.path.samefile(path, other)


def read_json(path) -> Any:
    """What a file of JSON holds.

    Raises OSError as `open` does; ValueError for what is no file, no JSON, or nested too deeply.
    """
    try:
        return json.loads(regular(path).read_text(encoding="utf-8"))
    except RecursionError as error:
        raise ValueError(f"{str(path)!r} is nested too deeply") from error


def writable_folder(path: Path) -> Path:
    """Return the folder `path`, made where there is none: OSError, naming it, if no file can be
    made in it."""
    path.mkdir(parents=True, exist_ok=True)
    try:
        tempfile.TemporaryFile(dir=path).close()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
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
    with _named(path, temporary):
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
