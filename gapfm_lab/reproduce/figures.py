"""Figures 1-4 of the paper on other data, and an interval plot for each of Tables 2-4."""

from collections.abc import Callable
from dataclasses import dataclass

import matplotlib.figure
import pandas as pd

from gapfm_teach import plots

from ..experiments.convergence import effectiveness
from ..experiments.selecting import selection_sweep
from .timing import epoch_times, thread_times


@dataclass(frozen=True)
class Figure:
    """`measure(ratings, seed)` gives the table for one seed; `draw(table)` the picture.

    Where the data come in two parts, it is `measure(train, probe, seed)`.
    """

    measure: Callable[..., pd.DataFrame]
    draw: Callable[[pd.DataFrame], matplotlib.figure.Figure]
    words: str


def _blank(n_rows: int = 1, height: float = 3.3):
    plots.use_style()
    figure = matplotlib.figure.Figure(figsize=(5.6, height), layout="constrained")
    return figure, figure.subplots(n_rows, 1, squeeze=False)[:, 0]


def draw_effectiveness(table: pd.DataFrame) -> matplotlib.figure.Figure:
    """Held-out GAP against iterations, a line for each Given, bands over the seeds."""
    figure, (ax,) = _blank()
    for given, runs in table.groupby("n_given"):
        lines = runs.pivot(index="random_state", columns="iteration", values="held_out_gap")
        plots.band(ax, lines.columns, lines, f"Given {given}")
    plots.label(ax, "iteration", "held-out GAP").legend()
    return figure


def draw_threads(table: pd.DataFrame) -> matplotlib.figure.Figure:
    """Time of a pass against the number of threads, beside 1/n of the time of one thread."""
    figure, (ax,) = _blank()
    times = 1000 * table.pivot(index="random_state", columns="n_threads", values="seconds")
    plots.band(ax, times.columns, times, "measured")
    n = times.columns.to_numpy(dtype=float)
    ax.plot(
        n,
        times.median().iloc[0] * n[0] / n,
        ls="--",
        color=plots.BLACK,
        label="shared out evenly",
    )
    ax.set_xticks(list(times.columns))
    ax.set_ylim(bottom=0)
    plots.label(ax, "threads", "milliseconds a pass, for U and V").legend()
    return figure


def draw_epochs(table: pd.DataFrame) -> matplotlib.figure.Figure:
    """Time of an iteration against ratings and against pairs, a line for each Given.

    Solid on one thread, dashed on more.
    """
    figure, axes = _blank(2, height=6)
    wanted = {"n_ratings": "ratings", "pairs": "score pairs, Σ S²"}
    for ax, (column, text) in zip(axes, wanted.items(), strict=True):
        for k, given in enumerate(table["n_given"].unique().tolist()):
            for n, rows in table[table["n_given"] == given].groupby("n_threads"):
                means = rows.groupby("share")[[column, "seconds"]].median()
                name = f"Given {given}" if given else "all ratings"
                ax.plot(means[column], 1000 * means["seconds"], "o-" if n == 1 else "o--",
                        color=plots.PALETTE[k], label=name if n == 1 else None)  # fmt: skip
        ax.set_xscale("log")
        ax.set_yscale("log")
        plots.label(ax, text, "milliseconds an iteration")
    axes[0].legend()
    return figure


def draw_selection(table: pd.DataFrame) -> matplotlib.figure.Figure:
    """Held-out GAP against K, adaptive and random, beside the mean where all are updated.

    The time of an iteration too, where it was taken.
    """
    wanted = {"held_out_gap": "held-out GAP", "seconds": "seconds an iteration"}
    shown = [column for column in wanted if column in table]
    figure, axes = _blank(len(shown), height=3 * len(shown))
    for ax, column in zip(axes, shown, strict=True):
        for name in ("adaptive", "random"):
            rows = table[table["selection"] == name]
            runs = rows.pivot(index="random_state", columns="n_selected", values=column)
            plots.band(ax, runs.columns, runs, name)
        everything = table[table["selection"] == "all"][column].mean()
        ax.axhline(everything, ls="--", color=plots.BLACK, label="all items")
        plots.label(ax, "K, selected items a user", wanted[column]).legend()
    return figure


def draw_table(table: pd.DataFrame) -> matplotlib.figure.Figure:
    """NDCG@5 of every system with its interval, a colour for each Given; 1,000 candidates."""
    rows = table[table["metric"] == "NDCG@5"]
    if "candidates" in rows:
        rows = rows[rows["candidates"].astype(str) == "1000"]
    figure, (ax,) = _blank(height=1.0 + 0.4 * rows["system"].nunique())
    plots.intervals(ax, rows, "given", "NDCG@5")
    return figure


FIGURES = {
    "figure1": Figure(
        lambda ratings, seed: effectiveness(ratings, random_states=[seed]),
        draw_effectiveness,
        "held-out GAP along 60 iterations at Given 10, 20, 30; γ as in LEARNING_RATES",
    ),
    "figure2": Figure(
        lambda ratings, seed: thread_times(ratings, [seed]),
        draw_threads,
        "time of one pass over all ratings, for U and V, the shortest of 15; depends on the machine",
    ),
    "figure3": Figure(
        lambda ratings, seed: epoch_times(ratings, [seed]),
        draw_epochs,
        "time of one iteration on one thread, the shortest of 15; depends on the machine",
    ),
    "figure4": Figure(
        lambda ratings, seed: selection_sweep(ratings, random_states=[seed]),
        draw_selection,
        "held-out GAP after 50 iterations at Given 50 with K items a user updated",
    ),
}
