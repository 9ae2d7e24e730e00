"""Files inside zip and tar archives, one after the other, in bounded memory, never unpacked.

Archives may be damaged at any byte, cut anywhere, or made to do harm. Whatever is wrong with one
becomes a single ValueError that names it.
"""

import errno
import gzip
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PureWindowsPath
from typing import IO

from .names import HOW, MOST_ENTRIES, MOST_IN_ARCHIVE, TAR, belongs, most_bytes

BLOCK = 1 << 20  # bytes the tar reader asks for at a time
HEADER_ROOM = 1 << 24  # bytes between two files of a tar: headers, or zeros at its end


class Member:
    """One of the data set's files: its bare `name`, to be read once and in turn.

    Raises ValueError when `size`, as declared, is more than such a file can have.
    """

    def __init__(self, name: str, stream: IO[bytes], path: Path, size: int) -> None:
        self.name = name
        self._stream = stream
        self._path = path
        self._left = most_bytes(name)
        if size > self._left:
            raise too_large(path, name, self._left)

    def read(self, size: int | None = None) -> bytes:
        """Return up to `size` bytes, or all that are left.

        Raises ValueError when the archive is damaged there, or the file too large.
        """
        with damage_reported(self._path, self.name):
            got = self._stream.read(self._left + 1 if size is None else size)
        if len(got) > self._left:
            raise too_large(self._path, self.name, most_bytes(self.name))
        self._left -= len(got)
        return got


def in_archive(path: Path) -> Iterator[Member]:
    """Yield the data set's files in a zip, or in a tar that may be gzipped."""
    with damage_reported(path):
        zipped = zipfile.is_zipfile(path)
    return _in_zip(path) if zipped else _in_tar_file(path)


def _in_zip(path: Path) -> Iterator[Member]:
    with ExitStack() as stack:
        with damage_reported(path):
            archive = stack.enter_context(zipfile.ZipFile(path))
        entries = archive.infolist()
        named = [(_bare_name(entry.filename, path), entry) for entry in entries]
        chosen = [
            (name, entry) for name, entry in named if belongs(name) and not entry.is_dir()
        ]
        unfolded = sum(entry.file_size for _, entry in chosen)
        if unfolded > MOST_IN_ARCHIVE or len(entries) > MOST_ENTRIES:
            raise too_large(path)
        for name, entry in sorted(chosen, key=lambda pair: pair[0]):
            _check_zipped(entry, name, path)
            with damage_reported(path, name):
                stream = archive.open(entry)
            with stream:
                member = Member(name, stream, path, entry.file_size)
                if name == TAR:
                    yield from _in_tar(stream, path)
                else:
                    yield member


def _check_zipped(entry: zipfile.ZipInfo, name: str, path: Path) -> None:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):  # 0: packed on a system without kinds
        raise _no_plain_file(path, name)
    # Of bzip2 and LZMA, Python unfolds all that a block gives, however much, at once.
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        why = f"packed by method {entry.compress_type}, where only deflate is read"
        raise damaged(path, name, why)


def _in_tar_file(path: Path) -> Iterator[Member]:
    with open(path, "rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        if zipped:
            # Not tarfile's own gzip reader, which checks neither the end nor the checksum.
            with gzip.open(file) as stream:
                yield from _in_tar(stream, path, outermost=path.name != TAR)
        else:
            yield from _in_tar(file, path, outermost=path.name != TAR)


def _in_tar(
    stream: IO[bytes] | gzip.GzipFile, path: Path, *, outermost: bool = False
) -> Iterator[Member]:
    watched = _Watched(stream)
    with ExitStack() as stack:
        with damage_reported(path):
            tar = stack.enter_context(
                tarfile.open(  # type: ignore[call-overload]
                    fileobj=watched, mode="r|", bufsize=BLOCK, tarinfo=_Entry
                )
            )
        n_entries = 0
        while (entry := _next(tar, path)) is not None:
            n_entries += 1
            if tar.offset > MOST_IN_ARCHIVE or n_entries > MOST_ENTRIES:
                raise too_large(path)
            watched.limit = tar.offset + HEADER_ROOM
            name = _bare_name(entry.name, path)
            if not belongs(name) or entry.isdir():
                continue
            if not entry.isreg():
                raise _no_plain_file(path, name)
            content = tar.extractfile(entry)
            member = Member(name, content, path, entry.size)
            if name != TAR:
                yield member
            elif outermost:
                yield from _in_tar(content, path)
            else:
                raise damaged(path, name, f"it holds a {TAR} itself")
        with damage_reported(path):
            _expect_zeros(tar)


def _next(tar: tarfile.TarFile, path: Path) -> tarfile.TarInfo | None:
    with damage_reported(path):
        return tar.next()


def _expect_zeros(tar: tarfile.TarFile) -> None:
    """Read to the stream's end, where gzip compares its checksum."""
    assert tar.fileobj is not None
    while block := tar.fileobj.read(BLOCK):
        if block.strip(b"\0"):
            raise tarfile.ReadError("something stands behind its end")


class _Entry(tarfile.TarInfo):
    """An entry of a tar. Only zeros end it: `tarfile` takes a damaged header, or an archive cut
    before one, for its end too, and would keep silent about all files behind it.
    """

    @classmethod
    def fromtarfile(cls, tar: tarfile.TarFile):
        try:
            return super().fromtarfile(tar)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
            raise
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(f"{error} at byte {tar.offset}") from None


class _Watched:
    """A stream that is not read beyond `limit`: headers declare how long they are, and `tarfile`
    would read gigabytes of one into memory."""

    def __init__(self, stream: IO[bytes] | gzip.GzipFile) -> None:
        self._stream = stream
        self._position = 0
        self.limit = HEADER_ROOM

    def read(self, size: int) -> bytes:
        if self._position > self.limit:
            raise tarfile.ReadError(f"over {HEADER_ROOM:,} bytes between two files")
        got = self._stream.read(size)
        self._position += len(got)
        return got


def _bare_name(name: str, path: Path) -> str:
    """The last part of an entry's name, which some programs part by backslashes.

    Raises ValueError for a name that leads outside: nothing is unpacked here, but an archive
    that would write elsewhere is not the one that was given out, and not to be trusted.
    """
    inside = PureWindowsPath(name)
    if inside.anchor or ".." in inside.parts:
        raise ValueError(
            f"{path.name} holds {name[:80]!r}, a name that leads outside of the archive; do not "
            f"unpack it, get the archive from another place, or {HOW}"
        )
    return inside.name


@contextmanager
def damage_reported(path: Path, name: str = "") -> Iterator[None]:
    """Turn what the readers of archives raise for a damaged one into one ValueError."""
    try:
        yield
    except Exception as error:  # a flipped byte makes them raise nearly anything
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise  # the fault of a disk, or of rights
        raise damaged(path, name, str(error) or type(error).__name__) from None


def damaged(path: Path, name: str, why: str) -> ValueError:
    """The error for an archive, or for a file in one, that cannot be read."""
    return ValueError(
        f"{_where(path, name)} is damaged, cut short or no archive ({why}); get a whole copy, "
        f"or {HOW}"
    )


def too_large(path: Path, name: str = "", most: int = MOST_IN_ARCHIVE) -> ValueError:
    """The error for what has more bytes, or more files, than the data set can."""
    files = f" in {MOST_ENTRIES:,} files" if not name else ""
    return ValueError(
        f"{_where(path, name)} unfolds to more than the {most:,} bytes{files} that the Netflix "
        f"Prize's can have; it is damaged or made to do harm: get another copy, or {HOW}"
    )


def _no_plain_file(path: Path, name: str) -> ValueError:
    return ValueError(
        f"{_where(path, name)} is a link or device instead of a file with its content; unpack "
        "the archive and pass the folder, or pack it without links (tar's options "
        "--dereference and --hard-dereference)"
    )


def _where(path: Path, name: str) -> str:
    return f"{name} in {path.name}" if name and name != path.name else path.name
