"""Keep data sets that were read once, as one compact checked file each."""

import hashlib
import json
import os
import warnings
from pathlib import Path

import numpy as np
import platformdirs

from .._support.npz import read_npz, write_npz
from ..ratings import Ratings

VERSION = 2  # version 1 had no times: what it holds is read again from its source
ARRAYS = ("indptr", "indices", "grades", "users", "items")


def data_folder() -> Path:
    """Return the folder for data: GAPFM_TEACH_DATA if set, else the platform's user cache.

    Raises RuntimeError where that stands in the user's home folder and the user has none, as
    in a container that runs under a bare number.
    """
    chosen = os.environ.get("GAPFM_TEACH_DATA")
    try:
        folder = Path(chosen) if chosen else platformdirs.user_cache_path("gapfm_teach")
        return (
            folder.expanduser()
        )  # some versions of platformdirs leave an unknown ~ as it is
    except RuntimeError:
        where = f"of GAPFM_TEACH_DATA = {chosen!r}" if chosen else "for the data"
        raise RuntimeError(
            f"the home folder {where} cannot be found; set GAPFM_TEACH_DATA to the full path "
            "of a folder that you may write to"
        ) from None


def read_cache(name: str) -> Ratings | None:
    """Return the ratings kept under `name`, or None when there are none that can be trusted.

    A damaged file is reported by a warning and left for `write_cache` to replace; one of
    another version is passed over in silence.
    """
    file = _file(name)
    if not os.path.isfile(file):  # unlike Path's, it is False in a folder closed to us
        return None
    try:
        parts = read_npz(file)
        header = json.loads(parts.pop("header").tobytes())
        if header["version"] != VERSION:
            return None
        if header["digest"] != _digest(parts):
            raise ValueError("its content does not fit its checksum")
        titles = parts.pop("titles").tobytes().decode().split("\n")
        return Ratings(
            **parts,
            titles=titles,
            n_items=header["n_items"],
            max_grade=header["max_grade"],
            source=header["source"],
            origin=f"data folder (first from: {header['origin']})",
        )
    except Exception as error:  # a damaged zip raises nearly anything
        warnings.warn(
            f"{file.name} in the data folder is damaged and is not used ({error}); the data "
            "are read again",
            stacklevel=3,
        )
        return None


def write_cache(name: str, ratings: Ratings) -> None:
    """Keep `ratings` under `name`: whole or not at all. A folder that cannot be written to is
    reported by a warning only, since the ratings themselves are at hand."""
    parts = {key: getattr(ratings, key) for key in ARRAYS}
    if ratings.times is not None:
        parts["times"] = ratings.times
    # Joined text is far smaller than NumPy's fixed-width strings.
    parts["titles"] = np.frombuffer("\n".join(ratings.titles).encode(), np.uint8)
    header = {
        key: getattr(ratings, key) for key in ("n_items", "max_grade", "source", "origin")
    }
    header |= {"version": VERSION, "digest": _digest(parts)}
    parts["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    try:
        write_npz(_file(name), parts)
    except (OSError, ValueError) as error:  # ValueError: a folder stands in its place
        warnings.warn(f"{name} could not be kept for next time: {error}", stacklevel=3)


def _file(name: str) -> Path:
    return data_folder() / f"{name}.npz"


def _digest(parts: dict[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for key in sorted(parts):
        digest.update(f"{key} {parts[key].dtype.str} {parts[key].shape}".encode())
        digest.update(parts[key].tobytes())
    return digest.hexdigest()
