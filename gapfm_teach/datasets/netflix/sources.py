"""The Netflix Prize's files, from a folder or an archive, one after the other and never unpacked.

Layouts in circulation: the original archive `nf_prize_dataset.tar.gz`, which holds
`training_set.tar` (one `mv_0000001.txt` a movie), `probe.txt` and `movie_titles.txt`; the same
unpacked, wholly or in part; and Kaggle's, `combined_data_1.txt` to `combined_data_4.txt`,
`probe.txt` and `movie_titles.csv`, zipped or unpacked.
"""

import gzip
import os
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from ...checks import check_path

COMBINED = re.compile(r"combined_data_\d+\.txt")
ONE_MOVIE = re.compile(r"mv_\d+\.txt")
TAR = "training_set.tar"
PROBE = "probe.txt"
TITLES = ("movie_titles.txt", "movie_titles.csv")
LABEL = "SIMULATED.txt"  # beside the files of `simulate_netflix`
BLOCK = 1 << 20  # bytes the tar reader asks for at a time
HOW = (
    "pass Kaggle's archive.zip, the original nf_prize_dataset.tar.gz, or the folder that "
    "either was unpacked into"
)


class Member:
    """One of the data set's files: its bare `name`, to be read once and in turn."""

    def __init__(self, name: str, stream: IO[bytes], path: Path) -> None:
        self.name = name
        self._stream = stream
        self._path = path

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes; ValueError when the archive is damaged there."""
        with _damage_reported(self._path, self.name):
            return self._stream.read(size)


def find_inputs(path) -> dict[str, Path]:
    """Return the files on disk that hold the data: bare name -> path, sorted by name.

    For an archive this is the archive alone; for a file of ratings, beside it the label that
    calls it simulated. Raises FileNotFoundError when `path` does not exist, TypeError when it is
    no path, ValueError when a folder holds no ratings, a file twice, or both layouts.
    """
    path = check_path(path, "path", HOW)
    if not path.exists():
        raise FileNotFoundError(f"path {str(path)!r} does not exist; {HOW}")
    if not path.is_dir():
        label = path.with_name(LABEL)
        labelled = is_ratings(path.name) and label.is_file()
        return {path.name: path} | ({LABEL: label} if labelled else {})
    found = _files_below(path)
    combined, one_movie = (any(map(p.fullmatch, found)) for p in (COMBINED, ONE_MOVIE))
    if one_movie:
        found.pop(TAR, None)  # unpacked, and the archive kept
    if combined and (one_movie or TAR in found):
        raise ValueError(
            f"folder {str(path)!r} holds the data set twice, as combined_data_1.txt and as "
            "mv_0000001.txt; pass a folder with one of them"
        )
    if not (combined or one_movie or TAR in found):
        raise ValueError(
            f"folder {str(path)!r} holds no combined_data_1.txt, mv_0000001.txt or {TAR}; {HOW}"
        )
    return dict(sorted(found.items()))


def _files_below(path: Path) -> dict[str, Path]:
    """The data set's files in a folder, and in those one and two levels below it."""
    found: dict[str, Path] = {}
    for folder in (path, *sorted(path.glob("*/")), *sorted(path.glob("*/*/"))):
        try:
            entries = list(os.scandir(folder))
        except PermissionError:
            if folder == path:
                raise
            continue  # the system's own, such as lost+found at the top of a disk
        for entry in entries:
            if not (_belongs(entry.name) and entry.is_file()):
                continue
            first = found.setdefault(entry.name, Path(entry.path))
            if first.parent != folder and not first.samefile(entry.path):
                one, other = (
                    str(place.relative_to(path)) for place in (first.parent, folder)
                )
                raise ValueError(
                    f"folder {str(path)!r} holds {entry.name} twice, in {one!r} and {other!r}; "
                    "pass the one you mean"
                )
    return found


def members(inputs: dict[str, Path]) -> Iterator[Member]:
    """Yield the files of `find_inputs`, those inside archives included, each to be read in turn.

    Raises ValueError for an archive that is damaged, cut short, of another kind, or that holds
    two files of one name, as with two copies of the data set.
    """
    for name, path in inputs.items():
        if _belongs(name) and name != TAR:
            with open(path, "rb") as file:
                yield Member(name, file, path)
            continue
        seen = set()
        for member in _in_zip(path) if zipfile.is_zipfile(path) else _in_tar_file(path):
            if member.name in seen:
                raise ValueError(
                    f"{path.name} holds {member.name} twice; pass an archive with one data set"
                )
            seen.add(member.name)
            yield member


def is_ratings(name: str) -> bool:
    """Whether a file of this bare name holds ratings."""
    return bool(COMBINED.fullmatch(name) or ONE_MOVIE.fullmatch(name))


def _belongs(name: str) -> bool:
    return is_ratings(name) or name in (PROBE, LABEL, TAR, *TITLES)


def _in_zip(path: Path) -> Iterator[Member]:
    with ExitStack() as stack:
        with _damage_reported(path, "archive"):
            archive = stack.enter_context(zipfile.ZipFile(path))
        entries = [  # some programs for Windows part folders by a backslash
            (PurePosixPath(entry.filename.replace("\\", "/")).name, entry)
            for entry in archive.infolist()
            if not entry.is_dir()
        ]
        for name, entry in sorted(entries, key=lambda pair: pair[0]):
            if not _belongs(name):
                continue
            with _damage_reported(path, name):
                stream = archive.open(entry)
            with stream:
                if name == TAR:
                    yield from _in_tar(stream, path)
                else:
                    yield Member(name, stream, path)


def _in_tar_file(path: Path) -> Iterator[Member]:
    with open(path, "rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        if zipped:
            # Not tarfile's own gzip reader, which checks neither the end nor the checksum.
            with gzip.open(file) as stream:
                yield from _in_tar(stream, path)
        else:
            yield from _in_tar(file, path)


def _in_tar(stream: IO[bytes] | gzip.GzipFile, path: Path) -> Iterator[Member]:
    watched = _Watched(stream)
    with ExitStack() as stack:
        with _damage_reported(path, "archive"):
            tar = stack.enter_context(
                tarfile.open(fileobj=watched, mode="r|", bufsize=BLOCK)  # type: ignore[call-overload]
            )
        while (entry := _next(tar, path)) is not None:
            name = PurePosixPath(entry.name).name
            content = tar.extractfile(entry) if entry.isfile() and _belongs(name) else None
            if content is not None and name == TAR:
                yield from _in_tar(content, path)
            elif content is not None:
                yield Member(name, content, path)
    with _damage_reported(path, "archive"):
        while watched.read(BLOCK):
            pass
    # tarfile takes an archive cut between two files, or in a file's header, for a whole one.
    if watched.tail.strip(b"\0") or len(watched.tail) < tarfile.BLOCKSIZE:
        raise _damaged(path, "archive", "its end is missing")


def _next(tar: tarfile.TarFile, path: Path) -> tarfile.TarInfo | None:
    with _damage_reported(path, "archive"):
        return tar.next()


class _Watched:
    """A stream that remembers the last block read from it; a whole tar ends with zeros."""

    def __init__(self, stream: IO[bytes] | gzip.GzipFile) -> None:
        self._stream = stream
        self.tail = b""

    def read(self, size: int) -> bytes:
        got = self._stream.read(size)
        self.tail = (self.tail + got[-tarfile.BLOCKSIZE :])[-tarfile.BLOCKSIZE :]
        return got


@contextmanager
def _damage_reported(path: Path, name: str) -> Iterator[None]:
    try:
        yield
    except (
        zipfile.BadZipFile,
        tarfile.TarError,
        gzip.BadGzipFile,
        zlib.error,
        EOFError,
        NotImplementedError,  # a zip packed in a way that Python cannot undo
        RuntimeError,  # a zip with a password
    ) as error:
        raise _damaged(path, name, error) from error


def _damaged(path: Path, name: str, why) -> ValueError:
    inside = "" if name == "archive" else f"{name} in "
    return ValueError(
        f"{inside}{path.name} is damaged, cut short or no archive ({why}); get a whole copy, or "
        f"{HOW}"
    )
