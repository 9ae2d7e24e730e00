"""Notebook 11: what an iteration costs on many machines, measured on two and by a model."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy.optimize import nnls

from gapfm_teach import plots

COSTS = [
    "iteration",
    "part",
    "rating",
    "rating, V out of reach",
    "byte of V at work",
    "byte of V sent",
]
SIZES = ["n_ratings", "n_items", "n_factors", "n_parts", "n_workers"]
REAL = 8  # bytes of a float64
CACHE_BYTES = 2**22  # of a V that a processor's core still has at hand


# ------------------------------------------------------------------ the model


def hops(n_workers: int) -> int:
    """How often, one after the other, V or a sum of its size is sent in an iteration.

    V goes from each worker to two others, which takes it two sendings; the sums go up in pairs,
    ⌈log2 W⌉ levels. 0 on one worker, 2 on two.
    """
    arrived = np.zeros(n_workers, dtype=int)
    for k in range(1, n_workers):
        children = 1 if 2 * ((k - 1) // 2) + 2 >= n_workers else 2
        arrived[k] = arrived[(k - 1) // 2] + children
    return int(arrived.max()) + int(np.ceil(np.log2(n_workers)))


def units(n_ratings, n_items, n_factors, n_parts, n_workers) -> dict[str, float]:
    """How often an iteration pays each of COSTS, on the worker that has most to do."""
    V, each = REAL * n_items * n_factors, -(-n_parts // n_workers)
    ratings = n_ratings / n_parts * each
    far = ratings if V > CACHE_BYTES else 0.0
    amounts = [1, n_parts, ratings, far, V * each, V * hops(n_workers)]
    return dict(zip(COSTS, amounts, strict=True))


def fit_costs(table: pd.DataFrame) -> pd.Series:
    """Seconds of each of COSTS, none below 0, that fit the rows with role "fit" best.

    Least squares of the relative errors: short iterations count as much as long ones.
    """
    chosen = table[table["role"] == "fit"]
    amounts = pd.DataFrame([units(**sizes) for sizes in _sizes(chosen)])
    relative = amounts.div(chosen["seconds"].to_numpy(), axis=0)
    seconds, _ = nnls(relative.to_numpy(), np.ones(len(chosen)))
    return pd.Series(seconds, COSTS, name="seconds")


def predict(costs: Mapping[str, float] | pd.Series, **sizes) -> pd.Series:
    """Seconds of an iteration that go into each of COSTS; `sizes` as in SIZES."""
    amounts = units(**sizes)
    return pd.Series({name: costs[name] * amounts[name] for name in COSTS})


def predictions(costs, table: pd.DataFrame) -> np.ndarray:
    """Seconds of an iteration for each row of `table`, (n_rows,)."""
    return np.array([predict(costs, **sizes).sum() for sizes in _sizes(table)])


def _sizes(table: pd.DataFrame) -> list[dict[str, int]]:
    return [dict(zip(SIZES, row, strict=True)) for row in table[SIZES].to_numpy().tolist()]


# ------------------------------------------------------------------ its picture


def iteration_picture(ax: Axes, n_workers: int = 4) -> Axes:
    """An iteration: each worker with its ratings and U, V going down, sums coming up a tree."""
    x = 1.5 * np.arange(n_workers)
    box = {"boxstyle": "round,pad=0.4", "ec": "none"}

    def text(at, y, words, colour, ink=plots.PAPER):
        ax.text(
            at, y, words, ha="center", va="center", color=ink, bbox=box | {"fc": colour}
        )

    def arrow(start, end, colour, bend=0.0):
        style = {
            "arrowstyle": "->",
            "color": colour,
            "lw": 1.6,
            "shrinkA": 13,
            "shrinkB": 13,
        }
        style["connectionstyle"] = f"arc3,rad={bend}"
        ax.annotate("", end, start, arrowprops=style)

    for k, at in enumerate(x):
        text(at, 0, f"worker {k + 1}\nratings\nand U", plots.GRID, plots.BLACK)
        arrow((at, 0.25), (at, 1.4), plots.VERMILION)
        text(at, 1.4, "its ∂F/∂V", plots.VERMILION)
        if k:
            arrow((x[(k - 1) // 2], -1.2), (at, -1.2), plots.BLUE, bend=0.3)
        text(at, -1.2, "V", plots.BLUE)
        arrow((at, -1.2), (at, -0.25), plots.BLUE)
    level, places, y = 0, list(x), 1.4
    while len(places) > 1:
        level, above = level + 1, []
        for pair in (places[k : k + 2] for k in range(0, len(places), 2)):
            above.append(float(np.mean(pair)))
            for at in pair:
                arrow((at, y), (above[-1], y + 1), plots.VERMILION)
            text(above[-1], y + 1, "+", plots.VERMILION)
        places, y = above, y + 1
    arrow((places[0], y), (places[0], y + 1.1), plots.BLUE)
    text(places[0], y + 1.1, "the next V; two numbers for you", plots.BLUE)
    ax.set(xlim=(x[0] - 0.8, x[-1] + 0.8), ylim=(-2.4, y + 1.5))
    ax.axis("off")
    return ax
