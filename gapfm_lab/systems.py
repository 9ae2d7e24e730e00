"""The systems that are compared, each with the values that its free parameters may take.

D = 10 throughout, as in section 5.1.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from itertools import product
from typing import Any

import numpy as np

from gapfm_teach.model import GAPfm
from gapfm_teach.training.recommender import Recommender

from .baselines import (
    BPR,
    EASE,
    WLT,
    CofiRank,
    GradeWeightedPopularity,
    ImplicitALS,
    MeanRating,
    PairwiseLogistic,
    Popularity,
    PopularityBPR,
    SmoothedAP,
    SVDpp,
)
from .baselines.ablation import CONSISTENT, REPAIRS, partly_repaired, without

ALL = 1_000_000  # more than there are items
BUDGET = "n_iter"  # not widened upwards: what a training may cost is for us to say


@dataclass(frozen=True)
class System:
    """One row of the tables: how to make it, and the values its free parameters may take.

    make : the class; grid : for each free parameter the values to try; a number's in ascending
    order; fixed : parameters that are not tuned.
    """

    make: Callable[..., Recommender]
    grid: Mapping[str, Sequence] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)

    def build(self, settings: Mapping[str, Any], random_state: int) -> Recommender:
        """The system with `settings`; `random_state` goes to those that draw something."""
        seeded = "random_state" in signature(self.make).parameters
        seed = {"random_state": random_state} if seeded else {}
        return self.make(**self.fixed, **settings, **seed)

    def points(self) -> list[dict[str, Any]]:
        """All settings of the grid."""
        points = product(*self.grid.values())
        return [dict(zip(self.grid, point, strict=True)) for point in points]

    def draw(self, n_trials: int, rng: np.random.Generator) -> list[dict[str, Any]]:
        """`n_trials` different points of the grid at random; all of them where it has fewer."""
        points = self.points()
        return [points[place] for place in rng.permutation(len(points))[:n_trials]]

    def edges(self, settings: Mapping[str, Any]) -> list[str]:
        """The parameters at an edge of the grid: what might be better beyond was not tried.

        Those with one value, or values that are no numbers, have none, nor `n_iter` at the top.
        """
        return [
            name
            for name, values in self.grid.items()
            if _beyond(name, values, settings[name])
        ]

    def wider(self, settings: Mapping[str, Any]) -> "System":
        """With one more value beyond each edge that `settings` are at: as many times the edge as
        the edge is its neighbour."""
        grid = dict(self.grid)
        for name in self.edges(settings):
            grid[name] = sorted([*grid[name], *_beyond(name, grid[name], settings[name])])
        return replace(self, grid=grid)


def _beyond(name: str, values: Sequence, chosen) -> list:
    """The next value where `chosen` is the first or last of a row of numbers above 0; or none."""
    numbers = all(type(value) in (int, float) and value > 0 for value in values)
    if len(values) < 2 or not numbers:
        return []
    if chosen == values[0]:
        beyond = type(chosen)(values[0] ** 2 / values[1])
    elif chosen == values[-1] and name != BUDGET:
        beyond = type(chosen)(values[-1] ** 2 / values[-2])
    else:
        return []
    return [beyond] if beyond > 0 and beyond not in values else []


_ASCENT: dict[str, Sequence] = {
    "learning_rate": [1e-3, 3e-3, 1e-2, 3e-2, 1e-1],
    "reg": [1e-3, 1.0, 3.0, 10.0],
    "n_iter": [60, 240],
}
_CONSISTENT: dict[str, Sequence] = {
    "reg": [0.03, 0.06, 0.12],
    "unrated_weight": [0.05, 0.2],
    "n_iter": [50],
}
_GEOMETRIC: dict[str, Sequence] = {
    "reg": [1.8, 2.1, 2.5, 2.9, 3.4],
    "unrated_weight": [0.05, 0.1, 0.2],
    "n_iter": [50],
}
SYSTEMS: dict[str, System] = {
    "PopRec": System(Popularity),
    "Mean rating": System(MeanRating),
    "Shrunken mean rating": System(
        MeanRating, {"shrinkage": [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]}
    ),
    "Grade-weighted popularity": System(GradeWeightedPopularity),
    "SVD++": System(
        SVDpp,
        {"learning_rate": [3e-4, 1e-3, 3e-3], "reg": [1e-2, 1e-1], "n_iter": [10, 30]},
    ),
    "BPR": System(
        BPR,
        {
            "learning_rate": [3e-3, 1e-2, 3e-2],
            "reg": [0.03, 0.05, 0.07, 0.1],
            "n_iter": [100, 300],
        },
    ),
    "BPR, popular negatives": System(
        PopularityBPR,
        {"learning_rate": [3e-2, 1e-1], "reg": [1e-3, 1e-2, 1e-1], "n_iter": [30, 100]},
    ),
    "Pairwise logistic": System(
        PairwiseLogistic,
        {"reg": [50.0, 100.0, 150.0, 250.0], "unrated_weight": [0.01, 0.03, 0.1]},
        {"n_iter": 60},
    ),
    "Implicit ALS": System(
        ImplicitALS,
        {
            "reg": [1.0, 3.0, 10.0, 30.0, 100.0, 300.0],
            "confidence": [1.0, 3.0, 10.0, 30.0],
            "n_iter": [5, 15],
        },
    ),
    "EASE": System(EASE, {"reg": [30.0, 100.0, 300.0, 1e3, 3e3, 1e4]}),
    "CofiRank": System(CofiRank, {"reg": [150.0, 500.0, 1500.0, 5000.0]}),
    "WLT": System(
        WLT,
        {
            "n_neighbors": [30, 100, 300],
            "learning_rate": [0.01, 0.03, 0.1, 0.3],
            "n_iter": [10, 20, 40],
        },
    ),
    "Smoothed AP": System(SmoothedAP, _ASCENT),
    "GAPfm": System(GAPfm, _ASCENT),
    "GAPfm, λ at each visit": System(
        GAPfm,
        {
            "learning_rate": [1e-3, 3e-3, 1e-2, 3e-2],
            "reg": [0.1, 0.2, 0.3, 0.5, 1.0],
            "n_iter": [60, 240],
        },
        {"update": "sequential"},
    ),
    "GAPfm + adaptive selection": System(GAPfm, _ASCENT, {"n_selected": 20}),
    "GAPfm + random selection": System(
        GAPfm, _ASCENT, {"n_selected": 20, "selection": "random"}
    ),
    "GAPfm, consistent, as it is": System(GAPfm, {}, {"objective": "consistent"}),
    "GAPfm, consistent": System(GAPfm, _CONSISTENT, {"objective": "consistent"}),
    "GAPfm, geometric, as it is": System(GAPfm, {}, {"objective": "geometric"}),
    "GAPfm, geometric": System(GAPfm, _GEOMETRIC, {"objective": "geometric"}),
    # Ranks among all films, where others take them from a sample of 200.
    "GAPfm, geometric, all ranks": System(
        GAPfm,
        {
            "reg": [2.1, 2.5, 3.0, 3.6],
            "unrated_weight": [0.1, 0.2, 0.4],
            "n_iter": [50, 100],
        },
        {"objective": "geometric", "n_negatives": ALL},
    ),
}


def _system(repairs: Sequence[str]) -> System:
    """With a grid for λ and γ that is as wide as their place depends on what is summed."""
    summed = not ("1/Z" in repairs and "stars for weights" not in repairs)
    if "smooth ranks" not in repairs:
        reg = [1e-3, 1.0, 3.0, 10.0] if summed else [1e-4, 0.03, 0.1, 0.3]
        rate = [3e-3, 1e-2, 3e-2, 0.1] if summed else [0.1, 0.3, 1.0]
    else:
        reg = [0.3, 0.7, 1.5, 2.3, 3.0] if summed else [0.015, 0.03, 0.06, 0.12]
        rate = [0.03, 0.1, 0.3] if summed else [0.3, 1.0, 3.0]
    if "Adagrad" in repairs:
        rate = [0.1, 0.3, 1.0]
    return System(
        partly_repaired, {"reg": reg, "learning_rate": rate}, {"repairs": tuple(repairs)}
    )


# "+ name": with all repairs up to it; "- name": with those of the consistent objective but for it.
STEPS: dict[str, System] = {"printed": _system(())}
STEPS |= {f"+ {name}": _system(REPAIRS[: k + 1]) for k, name in enumerate(REPAIRS)}
# Without the large start: that is the step before it.
STEPS |= {f"- {name}": _system(without(name)) for name in CONSISTENT[:-1]}
