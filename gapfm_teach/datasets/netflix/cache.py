"""Keep the parsed Netflix data as plain arrays on disk, to be mapped into memory."""

import hashlib
import json
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from ..._support.files import new_folder
from ...ratings import Ratings
from ..download import data_folder

VERSION = 4
PARTS = ("train", "probe")
ROWS = ("indptr", "indices", "grades")
SHARED = ("users", "items")


def key_of(inputs: dict[str, Path]) -> str:
    """What the cache of these files is called: a hash of their names, sizes and times of change."""
    digest = hashlib.sha256(f"{VERSION}".encode())
    for name, path in inputs.items():
        status = os.stat(path)
        digest.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\0".encode())
    return digest.hexdigest()[:32]


def read(key: str) -> tuple[Ratings, Ratings, list[str]] | None:
    """Return (training, probe, notes) kept under `key`, or None when there are none."""
    folder = _folder(key)
    if not folder.is_dir():
        return None
    header = json.loads((folder / "header.json").read_text(encoding="utf-8"))
    shared: dict[str, Any] = {name: _map(folder, name) for name in SHARED}
    shared |= {"titles": np.array(header["titles"]), "max_grade": header["max_grade"]}
    shared |= {"source": header["source"]}
    shared |= {"origin": f"data folder (first from: {header['origin']})"}
    train, probe = (
        Ratings.unchecked(*(_map(folder, f"{part}_{name}") for name in ROWS), **shared)
        for part in PARTS
    )
    return train, probe, header["notes"]


def write(key: str, train: Ratings, probe: Ratings, notes: list[str]) -> None:
    """Keep the ratings under `key`: whole or not at all. What stands there already stays, and a
    folder that cannot be written to is reported by a warning only."""
    folder = _folder(key)
    arrays = {name: getattr(train, name) for name in SHARED}
    for part, ratings in zip(PARTS, (train, probe), strict=True):
        arrays |= {f"{part}_{name}": getattr(ratings, name) for name in ROWS}
    header = {name: getattr(train, name) for name in ("max_grade", "source", "origin")}
    header |= {"titles": train.titles.tolist(), "notes": notes}
    try:
        with new_folder(folder) as place:
            for name, array in arrays.items():
                np.save(place / f"{name}.npy", array, allow_pickle=False)
            (place / "header.json").write_text(json.dumps(header), encoding="utf-8")
    except FileExistsError:
        pass  # another process was faster
    except OSError as error:
        why = f"{folder.parent}: {error.strerror or error}"
        warnings.warn(f"Netflix could not be kept for next time in {why}", stacklevel=3)


def _folder(key: str) -> Path:
    return data_folder() / f"netflix-{key}"


def _map(folder: Path, name: str) -> np.ndarray:
    return np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False))
