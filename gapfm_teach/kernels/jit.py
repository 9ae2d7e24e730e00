"""The decorator of all compiled functions."""

import warnings

import numba

CACHE_ENABLED = True


def jit(**options):
    """numba.njit with its cache on, or without it where no folder can hold the cache.

    error_model="numpy": the test for division by zero would keep the pair loop scalar.
    """

    def decorate(function):
        try:
            return numba.njit(cache=True, error_model="numpy", **options)(function)
        except RuntimeError:  # "no locator available": neither this folder nor the user's
            global CACHE_ENABLED
            if CACHE_ENABLED:
                warnings.warn(
                    "compiled code cannot be kept: no writable folder for it, so every session "
                    "compiles anew; set NUMBA_CACHE_DIR to a folder you can write to",
                    stacklevel=2,
                )
            CACHE_ENABLED = False
            return numba.njit(error_model="numpy", **options)(function)

    return decorate
