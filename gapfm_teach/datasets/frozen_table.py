"""Read the arrays of a pickled pandas table without running anything the file asks for."""

import lzma
import pickle
from typing import IO, Any

import numpy as np
import pandas as pd


class _Inert:
    """Stands for any pandas class or function of the file: keeps what it is given, does nothing."""

    def __init__(self, *args) -> None:
        self.args = args

    def __setstate__(self, state) -> None:
        self.state = state


def _empty(_kind, shape, code) -> np.ndarray:
    return np.empty(shape, code)


def _from_buffer(data, code, shape, order) -> np.ndarray:
    return np.frombuffer(data, code).reshape(shape, order=order)


# All that a table of numbers and text needs. Everything else is refused.
_ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy", "dtype"): np.dtype,
    ("numpy", "ndarray"): np.ndarray,
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


def read_frozen_table(stream: IO[bytes]) -> pd.DataFrame:
    """Return the table that an xz-compressed pandas pickle describes.

    Pickles can run code when loaded. Here pandas' own classes are replaced by inert
    stand-ins and only plain arrays are built, so the file cannot do anything.

    Raises ValueError when the file is damaged or asks for anything else.
    """
    try:
        with lzma.open(stream) as plain:
            table = _Reader(plain).load()
        blocks, (names, _rows) = table.state["_mgr"].args
        columns = names.args[1]["data"]
        data: dict[str, np.ndarray] = {}
        for block in blocks:
            values, place, _ndim = block.args
            data.update(zip(columns[place], values, strict=True))
    except (
        lzma.LZMAError,
        pickle.UnpicklingError,
        EOFError,
        AttributeError,
        LookupError,
        TypeError,
    ) as error:
        raise ValueError(f"not a table that can be read ({error})") from error
    return pd.DataFrame({name: data[name] for name in columns})
