"""Keep the parsed Netflix data as plain arrays on disk, to be mapped into memory."""

import contextlib
import hashlib
import json
import os
import re
import secrets
import time
import warnings
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from ..._support.files import regular, remove_files
from ...ratings import Ratings
from ..cache import data_folder

VERSION = 2  # 1 kept titles in the wrong letters, and what damaged archives were read as
PARTS = ("train", "probe")
ROWS = ("indptr", "indices", "grades")
SHARED = ("users", "items")
HEADER = "header.json"
# What is ours to remove: a folder of such a name that holds nothing but such files.
FOLDER = re.compile(r"netflix-[0-9a-f]{32}(\.[0-9a-f]{8}\.part)?")
FILES = re.compile(
    rf"({'|'.join(SHARED)}|({'|'.join(PARTS)})_({'|'.join(ROWS)}))\.npy|{re.escape(HEADER)}"
)
BLOCK = 1 << 25  # bytes under one checksum
ABANDONED = 24 * 3600  # seconds after which nobody is still writing
SAMPLE, N_SAMPLES = 1 << 16, 16  # bytes of the input in one sample, and how many of them


def key_of(inputs: dict[str, Path]) -> str:
    """Return what the cache of these files is known by.

    A hash of all names, sizes and times of change, and of 16 samples of 64 KiB spread evenly
    over the files' joint length (all of it when that is 1 MiB or less). Hashing 2 GB would take
    longer than a second load may. What is trusted: a file with the same size, the same time of
    change and the same samples has the same content. To deceive it, an edit must leave the size
    alone, miss the samples, and have the time set back.
    """
    digest = hashlib.sha256(f"{VERSION}".encode())
    sizes = []
    for name, path in inputs.items():
        status = os.stat(path)
        sizes.append(status.st_size)
        digest.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\0".encode())
    paths, ends = list(inputs.values()), np.cumsum(sizes)
    if ends[-1] <= SAMPLE * N_SAMPLES:
        chosen = [(path, 0) for path in paths]
    else:
        places = np.linspace(0, ends[-1] - SAMPLE, N_SAMPLES).astype(np.int64)
        files = np.searchsorted(ends, places, side="right")
        offsets = places - ends[files] + np.array(sizes)[files]
        chosen = [(paths[k], at) for k, at in zip(files, offsets.tolist(), strict=True)]
    for path, at in chosen:
        with open(path, "rb") as file:
            file.seek(at)
            digest.update(file.read(SAMPLE if at else SAMPLE * N_SAMPLES))
    return digest.hexdigest()[:32]


def read(key: str) -> tuple[Ratings, Ratings, list[str]] | None:
    """Return (training, probe, notes) kept under `key`, or None when there are none to trust.

    Every byte is compared with its checksum; a damaged copy is reported by a warning and removed,
    unless there is something in its folder that is not ours.
    """
    folder = _folder(key)
    if not os.path.isdir(folder):  # unlike Path's, it is False in a folder closed to us
        return None
    try:
        checksum, _, text = regular(folder / HEADER).read_text("utf-8").partition("\n")
        if int(checksum, 16) != zlib.crc32(text.encode()):
            raise ValueError(f"{HEADER} does not fit its checksum")
        header = json.loads(text)
        for name, expected in header["checksums"].items():
            if _checksums(folder / name) != expected:
                raise ValueError(f"{name} does not fit its checksum")
        train, probe = (
            Ratings.unchecked(
                *(_map(folder, f"{part}_{name}") for name in ROWS),
                **{name: _map(folder, name) for name in SHARED},
                titles=np.array(header["titles"]),
                max_grade=header["max_grade"],
                source=header["source"],
                origin=f"data folder (first from: {header['origin']})",
            )
            for part in PARTS
        )
    except (OSError, ValueError, KeyError) as error:
        remedy = "" if _remove(folder) else f", each time until you move {folder} away"
        warnings.warn(
            f"{folder.name} in the data folder is damaged and is not used ({error}); the data "
            f"are read again{remedy}",
            stacklevel=3,
        )
        return None
    return train, probe, header["notes"]


def write(key: str, train: Ratings, probe: Ratings, notes: list[str]) -> None:
    """Keep the ratings under `key`: whole or not at all. A folder that cannot be written to is
    reported by a warning only, since the ratings themselves are at hand. When another process
    was faster its copy stays: it may be mapped already."""
    folder = _folder(key)
    temporary = _beside(folder)
    try:
        _sweep(folder.parent)
        temporary.mkdir(parents=True)
        try:
            _fill(temporary, train, probe, notes)
            os.rename(temporary, folder)
        finally:
            _discard(temporary)
    except OSError as error:
        if not os.path.isdir(folder):
            why = f"{folder.parent}: {error.strerror or error}"
            warnings.warn(f"Netflix could not be kept for next time in {why}", stacklevel=3)


def _fill(folder: Path, train: Ratings, probe: Ratings, notes: list[str]) -> None:
    arrays = {name: getattr(train, name) for name in SHARED}
    for part, ratings in zip(PARTS, (train, probe), strict=True):
        arrays |= {f"{part}_{name}": getattr(ratings, name) for name in ROWS}
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    header = {
        "checksums": {f"{name}.npy": _checksums(folder / f"{name}.npy") for name in arrays},
        "titles": train.titles.tolist(),
        "max_grade": train.max_grade,
        "source": train.source,
        "origin": train.origin,
        "notes": notes,
    }
    text = json.dumps(header)
    (folder / HEADER).write_text(
        f"{zlib.crc32(text.encode()):08x}\n{text}", encoding="utf-8", newline="\n"
    )


def _folder(key: str) -> Path:
    return data_folder() / f"netflix-{key}"


def _beside(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.{secrets.token_hex(4)}.part")


def _remove(folder: Path) -> bool:
    """Remove a folder of ours in one moment for all who look; returns whether it could be."""
    aside = _beside(folder)
    with contextlib.suppress(OSError):
        if _is_ours(folder):
            os.rename(folder, aside)
            _discard(aside)
            return True
    return False


def _is_ours(folder: Path) -> bool:
    """Whether `write` made all of a folder; a link, if only to such a folder, is not ours."""
    if not FOLDER.fullmatch(folder.name) or folder.is_symlink() or not folder.is_dir():
        return False
    with os.scandir(folder) as entries:
        return all(
            FILES.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)
            for entry in entries
        )


def _discard(folder: Path) -> None:
    """Remove a folder if it is still there and ours; else `_sweep` comes by again."""
    with contextlib.suppress(OSError):
        if _is_ours(folder):
            remove_files(folder, FILES)


def _sweep(place: Path) -> None:
    """Remove what processes that were killed while writing left behind long ago."""
    for left in place.glob("netflix-*.part"):
        # Another process may be faster, or it is not ours to remove.
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > ABANDONED:
                _discard(left)


def _map(folder: Path, name: str) -> np.ndarray:
    return np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False))


def _checksums(file: Path) -> list[int]:
    """Return the CRC-32 of each 32 MiB of a file; several cores take part."""
    content = np.memmap(regular(file), mode="r")
    blocks = [content[at : at + BLOCK] for at in range(0, content.size, BLOCK)]
    with ThreadPoolExecutor() as pool:
        return list(pool.map(zlib.crc32, blocks))
