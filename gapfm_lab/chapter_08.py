"""Notebook 08: what an iteration adds up, and how well a few nodes do."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from gapfm_teach._support.checks import check_count, check_real
from gapfm_teach.paper import logistic
from gapfm_teach.ratings import Ratings

# ------------------------------------------------------------------ counting pairs


def costs(ratings: Ratings, n_given: Sequence[int | None]) -> pd.DataFrame:
    """What an iteration has to add up when each user keeps at most so many ratings (None: all).

    Indexed by Given, columns users M, ratings ΣS, pairs ΣS², and M·S̄², the count of section 4.2.
    """
    counts, rows = np.diff(ratings.indptr), {}
    for n in n_given:
        S = counts if n is None else np.minimum(counts, check_count(n, "n_given"))
        rows["all" if n is None else str(n)] = {
            "users": S.size, "ratings": S.sum(), "pairs": np.sum(S**2),
            "paper": round(S.size * S.mean() ** 2),
        }  # fmt: skip
    return pd.DataFrame(rows).T.rename_axis("Given")


def exponent(x, y) -> float:
    """The b of y ≈ a·x^b: slope of the straight line through the logarithms of x and y, (n,)."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


# ------------------------------------------------------------------ the fast sum


def decay(spread: float) -> float:
    """ρ: the factor by which a node lowers the error where scores lie within `spread`.

    The poles of g(f - x) next to the real x stand at f ± iπ. In units of half the spread that
    is 2πi / spread away; ρ is the sum of the half axes of the ellipse through them, with foci -1
    and 1 (Trefethen 2013, chapter 8).
    """
    slope = 2 * np.pi / check_real(spread, "spread", low_open=True)
    return float(slope + np.sqrt(1 + slope**2))


def interpolation_error(
    spread: float, n_nodes: int, x: np.ndarray | None = None
) -> np.ndarray:
    """Error of g(f - x) from `n_nodes` Chebyshev nodes: the largest over f, at each place of x.

    x : (n,) places in [-1, 1], in units of half the `spread`; by default 201 even steps.
    """
    n_nodes = check_count(n_nodes, "n_nodes")
    x = np.linspace(-1, 1, 201) if x is None else np.asarray(x)
    half = spread / 2
    f = half * np.linspace(-1, 1, 101)
    angles = np.pi * (np.arange(n_nodes) + 0.5) / n_nodes
    order = np.arange(n_nodes)
    values = logistic(f[:, None] - half * np.cos(angles))
    series = 2 / n_nodes * values @ np.cos(np.outer(angles, order))
    series[:, 0] /= 2
    found = series @ np.cos(np.outer(order, np.arccos(x)))
    return np.abs(found - logistic(f[:, None] - half * x)).max(axis=0)


def relative_work(n_items: int, n_nodes: int, n_grades: int = 5) -> float:
    """Terms that the fast sum adds up, for one that the half-triangle of pairs has.

    The sums at the nodes S·p, the series p² a grade, their values at the scores S·p; pairs S²/2.
    """
    fast = 2 * n_items * n_nodes + n_grades * n_nodes**2
    return fast / (n_items**2 / 2)
