"""Read the arrays of a pickled pandas table without running anything the file asks for."""

import io
import lzma
import pickle
import pickletools
from typing import IO, Any

import numpy as np
import pandas as pd

MEMORY = 1 << 27  # bytes that unpacking may take besides its result; xz -9 takes half


class _Inert:
    """Stands for any pandas class or function of the file: keeps what it is given, does nothing."""

    def __init__(self, *args) -> None:
        self.args = args

    def __setstate__(self, state) -> None:
        self.state = state


def _empty(_kind, _shape, code) -> np.ndarray:
    """An array to be filled by its `__setstate__`, which compares shape and bytes."""
    return np.empty(0, code)


def _from_buffer(data, code, shape, order) -> np.ndarray:
    return np.frombuffer(data, code).reshape(shape, order=order)


# All that a table of numbers and text needs. Everything else is refused.
_ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy", "dtype"): np.dtype,
    ("numpy", "ndarray"): None,  # only named, as the kind that `_empty` is to make
    ("builtins", "slice"): slice,
}
for _home in ("numpy.core", "numpy._core"):  # before and since NumPy 2
    _ALLOWED[f"{_home}.multiarray", "_reconstruct"] = _empty
    _ALLOWED[f"{_home}.numeric", "_frombuffer"] = _from_buffer


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module.split(".")[0] == "pandas":
            return _Inert
        if (module, name) not in _ALLOWED:
            raise ValueError(f"the table asks for {module}.{name}, which is refused")
        return _ALLOWED[module, name]


def read_frozen_table(stream: IO[bytes], most: int) -> pd.DataFrame:
    """Return the table that an xz-compressed pandas pickle of at most `most` bytes describes.

    Pickles can run code when loaded. Here pandas' own classes are replaced by inert
    stand-ins and only plain arrays are built, so the file cannot do anything.

    Raises ValueError when the file is damaged, asks for anything else, or unpacks to more.
    """
    try:
        plain = _unpack(stream.read(), most)
        _check_memo(plain)
        table = _Reader(io.BytesIO(plain)).load()
        blocks, (names, _rows) = table.state["_mgr"].args
        columns = names.args[1]["data"]
        data: dict[str, np.ndarray] = {}
        for block in blocks:
            values, place, _ndim = block.args
            data.update(zip(columns[place], values, strict=True))
        return pd.DataFrame({name: data[name] for name in columns})
    except Exception as error:  # a strange pickle raises nearly anything
        raise ValueError(f"not a table that can be read ({error})") from error


def _unpack(packed: bytes, most: int) -> bytes:
    unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MEMORY)
    plain = unpacker.decompress(packed, most + 1)
    if len(plain) > most:
        raise ValueError(f"it unpacks to more than {most:,} bytes")
    if not unpacker.eof:
        raise ValueError("it is cut short")
    return plain


def _check_memo(plain: bytes) -> None:
    """Refuse an object number that no file of this length needs: the reader keeps a list as
    long as the highest, so that a file of ten bytes could fill the memory."""
    for code, number, _ in pickletools.genops(plain):
        if code.name.endswith("PUT") and int(number or 0) > len(plain):
            raise ValueError(f"it counts to {number:,} in {len(plain):,} bytes")
