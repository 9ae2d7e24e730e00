"""Table 1: how many users, items and ratings there are, and how unevenly they are shared out."""

import matplotlib.figure
import numpy as np
import pandas as pd

from gapfm_teach import plots
from gapfm_teach.ratings import Ratings

from ..paper import table1


def statistics(ratings: Ratings) -> pd.DataFrame:
    """Table 1 of `ratings` and the paper's, on Netflix: columns data, users, movies, ratings,
    sparseness. Counted are users with at least 50 ratings, as there."""
    source = ratings.source.split(";")[0] or "not stated"
    names = {"here": source, "paper": "Netflix, as printed"}
    table = table1(ratings).rename(index=names)
    return table.rename_axis("data").reset_index()


def at_least(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each count that occurs, above 0, and the share of `counts` (n,) that reach it."""
    values, times = np.unique(counts[counts > 0], return_counts=True)
    return values, np.cumsum(times[::-1])[::-1] / counts.size


def draw_statistics(ratings: Ratings) -> matplotlib.figure.Figure:
    """Share of the users, and of the items, that have at least so many ratings."""
    plots.use_style()
    figure = matplotlib.figure.Figure(figsize=(7.0, 3.6), layout="constrained")
    ax = figure.subplots()
    of_items = np.bincount(ratings.indices, minlength=ratings.n_items)
    for counts, name in [(np.diff(ratings.indptr), "users"), (of_items, "movies")]:
        ax.step(*at_least(counts), where="pre", label=name)
    ax.set_xscale("log")
    ax.set_yscale("log")
    plots.label(ax, "ratings", "share with at least so many").legend()
    return figure
