"""The Netflix Prize's files, from a folder or an archive, one after the other and never unpacked.

Layouts in circulation: the original archive `nf_prize_dataset.tar.gz`, which holds
`training_set.tar` (one `mv_0000001.txt` a movie), `probe.txt` and `movie_titles.txt`; the same
unpacked, wholly or in part; and Kaggle's, `combined_data_1.txt` to `combined_data_4.txt`,
`probe.txt` and `movie_titles.csv`, zipped or unpacked.
"""

import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath
from typing import IO

from ..._support.checks import check_path
from .names import COMBINED, HOW, LABEL, ONE_MOVIE, TAR, belongs, is_ratings

# What Python's readers of archives raise for a damaged one.
DAMAGE = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, NotImplementedError)


def find_inputs(path) -> dict[str, Path]:
    """Return the files on disk that hold the data: bare name -> path, sorted by name.

    For an archive this is the archive alone; for a file of ratings, beside it the label that
    calls it simulated. Raises FileNotFoundError when `path` does not exist, TypeError when it is
    not a path, ValueError when a folder holds no ratings, a file twice, or both layouts.
    """
    path = check_path(path, "path", HOW)
    if not path.exists():
        raise FileNotFoundError(f"path {str(path)!r} does not exist; {HOW}")
    if path.is_file():
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
        for file in sorted(folder.glob("*.t*")) + sorted(folder.glob("*.csv")):
            if belongs(file.name) and found.setdefault(file.name, file) != file:
                first = found[file.name].relative_to(path)
                raise ValueError(
                    f"folder {str(path)!r} holds {file.name} twice, as {str(first)!r} and as "
                    f"{str(file.relative_to(path))!r}; pass the one you mean"
                )
    return found


def members(inputs: dict[str, Path]) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield bare name and stream of the files of `find_inputs`, those inside archives included.

    Each stream is to be read before the next is asked for. Raises ValueError for two files of one
    name; one of `DAMAGE` here, or when a stream is read, for a damaged archive.
    """
    seen = set()
    for name, path in inputs.items():
        with open(path, "rb") as file:
            for member, stream in _inside(name, file):
                if member in seen:
                    raise ValueError(
                        f"{path.name} holds {member} a second time; pass one data set"
                    )
                seen.add(member)
                yield member, stream


def _inside(name: str, file: IO[bytes]) -> Iterator[tuple[str, IO[bytes]]]:
    """The data set's files in one file: itself, or what a zip or tar holds."""
    if belongs(name) and name != TAR:
        yield name, file
    elif zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            for entry in sorted(archive.namelist()):
                if belongs(_bare(entry)) and not entry.endswith("/"):
                    with archive.open(entry) as stream:
                        yield from _inside(_bare(entry), stream)
    else:
        file.seek(0)
        yield from _in_tar(file)


def _in_tar(file: IO[bytes]) -> Iterator[tuple[str, IO[bytes]]]:
    with tarfile.open(fileobj=file, mode="r|*") as archive:
        for entry in archive:
            stream = archive.extractfile(entry) if entry.isfile() else None
            if stream is None or not belongs(_bare(entry.name)):
                continue
            if _bare(entry.name) == TAR:
                yield from _in_tar(stream)
            else:
                yield _bare(entry.name), stream


def _bare(name: str) -> str:
    return PureWindowsPath(name).name  # some programs separate folders by backslashes
