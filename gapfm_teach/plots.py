"""Figures of one style and palette. Each function draws into the axes it is given and returns them."""

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.rcsetup import cycler
from matplotlib.scale import LogScale, register_scale
from matplotlib.ticker import LogFormatter
from matplotlib.transforms import Bbox

# The colours of a page by day; `preview/shared.css` has those by night. White and black are the
# same at both. Okabe and Ito's hues, darkened where the paper asks for it: told apart with every
# common colour blindness.
PALETTE = ["#0067a8", "#b33e00", "#008563", "#c06a9f", "#3b98d4", "#ab8c00", "#22262b"]
BLUE, VERMILION, GREEN, PURPLE, SKY, ORANGE, BLACK = PALETTE
PAPER, GRID, EDGE = "#fdfdfb", "#deded6", "#8b9097"
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
# One colour a grade, the farther from the paper's the higher: it also reads in grey.
GRADE_COLOURS = ["#cfd8e3", "#9dbbd8", "#5f97c6", "#2a6fa8", "#0b3c66"]
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def use_style() -> None:
    """Set matplotlib's defaults for the course's figures, for this session.

    Logarithmic axes are labelled by `format_number`.
    """
    mpl.rcParams.update(
        {
            "figure.figsize": (5.6, 3.3),
            "figure.dpi": 110,
            "figure.constrained_layout.use": True,
            "savefig.bbox": None,
            "font.size": 10.5,
            "text.color": BLACK,
            "axes.labelcolor": BLACK,
            "axes.edgecolor": BLACK,
            "xtick.color": BLACK,
            "ytick.color": BLACK,
            "axes.facecolor": "none",
            "axes.prop_cycle": cycler(color=PALETTE),
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.axisbelow": True,
            "axes.titlesize": 11,
            "grid.color": GRID,
            "grid.linewidth": 0.8,
            "lines.linewidth": 1.9,
            "legend.frameon": False,
        }
    )
    register_scale(_PlainLogScale)


class _PlainLogFormatter(LogFormatter):
    def _num_to_string(self, v, vmin, vmax):
        return format_number(v)


class _PlainLogScale(LogScale):
    name = "log"

    def __init__(self, *given, **options):  # an axis before matplotlib 3.11, then none
        super().__init__(*given, **options)

    def set_default_locators_and_formatters(self, axis):
        super().set_default_locators_and_formatters(axis)
        axis.set_major_formatter(_PlainLogFormatter(self.base))
        axis.set_minor_formatter(
            _PlainLogFormatter(self.base, labelOnlyBase=self.subs is not None)
        )


def format_number(value: float) -> str:
    """A positive number for people, with two digits below 1, in characters that every font has.

    >>> [format_number(value) for value in (0.0025, 1.2e-5, 1000, 2e7)]
    ['0.0025', '1.2·10⁻⁵', '1,000', '20 million']
    """
    for name, size in {"billion": 1e9, "million": 1e6}.items():
        if value >= size:
            return f"{value / size:,g} {name}"
    if value > 1.5e-4:
        return f"{value:.2g}" if value < 1 else f"{value:,g}"
    digits, power = f"{value:.1e}".split("e")
    times = f"{digits.removesuffix('.0')}·".removeprefix("1·")
    return f"{times}10{str(int(power)).translate(SUPERSCRIPT)}"


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
    """Ranked lists, one row each: a square a rank, its grade in it, empty for unrated (0)."""
    colours = ["none", *grade_colours(max_grade)]
    for row, grades in enumerate(lists):
        for rank, grade in enumerate(grades, start=1):
            strong = grade > 0.7 * max_grade
            ax.barh(row, 0.92, left=rank - 0.46, height=0.72, color=colours[grade],
                    edgecolor=EDGE, lw=0.8, ls="-" if grade else ":")  # fmt: skip
            ax.text(rank, row, str(grade) if grade else "·", ha="center", va="center",
                    color=PAPER if strong else BLACK)  # fmt: skip
    ax.set_yticks(range(len(names)), names, parse_math=False)
    ax.set_xticks(range(1, max(map(len, lists)) + 1))
    ax.tick_params(axis="y", length=0)
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
    ax.plot(rank[~hit], value[~hit], "o", color=colour, mfc=PAPER, ms=9, label="at a miss")
    ax.axhline(value[hit].mean(), color=VERMILION, ls="--", label="mean over hits: AP")
    ax.set_xticks(rank)
    ax.set_ylim(0, 1.06)
    return label(ax, "rank", "precision")


def shaded(ax: Axes, values, colours, *, strongest: float) -> Axes:
    """A table of squares, the larger a value of `values`, (n, m), the stronger its colour.

    `colours`: that of positive values, and of negative ones where there are any; half of it at
    `strongest` and above, so that the text on it stays legible. Row 0 is at the top.
    """
    for i, j in np.ndindex(np.shape(values)):
        value = values[i][j]
        strength = 0.5 * min(abs(value) / strongest, 1)
        ax.add_patch(
            mpl.patches.Rectangle(
                (j - 0.5, i - 0.5),
                1,
                1,
                fc=colours[0 if value > 0 else -1],
                alpha=round(strength, 2),
            )
        )
    n, m = np.shape(values)
    ax.set(xlim=(-0.5, m - 0.5), ylim=(n - 0.5, -0.5))
    return ax


def pair_table(ax: Axes, values, names, item: int) -> Axes:
    """Pair terms (S, S), row i and column j, with those that the score of `item` moves framed."""
    values = np.asarray(values, dtype=float)
    n = len(names)
    shaded(ax, values, [SKY], strongest=values.max())
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
    ax.set_aspect("equal")
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
            parse_math=False,
            gid=f"halo-{len(taken)}",
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
                va="center", color=PAPER, bbox=box)  # fmt: skip
        ax.annotate("", (3.7, at), (2.42, k), color=colour,
                    arrowprops={"arrowstyle": "->", "color": colour, "lw": 1.6})  # fmt: skip
        ax.text(3.85, at, f"movie {movies[k]}, grade {grades[k]}",
                va="center", color=PAPER, bbox=box)  # fmt: skip
        if users[k] != before:
            ax.text(5.8, at, f"← row of user {users[k]} begins at {at}", va="center")
        before = users[k]
    for x, title in [(-1.9, "bytes"), (0, "arrays, by movie"), (3.85, "rows, by user")]:
        ax.text(x, -1, title, va="center", weight="bold")
    ax.set(xlim=(-2, 8.4), ylim=(len(movies) - 0.4, -1.5))
    ax.axis("off")
    return ax
