"""The random numbers of a page, made again: those of engine.js by their definitions."""

import math
from collections.abc import Iterator

import numpy as np


def mulberry32(seed: int) -> Iterator[float]:
    """The generator of that name, in numbers without an end."""
    low = 2**32 - 1
    while True:
        seed = (seed + 0x6D2B79F5) & low
        mixed = (seed ^ seed >> 15) * (seed | 1) & low
        mixed ^= mixed + ((mixed ^ mixed >> 7) * (mixed | 61) & low) & low
        yield (mixed ^ mixed >> 14) / 2**32


def normals(draws: Iterator[float], n: int, sd: float) -> np.ndarray:
    """n normal numbers of standard deviation sd, by Box and Muller."""

    def normal() -> float:
        radius = sd * math.sqrt(-2 * math.log(1 - next(draws)))
        return radius * math.cos(2 * math.pi * next(draws))

    return np.array([normal() for _ in range(n)])
