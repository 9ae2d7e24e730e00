"""Axes in, axes out: one palette, one style, and words for what was plotted."""

import sys
from collections.abc import Iterator

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.rcsetup import cycler
from matplotlib.transforms import Bbox

from ._support.typeset import typeset

# Okabe and Ito's palette without its yellow: told apart with every common colour blindness.
PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"]
BLUE, VERMILION, GREEN, PURPLE, SKY, ORANGE, BLACK = PALETTE
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
# One colour a grade, dark for high: ordered in lightness, so it also reads in grey.
GRADE_COLOURS = ["#cfd8e3", "#9dbbd8", "#5f97c6", "#2a6fa8", "#0b3c66"]


def use_style() -> None:
    """Set matplotlib's defaults for the tutorial's figures, for this session.

    In a notebook the text that goes with a figure's picture is then `in_words`, and tables of
    pandas have true minus signs and powers of ten.
    """
    mpl.rcParams.update(
        {
            "figure.figsize": (7.0, 3.6),
            "figure.dpi": 110,
            "figure.constrained_layout.use": True,
            "savefig.bbox": None,
            "font.size": 10.5,
            "axes.prop_cycle": cycler(color=PALETTE),
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
    # IPython looks here for a text. What is registered with it, its backend for figures removes.
    Figure._repr_pretty_ = lambda figure, p, cycle: p.text(in_words(figure))  # type: ignore[attr-defined]
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None:
        pages = shell.display_formatter.formatters["text/html"]
        pages.for_type(pd.DataFrame, lambda frame: typeset(frame._repr_html_()))


def in_words(figure: Figure) -> str:
    """What is drawn: of each curve and cloud where it begins, ends and is lowest and highest.

    So that what a caption says of a picture can be looked up, by a reader or by a test.

    >>> figure = Figure(figsize=(4, 3), dpi=100)
    >>> _ = figure.add_subplot().plot([1, 2, 3], [0.5, 2, 0.25], label="GAP")
    >>> print(in_words(figure))
    <Figure size 400x300 with 1 Axes>
    Axes 1:
      GAP: 3 points, x 1 to 3; y 0.5 2 0.25
    """
    lines = [repr(figure)]
    for number, ax in enumerate(figure.axes, start=1):
        names = [ax.get_title(loc="left"), ax.get_ylabel(), ax.get_xlabel()]
        lines.append(" | ".join([f"Axes {number}", *filter(None, names)]) + ":")
        lines += [f"  {line}" for line in _drawn(ax)]
    return "\n".join(lines)


def _drawn(ax: Axes) -> Iterator[str]:
    """A line of words for each thing in the axes."""
    for line in ax.lines:
        name, (x, y) = _name(line), np.array(line.get_data(), dtype=object)
        if line.get_transform() == ax.transData:
            yield f"{name}: {_course(ax.convert_xunits(x), ax.convert_yunits(y))}"
        else:  # from edge to edge: a level, or a place along x
            yield f"{name}: at {_short(y[0] if y[0] == y[-1] else x[0])}"
    for bars in ax.containers:
        if isinstance(bars, BarContainer):
            values = np.asarray(bars.datavalues, dtype=float)
            yield f"{_name(bars)}: bars {' '.join(map(_short, values))}"
    for cloud in ax.collections:
        if isinstance(cloud, PathCollection):
            yield f"{_name(cloud)}: {_course(*np.asarray(cloud.get_offsets()).T)}"
        elif isinstance(cloud, PolyCollection):
            (_, low), (_, high) = cloud.get_datalim(ax.transData).get_points()
            yield f"{_name(cloud)}: y {_short(low)} to {_short(high)}"
    for image in ax.images:
        rows, columns = image.get_size()
        yield f"image: {rows} rows, {columns} columns"
    for text in ax.texts:
        if words := text.get_text().split():  # an arrow has none
            yield f"text: {' '.join(words)}"


def _name(thing) -> str:
    label = str(thing.get_label())
    return "unnamed" if label.startswith("_") else label


def _course(x, y) -> str:
    """The values of y over x where there are few; else its ends and its extremes."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if y.size == 0 or np.isnan(y).all():
        return "nothing"
    words = f"{y.size} points, x {_short(np.nanmin(x))} to {_short(np.nanmax(x))}; y "
    if y.size <= 12:
        return words + " ".join(map(_short, y))
    places = {"first": 0, "lowest": np.nanargmin(y), "highest": np.nanargmax(y), "last": -1}
    ends = [f"{name} {_short(y[k])} at {_short(x[k])}" for name, k in places.items()]
    return words + ", ".join(ends)


def _short(value: float) -> str:
    """Three digits; of a whole number all."""
    whole = float(value).is_integer() and abs(value) < 1e9
    return f"{value:.0f}" if whole else f"{value:.3g}"


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


def grade_colours(max_grade: int) -> list[str]:
    """One of GRADE_COLOURS for each grade 1..max_grade, (max_grade,), evenly chosen, dark for high."""
    places = np.linspace(0, len(GRADE_COLOURS) - 1, max_grade) if max_grade > 1 else [4]
    return [GRADE_COLOURS[round(place)] for place in places]


def grade_lists(ax: Axes, lists, names, *, max_grade: int = 5) -> Axes:
    """Ranked lists, one row each: a square a rank, its grade in it, white for unrated (0)."""
    colours = ["white", *grade_colours(max_grade)]
    for row, grades in enumerate(lists):
        for rank, grade in enumerate(grades, start=1):
            dark = grade > 0.6 * max_grade
            ax.barh(row, 0.92, left=rank - 0.46, height=0.72, color=colours[grade],
                    edgecolor="#777777", lw=0.8, ls="-" if grade else ":")  # fmt: skip
            ax.text(rank, row, str(grade) if grade else "·", ha="center", va="center",
                    color="white" if dark else "black")  # fmt: skip
    ax.set_yticks(range(len(names)), names, parse_math=False)
    ax.set_xticks(range(1, max(map(len, lists)) + 1))
    ax.invert_yaxis()
    ax.grid(False)
    return label(ax, "rank", "")


def precision_at_hits(ax: Axes, relevant, colour: str = BLUE) -> Axes:
    """Precision after each rank of a ranked list of 1 (hit) and 0: a staircase, hits marked.

    The dashed line is the average over the hits, which is the list's average precision.
    """
    hit = np.asarray(relevant, dtype=bool)
    rank = np.arange(1, len(hit) + 1)
    value = np.cumsum(hit) / rank
    ax.step(rank, value, where="mid", color=colour, alpha=0.5, label="precision so far")
    ax.plot(rank[hit], value[hit], "o", color=colour, ms=9, label="at a hit")
    ax.plot(
        rank[~hit], value[~hit], "o", color=colour, mfc="white", ms=9, label="at a miss"
    )
    ax.axhline(value[hit].mean(), color=VERMILION, ls="--", label="mean over hits: AP")
    ax.set_xticks(rank)
    ax.set_ylim(0, 1.06)
    return label(ax, "rank", "precision")


def stacked(ax: Axes, parts, names, colours, part_names=()) -> Axes:
    """One horizontal bar a name, built from `parts` (n_bars, n_parts) laid end to end.

    `colours`: one a part, or one for each part of each bar; `part_names` label the first bar's.
    """
    parts = np.asarray(parts, dtype=float)
    start = np.cumsum(parts, axis=1) - parts
    colours = np.broadcast_to(colours, parts.shape)
    labels = [*part_names, *["_"] * (parts.shape[1] - len(part_names))]
    for column, name in enumerate(labels):
        ax.barh(range(len(names)), parts[:, column], left=start[:, column], height=0.62,
                color=colours[:, column], edgecolor="#555555", lw=0.6, label=name)  # fmt: skip
    ax.set_yticks(range(len(names)), names, parse_math=False)
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    return ax


def pair_table(ax: Axes, values, names, item: int) -> Axes:
    """Pair terms (S, S), row i and column j, with those that the score of `item` moves framed."""
    values = np.asarray(values, dtype=float)
    n = len(names)
    ax.imshow(values, cmap="Greys", vmin=0, vmax=2.5 * values.max())
    for i, j in np.ndindex(values.shape):
        ax.text(j, i, f"{values[i, j]:.3f}", ha="center", va="center")
    for corner, width, height, colour, text in [
        ((-0.48, item - 0.45), n - 0.04, 0.9, BLUE, "row"),
        ((item - 0.45, -0.48), 0.9, n - 0.04, VERMILION, "column"),
    ]:
        ax.add_patch(
            mpl.patches.Rectangle(
                corner, width, height, fill=False, ec=colour, lw=3, label=text
            )
        )
    ax.set_xticks(range(n), names, parse_math=False)
    ax.set_yticks(range(n), names, parse_math=False)
    ax.grid(False)
    ax.legend(loc="center left", bbox_to_anchor=(1.02, 0.5))
    return label(ax, "film j, the one above", "film i, whose place counts")


def curves(ax: Axes, x, named: dict, x_label: str, y_label: str) -> Axes:
    """One line over `x`, (n,), for each entry of `named`, {label: (n,) values}, and a legend."""
    for name, y in named.items():
        ax.plot(x, y, label=name)
    label(ax, x_label, y_label).legend()
    return ax


def named_points(ax: Axes, x, y, names, *, at_most: int = 25) -> Axes:
    """A dot a film, and names beside the first `at_most` of them that fit without overlap.

    x, y : (n,); names : (n,) in the order of who is named first.
    """
    ax.plot(x, y, ".", color=SKY, ms=4, alpha=0.6)
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()  # places the axes, so that text has its final place
    taken: list[Bbox] = []
    frame, middle = ax.get_window_extent(), np.mean(ax.get_xlim())
    for x_i, y_i, name in zip(x, y, names, strict=True):
        if len(taken) == at_most:
            break
        side = ("left", 4) if x_i < middle else ("right", -4)
        text = ax.annotate(
            name,
            (x_i, y_i),
            (side[1], 3),
            ha=side[0],
            textcoords="offset points",
            fontsize=8,
            parse_math=False,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )
        box = text.get_window_extent().padded(5, 1)  # two names in a row need a gap
        inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 and box.y1 <= frame.y1
        if not inside or any(box.overlaps(other) for other in taken):
            text.remove()
            continue
        ax.plot([x_i], [y_i], ".", color=BLUE, ms=7)
        taken.append(box)
    return ax


def intervals(ax: Axes, table, group: str, x_label: str) -> Axes:
    """Means with intervals, one row a system, one colour and marker for each value of `group`.

    table : DataFrame with columns system, mean, ci_low, ci_high and `group`; the systems stand
    in the order of their first rows, the first at the top.
    """
    systems = list(dict.fromkeys(table["system"]))
    groups = list(dict.fromkeys(table[group]))
    for k, value in enumerate(groups):
        rows = table[table[group] == value]
        place = [systems.index(name) for name in rows["system"]]
        y = np.array(place) + 0.6 * (k + 0.5) / len(groups) - 0.3
        width = [rows["mean"] - rows["ci_low"], rows["ci_high"] - rows["mean"]]
        ax.errorbar(rows["mean"], y, xerr=width, fmt=MARKERS[k], ms=4.5, lw=1.6,
                    color=PALETTE[k], label=f"{group} {value}")  # fmt: skip
    ax.set_yticks(range(len(systems)), systems, parse_math=False)
    ax.invert_yaxis()
    ax.set_ylim(len(systems) - 0.5, -0.5)
    label(ax, x_label, "").legend()
    return ax


def counting_sort(ax: Axes, movies, users, grades) -> Axes:
    """Ratings as text, as arrays in the order of the file, and, by arrows, as rows of users.

    movies, users, grades : (n,), in the order of the file; a colour a movie.
    """
    names = list(dict.fromkeys(movies))
    order = np.argsort(users, kind="stable")
    before = None
    for at, k in enumerate(order):
        colour = PALETTE[names.index(movies[k]) % len(PALETTE)]
        box = {"boxstyle": "round,pad=0.35", "fc": colour, "ec": "none"}
        ax.text(-1.9, k, f"{users[k]},{grades[k]},20…", va="center", family="monospace")
        ax.text(0, k, f"movie {movies[k]}: user {users[k]}, grade {grades[k]}",
                va="center", color="white", bbox=box)  # fmt: skip
        ax.annotate("", (3.7, at), (2.42, k), color=colour,
                    arrowprops={"arrowstyle": "->", "color": colour, "lw": 1.6})  # fmt: skip
        ax.text(3.85, at, f"movie {movies[k]}, grade {grades[k]}",
                va="center", color="white", bbox=box)  # fmt: skip
        if users[k] != before:
            ax.text(5.8, at, f"← row of user {users[k]} begins at {at}", va="center")
        before = users[k]
    for x, title in [(-1.9, "bytes"), (0, "arrays, by movie"), (3.85, "rows, by user")]:
        ax.text(x, -1, title, va="center", weight="bold")
    ax.set(xlim=(-2, 8.4), ylim=(len(movies) - 0.4, -1.5))
    ax.axis("off")
    return ax
