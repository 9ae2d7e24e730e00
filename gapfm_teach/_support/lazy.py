"""Public names that load on first use, so that what is missing stops only those who need it."""

from __future__ import annotations  # an older Python must get as far as being named

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(
    package: str, home: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package whose names live in its modules.

    `home` : name -> module inside `package`. Source: PEP 562.
    """

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f".{home[name]}", package), name)

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home})

    return get, names
