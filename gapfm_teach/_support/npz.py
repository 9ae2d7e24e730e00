"""Named arrays in one .npz file: written whole or not at all, read no further than they can be.

Without pickle. Each file has a member `header`: the UTF-8 bytes of one JSON object. A .npz file
is a zip archive, and a few megabytes of a zip can unfold to gigabytes. So sizes are compared
before anything is unpacked: of all members together with the file, of a member with the shape it
states, and by the caller, who knows from the header what is due, with that. What is not asked for
is never read.
"""

import contextlib
import json
import math
import os
import re
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from .files import regular, replacing

# Ratings and factors shrink to a half or a tenth; runs of one byte, to a thousandth. What a file
# may unfold to is its size times MOST_FOLDED, however large, and in any case MOST_FOR_FREE bytes.
MOST_FOLDED, MOST_FOR_FREE = 64, 2**24
_A_FEW = 1000  # values of a header beside its long lists; a generator's state has 624
_TEXTS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)


def write_npz(path, arrays: dict[str, np.ndarray], *, compressed: bool = True) -> None:
    """Write named arrays, of numbers or text, to an .npz file, whole or not at all.

    Not compressed where `read_npz` would take them for a bomb, such as gigabytes of zeros.
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
            if size <= _most_unfolded(file.tell()):
                return
            file.seek(0)
            file.truncate()
        np.savez(file, **named)


def _most_unfolded(size: int) -> int:
    return MOST_FOR_FREE + MOST_FOLDED * size


@contextlib.contextmanager
def read_npz(path) -> Iterator["Stored"]:
    """Yield the arrays of an .npz file that a writer of this package may have written.

    Raises FileNotFoundError, or ValueError for what is no such file; as content is read, it may
    raise nearly anything where that is damaged.
    """
    # Opened here: NumPy would leave a damaged file open, and Windows could not replace it then.
    with open(regular(path), "rb") as raw, zipfile.ZipFile(raw) as archive:
        unfolded = sum(info.file_size for info in archive.infolist())
        size = raw.seek(0, os.SEEK_END)
        if unfolded > _most_unfolded(size):
            raise ValueError(
                f"its {size:,} bytes would unfold to {unfolded:,}, and no file of this kind does so"
            )
        yield Stored(archive)


class Stored:
    """The arrays of an open file: shapes at once, content when asked for."""

    def __init__(self, archive: zipfile.ZipFile):
        self._archive = archive

    def __contains__(self, name: str) -> bool:
        return f"{name}.npy" in self._archive.namelist()

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of an array, of which nothing but that is read."""
        with self._open(name) as (_, shape, _dtype):
            return shape

    def numbers(self, name: str, dtype, shape: tuple[int, ...]) -> np.ndarray:
        """An array of this shape, as `dtype`, which must hold all that was stored in it.

        Raises ValueError for another shape, and for numbers that might change (from complex to
        real, say) or are none, before it is read.
        """
        with self._open(name) as (member, found, stored):
            if found != shape or not np.can_cast(stored, dtype):
                raise ValueError(
                    f"{name} has {stored} of shape {found}, not {np.dtype(dtype)} of {shape}"
                )
            return np.ascontiguousarray(_content(member), dtype=dtype)

    def labels(self, name: str, length: int) -> np.ndarray:
        """An array of numbers, text or dates, (length,); ValueError for another shape."""
        with self._open(name) as (member, found, _):
            if found != (length,):
                raise ValueError(f"{name} has shape {found}, not {(length,)}")
            return _content(member)

    def header(self, n_values: int = 0) -> dict[str, Any]:
        """The JSON object, whose long lists have `n_values` values together.

        Raises ValueError for one with many more: as Python objects they may take twenty times
        the memory that they take as text.
        """
        with self._open("header") as (member, _, stored):
            if stored != np.uint8 and stored.kind != "U":
                raise ValueError(f"header has {stored}, not text")
            content = _content(member)
        # Text without dimensions is how files of version 1 had it.
        text = str(content).encode() if stored.kind == "U" else content.tobytes()
        if _TEXTS.sub(b"", text).count(b",") > n_values + _A_FEW:
            raise ValueError(f"header has more than {n_values} values in its lists")
        header = json.loads(text)
        if not isinstance(header, dict):
            raise ValueError("header is no JSON object")
        return header

    @contextlib.contextmanager
    def _open(self, name: str):
        """A member, from its start, and the shape and type that it states."""
        file = f"{name}.npy"
        if name not in self:
            raise ValueError(f"it has no {name}")
        with self._archive.open(file) as member:
            shape, _, dtype = _stated(member)
            stated = member.tell() + math.prod(shape) * dtype.itemsize
            size = self._archive.getinfo(file).file_size
            if dtype.hasobject or size != stated:
                raise ValueError(
                    f"{name} takes {size:,} bytes, and {stated:,} by its header"
                )
            member.seek(0)
            yield member, shape, dtype


def _stated(member) -> tuple[tuple[int, ...], bool, np.dtype]:
    version = np.lib.format.read_magic(member)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(member)
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(member)
    raise ValueError(f"an array of NumPy's format {version} is not read here")


def _content(member) -> np.ndarray:
    return np.lib.format.read_array(member, allow_pickle=False)
