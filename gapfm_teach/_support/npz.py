"""Named arrays in one .npz file: written whole or not at all, and read without pickle."""

import os
from typing import Any

import numpy as np

from .files import regular, replacing

# A few megabytes of a zip archive can unfold to gigabytes. Ratings and factors shrink to a half or a
# tenth, runs of one byte to a thousandth; so a file may unfold to this many times its size, and in
# any case to MOST_FOR_FREE bytes.
MOST_FOLDED, MOST_FOR_FREE = 64, 2**24


def write_npz(path, arrays: dict[str, np.ndarray], *, compressed: bool = True) -> None:
    """Write named arrays of numbers to an .npz file, whole or not at all.

    Not compressed where `read_npz` would refuse what is so small, such as gigabytes of zeros.
    """
    for name, array in arrays.items():
        if (
            array.dtype.hasobject
        ):  # NumPy would pickle it, and until 2.2 cannot be told not to
            raise ValueError(f"{name} holds Python objects; make it numbers or text")
    named: dict[str, Any] = arrays  # not to be taken for NumPy's own parameters
    with replacing(path) as file:
        if compressed:
            np.savez_compressed(file, **named)
            size = sum(array.nbytes for array in arrays.values())
            if size <= MOST_FOR_FREE + MOST_FOLDED * file.tell():
                return
            file.seek(0)
            file.truncate()
        np.savez(file, **named)


def read_npz(path) -> dict[str, np.ndarray]:
    """The arrays of an .npz file by name.

    Raises FileNotFoundError, or ValueError for what is no such file; a damaged one may raise nearly
    anything.
    """
    # Opened here: NumPy would leave a damaged file open, and Windows could not replace it then.
    with open(regular(path), "rb") as raw, np.load(raw, allow_pickle=False) as stored:
        unfolded = sum(info.file_size for info in stored.zip.infolist())
        size = os.fstat(raw.fileno()).st_size
        if unfolded > MOST_FOR_FREE + MOST_FOLDED * size:
            raise ValueError(
                f"its {size:,} bytes would unfold to {unfolded:,}, and no file of this kind does so"
            )
        return dict(stored)


def check_array(
    arrays: dict[str, np.ndarray], name: str, shape: tuple[int, ...], *, finite: bool = True
) -> np.ndarray:
    """Return an array of real numbers of this shape as float64; ValueError for any other."""
    array = arrays[name]
    if array.shape != shape or not np.can_cast(array.dtype, np.float64):
        raise ValueError(f"{name} has {array.dtype} of shape {array.shape}, not {shape}")
    if finite and not np.isfinite(array).all():
        raise ValueError(f"{name} has numbers that are not finite")
    return np.ascontiguousarray(array, dtype=np.float64)
