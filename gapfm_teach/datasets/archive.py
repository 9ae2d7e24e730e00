"""Read files out of a zip or a folder, and never more of one than it can rightly hold."""

import io
import os
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from .._support.files import regular

HOW = "pass the archive as downloaded, or the folder it was unpacked into"
CHUNK = 1 << 20
# What archives of data and wheels are packed with. The others can ask for gigabytes to unpack.
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class Files:
    """The files of a zip or of an unpacked folder, by bare name.

    Raises FileNotFoundError when `path` does not exist, PermissionError when it may not be
    read, ValueError when it is a file that is no zip or a damaged one, and for a device or pipe,
    from which reading might never end, here or in the folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if self.path.is_dir():
            found = [*self.path.glob("*/*"), *self.path.iterdir()]
            self._members = {file.name: str(file) for file in sorted(found, key=_depth)}
        elif not self.path.exists():
            raise FileNotFoundError(f"path {str(path)!r} does not exist")
        else:
            names = sorted(map(PurePosixPath, _names_in_zip(self.path)), key=_depth)
            self._members = {name.name: str(name) for name in names}

    def __contains__(self, name: str) -> bool:
        return name in self._members

    @contextmanager
    def open(self, name: str, most: int) -> Iterator[IO[bytes]]:
        """Open one file for reading at most `most` bytes.

        Raises ValueError when it is missing, damaged, or larger: at once when the archive
        says so, else as soon as more comes, so that a few packed bytes cannot fill the memory.
        """
        if name not in self:
            raise ValueError(f"{self.path.name} holds no {name}; is the archive complete?")
        label = f"{name} in {self.path.name}"
        stream: IO[bytes]
        with ExitStack() as stack:
            if self.path.is_dir():
                stream = stack.enter_context(open(regular(self._members[name]), "rb"))
                size = os.fstat(stream.fileno()).st_size
            else:
                file = stack.enter_context(open(self.path, "rb"))
                with _damage_reported(label):
                    archive = stack.enter_context(zipfile.ZipFile(file))
                    member = archive.getinfo(self._members[name])
                    if member.compress_type not in METHODS:
                        raise ValueError(f"packed by method {member.compress_type}")
                    size = member.file_size
                    stream = stack.enter_context(archive.open(member))
            if size > most:
                raise _too_large(label, f"{size:,} bytes", most)
            yield io.BufferedReader(_Bounded(stream, label, most), CHUNK)


class _Bounded(io.RawIOBase):
    """Passes on what a file holds, up to a number of bytes, and says what is damaged."""

    def __init__(self, stream: IO[bytes], label: str, most: int) -> None:
        self._stream = stream
        self._label = label
        self._most = self._left = most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        with _damage_reported(self._label):
            chunk = self._stream.read(len(buffer))
        self._left -= len(chunk)
        if self._left < 0:
            raise _too_large(self._label, "more", self._most)
        buffer[: len(chunk)] = chunk
        return len(chunk)


def _names_in_zip(path: Path) -> list[str]:
    # Opened here: a file that may not be read is no damaged one.
    with open(regular(path), "rb") as file, _damage_reported(path.name):
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as archive:
                return archive.namelist()
    raise ValueError(f"path {str(path)!r} is no zip file, or one cut short; {HOW}")


@contextmanager
def _damage_reported(label: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # a damaged zip raises nearly anything
        why = str(error) or type(error).__name__
        raise ValueError(f"{label} is damaged ({why}); get the file again") from error


def _too_large(label: str, size: str, most: int) -> ValueError:
    return ValueError(
        f"{label} holds {size}, where this data set has at most {most:,} bytes; it is another "
        "file or was made to fill the memory: get it again"
    )


def _depth(path: Path | PurePosixPath) -> tuple[int, str]:
    """Sort key that puts the least nested last, where it wins in a dict of bare names."""
    return -len(path.parts), str(path)
