"""The decorator of all compiled functions, and the cache that keeps what it compiled."""

import contextlib
import functools
import hashlib
import inspect
import warnings
from pathlib import Path

try:
    import numba
    from numba.core.caching import FunctionCache
except ModuleNotFoundError as missing:
    if missing.name != "numba":  # it is there, and broken
        raise
    from . import without_numba as numba  # type: ignore[no-redef]

    FunctionCache = object  # type: ignore[assignment,misc]

COMPILED = numba.__name__ == "numba"
njit = numba.njit
CACHE_ENABLED = True
_caches: list["_Cache"] = []


def jit(**options):
    """numba.njit with a cache, or without it where no folder can hold the cache. Where Numba is
    missing, what `without_numba` says.

    error_model="numpy": the test for division by zero would keep the pair loop scalar.
    """

    def decorate(function):
        compiled = njit(error_model="numpy", **options)(function)
        if not COMPILED:
            return compiled
        try:
            compiled._cache = _Cache(function)
        except RuntimeError:  # "no locator available": neither this folder nor the user's
            global CACHE_ENABLED
            if CACHE_ENABLED:
                warnings.warn(
                    "compiled code cannot be kept: no writable folder for it, so every session "
                    "compiles anew; set NUMBA_CACHE_DIR to a folder you can write to",
                    stacklevel=2,
                )
            CACHE_ENABLED = False
        else:
            _caches.append(compiled._cache)
        return compiled

    return decorate


def damaged_cache() -> list[str]:
    """For each compiled function whose kept files cannot be read back, their folder."""
    return [cache.cache_path for cache in _caches if cache.is_damaged()]


def n_kept(compiled) -> int:
    """How many variants of a compiled function are kept for this machine and this source."""
    cache = compiled._cache
    return cache.n_kept(compiled) if isinstance(cache, _Cache) else 0


@functools.cache  # once a folder: damage seldom comes alone
def _say_damaged(folder: str) -> None:
    warnings.warn(f"compiled code kept in {folder} is damaged and made anew", stacklevel=3)


@functools.cache
def _say_unkept(folder: str, why: str | None) -> None:
    warnings.warn(
        f"compiled code cannot be kept in {folder} ({why}) and is made anew in every session; "
        "remove that folder, or set NUMBA_CACHE_DIR to one that you can write to",
        stacklevel=3,
    )


@functools.cache
def _sources_hash(folder: Path) -> str:
    sources = sorted({*folder.glob("*.py"), *Path(__file__).parent.glob("*.py")})
    return hashlib.sha256(b"\0".join(source.read_bytes() for source in sources)).hexdigest()


class _Cache(FunctionCache):
    """Numba's cache of one function, except that its files end no computation: what a full disk
    or a crash left of them is a miss, and makes room for what is compiled then, if it can.

    Numba stamps a cache with the function's own file and would keep machine code whose callee has
    changed in another. Here the stamp covers all sources beside the function, and beside this file.
    """

    def __init__(self, function):
        super().__init__(function)
        self._cache_file._source_stamp = _sources_hash(
            Path(inspect.getfile(function)).parent
        )

    def load_overload(self, sig, target_context):
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # unpickling damaged bytes raises nearly anything
            _say_damaged(self.cache_path)
            with self._giving_up():
                self.flush()
            return None

    def save_overload(self, sig, data):
        with self._giving_up():
            super().save_overload(sig, data)

    @contextlib.contextmanager
    def _giving_up(self):
        """Write no more where nothing can be written, as to a full disk or in a folder's place."""
        try:
            yield
        except OSError as error:
            self.disable()
            _say_unkept(self.cache_path, error.strerror)

    def n_kept(self, compiled) -> int:
        """Variants that Numba would read now; another processor's do not count."""
        codegen = compiled.targetctx.codegen()
        try:
            return sum(
                key == self._index_key(key[0], codegen)
                for key in self._cache_file._load_index()
            )
        except Exception:  # as above
            return 0

    def is_damaged(self) -> bool:
        """Whether a file that Numba would read now is there and cannot be read."""
        try:
            for key in self._cache_file._load_index():
                if self._cache_file.load(key) is None:  # not there, or no file
                    return True
        except Exception:  # as above
            return True
        return False
