"""Axes in, axes out: one palette, one style, and alt text made from what was plotted."""

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes

# Okabe and Ito's palette without its yellow: told apart with every common colour blindness.
PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"]
BLUE, VERMILION, GREEN, PURPLE, SKY, ORANGE, BLACK = PALETTE
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
# One colour a grade, dark for high: ordered in lightness, so it also reads in grey.
GRADE_COLOURS = ["#cfd8e3", "#9dbbd8", "#5f97c6", "#2a6fa8", "#0b3c66"]


def use_style() -> None:
    """Set matplotlib's defaults for the tutorial's figures, for this session."""
    mpl.rcParams.update(
        {
            "figure.figsize": (7.0, 3.6),
            "figure.dpi": 110,
            "figure.constrained_layout.use": True,
            "savefig.bbox": None,
            "font.size": 10.5,
            "axes.prop_cycle": mpl.cycler(color=PALETTE),
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.axisbelow": True,
            "grid.color": "#e3e3e3",
            "grid.linewidth": 0.8,
            "lines.linewidth": 1.9,
            "legend.frameon": False,
        }
    )


def label(ax: Axes, x: str, y: str, title: str = "") -> Axes:
    """Name the axes (with units) and the picture; returns `ax`."""
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    if title:
        ax.set_title(title, loc="left", fontsize=11)
    return ax


def band(ax: Axes, x, runs, name: str, colour: str | None = None) -> Axes:
    """Mean line and min-max band of repeated runs, (n_runs, len(x)); returns `ax`."""
    runs = np.asarray(runs, dtype=float)
    (line,) = ax.plot(x, runs.mean(axis=0), label=name, color=colour)
    ax.fill_between(
        x, runs.min(axis=0), runs.max(axis=0), color=line.get_color(), alpha=0.18, lw=0
    )
    return ax


def describe(ax: Axes) -> str:
    """Alt text from the plotted lines: axes, and each line's start, end and highest point."""
    parts = [f"{ax.get_ylabel()} against {ax.get_xlabel()}."]
    for line in ax.get_lines():
        x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
        seen = np.isfinite(y)
        if seen.sum() < 2 or str(line.get_label()).startswith("_"):
            continue
        x, y = x[seen], y[seen]
        top = int(np.argmax(y))
        parts.append(
            f"{line.get_label()}: from {y[0]:.3g} to {y[-1]:.3g}, highest {y[top]:.3g} at {x[top]:.3g}."
        )
    return " ".join(parts)
