"""The search that `declared` describes: one parameter at a time."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from .declared import FACTOR, MOST_ROUNDS, MOST_STEPS, STEPS, Space


class Found(NamedTuple):
    """The best settings, their value, how many were tried, and which numbers ended at an edge."""

    settings: dict[str, Any]
    value: float
    n_fits: int
    at_edge: list[str]


@dataclass(frozen=True)
class Extent:
    """How far a search goes.

    factor, steps, most_steps : of a number, as `declared` has them; rounds : at most so many;
    skipped : choices that stay at the first.
    """

    factor: float = FACTOR
    steps: int = STEPS
    most_steps: int = MOST_STEPS
    rounds: int = MOST_ROUNDS
    skipped: tuple[str, ...] = ()


FULL = Extent()
# For a first look at other data.
REDUCED = Extent(
    factor=4.0, steps=1, most_steps=2, rounds=1, skipped=("n_factors", "exponent")
)


def search(
    space: Space, value_of: Callable[[Mapping[str, Any]], float], extent: Extent = FULL
) -> Found:
    """Find settings of `space`; `value_of` fits and measures settings, higher is better."""
    tried = _Tried(value_of)
    best = dict(space.numbers) | {name: few[0] for name, few in space.choices.items()}
    for number in range(extent.rounds):
        before, edges = dict(best), []
        for name in space.numbers:
            steps = extent.steps if number == 0 else 1
            best, at_edge = _along(tried, best, name, steps, extent)
            edges += [name] if at_edge else []
        for name, candidates in space.choices.items():
            if name not in extent.skipped:
                best = tried.best_of(best, name, candidates)
        if best == before:
            break
    return Found(best, tried(best), len(tried.values), edges)


class _Tried:
    """The values of all settings that were tried; none is tried twice."""

    def __init__(self, value_of: Callable[[Mapping[str, Any]], float]):
        self._value_of = value_of
        self.values: dict[str, float] = {}

    def __call__(self, settings: Mapping[str, Any]) -> float:
        key = json.dumps(settings, sort_keys=True)
        if key not in self.values:
            self.values[key] = self._value_of(settings)
        return self.values[key]

    def best_of(self, settings: dict[str, Any], name: str, candidates: Iterable) -> dict:
        """With `name` at the best of what it is and `candidates`; of equals, the first of these."""
        return max(
            [settings, *(settings | {name: candidate} for candidate in candidates)],
            key=self,
        )


def _along(
    tried: _Tried, settings: dict[str, Any], name: str, steps: int, extent: Extent
) -> tuple[dict[str, Any], bool]:
    """With the number `name` at the best of its row; and whether that is the end of the row."""
    start = settings[name]
    row = [_scaled(start, extent.factor, k) for k in range(-steps, steps + 1)]
    best = tried.best_of(settings, name, row)
    low = high = steps
    while best[name] in (row[0], row[-1]) and row[0] < row[-1]:
        down = best[name] == row[0]
        if (low if down else high) == extent.most_steps:
            break
        low, high = low + down, high + (not down)
        beyond = _scaled(start, extent.factor, -low if down else high)
        row = [beyond, *row] if down else [*row, beyond]
        best = tried.best_of(best, name, [beyond])
        if best[name] != beyond:
            break
    return best, best[name] in (row[0], row[-1])


def _scaled(start: float, factor: float, k: int) -> float:
    """`start` times `factor` to the power k; an integer stays one, of at least 1."""
    scaled = start * factor**k
    return max(1, round(scaled)) if isinstance(start, int) else float(f"{scaled:.4g}")
