"""The Netflix Prize's files, from a folder or an archive, one after the other and never unpacked.

Layouts in circulation: the original archive `nf_prize_dataset.tar.gz`, which holds
`training_set.tar` (one `mv_0000001.txt` a movie), `probe.txt` and `movie_titles.txt`; the same
unpacked, wholly or in part; and Kaggle's, `combined_data_1.txt` to `combined_data_4.txt`,
`probe.txt` and `movie_titles.csv`, zipped or unpacked.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from ..._support.checks import check_path
from .archives import Member, in_archive
from .names import COMBINED, HOW, LABEL, ONE_MOVIE, TAR, belongs, is_ratings


def find_inputs(path) -> dict[str, Path]:
    """Return the files on disk that hold the data: bare name -> path, sorted by name.

    For an archive this is the archive alone; for a file of ratings, beside it the label that
    calls it simulated. Raises FileNotFoundError when `path` does not exist, TypeError when it is
    no path, ValueError when it is a device, and when a folder holds no ratings, a file twice,
    a link that leads nowhere, or both layouts.
    """
    path = check_path(path, "path", HOW)
    if not path.exists():
        raise FileNotFoundError(f"path {str(path)!r} does not exist; {HOW}")
    if not path.is_dir():
        if not path.is_file():
            raise ValueError(f"path {str(path)!r} is neither a file nor a folder; {HOW}")
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
            if not belongs(entry.name) or entry.is_dir():
                continue
            if not entry.is_file():
                raise ValueError(
                    f"{entry.path!r} is a link that leads nowhere, or a device, instead of a "
                    "file; put the file there, or remove it to load the rest"
                )
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

    Raises ValueError for an archive that is damaged, cut short, of another kind, or larger than
    it can be, and for two files of one name, as with two copies of the data set.
    """
    seen = set()
    for name, path in inputs.items():
        for member in _members_of(name, path):
            if member.name in seen:
                raise ValueError(
                    f"{path.name} holds {member.name} a second time; pass one data set"
                )
            seen.add(member.name)
            yield member


def _members_of(name: str, path: Path) -> Iterator[Member]:
    if belongs(name) and name != TAR:
        with open(path, "rb") as file:
            yield Member(name, file, path, os.fstat(file.fileno()).st_size)
    else:
        yield from in_archive(path)
