"""What an explorer shows: parameters, views, and the picture of one view."""

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..plots import PALETTE, label

DASHES = ["", "7 3", "2 2.5", "8 3 2 3", "4 2", "10 3", "1 2"]
FEW_POINTS = (
    12  # up to here each point gets a dot: a line alone hides where it was measured
)
FIGSIZE, DPI = (7.0, 4.2), 80  # inches, dots an inch: 560 by 336 dots
NAME_WIDTH, NAME_HEIGHT = 2.1, 0.24  # inches for the names at an axis, and for each
LEGEND_COLUMNS = 3


@dataclass(frozen=True)
class Parameter:
    """A slider: `name` is compute's keyword, `values` its stops (numbers, texts, or both).

    `start` is one of `values`. Texts only make a menu instead of a slider. A `live_only` one is
    left out of the twin, which has to compute all settings, and stands at `start` there. Raises
    ValueError for fewer than two stops, repeated stops, or a start that is no stop.
    """

    name: str
    label: str
    values: Sequence
    start: float | str
    unit: str = ""
    live_only: bool = False

    def __post_init__(self):
        values = list(self.values)
        if len(values) < 2 or len(set(values)) < len(values):
            raise ValueError(
                f"values of {self.name!r} must be two or more different stops, got {values}"
            )
        if self.start not in values:
            raise ValueError(
                f"start of {self.name!r} must be one of its values {values}, got {self.start!r}"
            )

    @property
    def texts(self) -> list[str]:
        """The stops as shown."""
        return [v if isinstance(v, str) else f"{v:g}" for v in self.values]

    @property
    def is_choice(self) -> bool:
        """True where every stop is a text: a menu, not a scale."""
        return all(isinstance(value, str) for value in self.values)

    def nearest(self, typed: str) -> int | None:
        """Position of the stop that `typed` names or comes closest to; None if neither."""
        if typed.strip() in self.texts:
            return self.texts.index(typed.strip())
        try:
            wanted = float(typed.replace(",", "."))
        except ValueError:
            return None
        gaps = [
            math.inf if isinstance(v, str) else abs(float(v) - wanted) for v in self.values
        ]
        return int(np.argmin(gaps)) if min(gaps) < math.inf else None


@dataclass(frozen=True)
class Curve:
    """A line: `x` and `y` of one length; a NaN in `y` breaks it. With `dots`, dots in its place."""

    name: str
    x: Sequence[float] | np.ndarray
    y: Sequence[float] | np.ndarray
    dots: bool = False

    def __post_init__(self):
        if np.shape(self.x) != np.shape(self.y) or np.ndim(self.x) != 1:
            raise ValueError(
                f"curve {self.name!r} needs x and y of one length, "
                f"got shapes {np.shape(self.x)} and {np.shape(self.y)}"
            )


@dataclass(frozen=True)
class View:
    """What one setting shows.

    `curves`: in the same order in every view, since the place decides the colour; `rows`: a
    ranked list, best first; `readout`: the result in a line of words; `marks`: points to ring,
    each (x, y, text).
    """

    curves: Sequence[Curve] = ()
    rows: Sequence[str] = ()
    readout: str = ""
    marks: Sequence[tuple[float, float, str]] = ()


@dataclass(frozen=True)
class Scene:
    """The frame around all views of an explorer: parameters, words, and a fixed y axis if any.

    y_names : the words at y = 0, 1, and so on, from the top, in the place of numbers.
    """

    parameters: Sequence[Parameter]
    title: str
    x_label: str
    y_label: str
    rows_title: str
    alt: str
    y_range: tuple[float, float] | None = None
    note: str = ""
    y_names: Sequence[str] = ()

    def setting(self, values: dict) -> str:
        """The words for `values`: "λ = 0.1, K = 5 films" for {"reg": 0.1, "k": 5}."""
        parts = []
        for p in self.parameters:
            text = p.texts[list(p.values).index(values[p.name])]
            parts.append(f"{p.label} = {text}{' ' + p.unit if p.unit else ''}")
        return ", ".join(parts)

    def y_ends(self, limits: "Limits") -> tuple[float, float]:
        """Where the y axis begins and ends, from the bottom."""
        if self.y_names:
            return len(self.y_names) - 0.5, -0.5
        return self.y_range or padded(limits.y, 0.05)


@dataclass
class Limits:
    """Axis limits that hold everything shown so far, so that curves move and axes do not."""

    x: list[float] = field(default_factory=list)
    y: list[float] = field(default_factory=list)

    def include(self, view: View) -> None:
        for curve in view.curves:
            self.x = _span([*self.x, *np.asarray(curve.x, dtype=float)])
            self.y = _span([*self.y, *np.asarray(curve.y, dtype=float)])
        self.x = _span([*self.x, *(mark[0] for mark in view.marks)])
        self.y = _span([*self.y, *(mark[1] for mark in view.marks)])


def _span(values: list) -> list[float]:
    finite = [float(v) for v in values if math.isfinite(v)]
    return [min(finite), max(finite)] if finite else []


def padded(span: list[float], share: float) -> tuple[float, float]:
    """`span` with room at both ends; a span of no length gets some."""
    low, high = span or (0.0, 1.0)
    room = share * (high - low) or max(abs(low), 1.0) * 0.5
    return low - room, high + room


def new_figure(scene: Scene, n_curves: int) -> Figure:
    """A figure with one Axes, unknown to pyplot, so that no notebook shows it a second time.

    Margins are fixed, with room for the legend above: a layout engine would cost time in each
    redraw and let the axes move.
    """
    (width, height), left, bottom = FIGSIZE, 0.11, 0.13
    if scene.y_names:
        left = NAME_WIDTH / width
        height = max(height, 1.1 + NAME_HEIGHT * len(scene.y_names))
    figure = Figure(figsize=(width, height), dpi=DPI)
    figure.set_layout_engine(
        "none"
    )  # as an argument it is forgotten after the first savefig
    top = 0.97 - 0.06 * math.ceil(n_curves / LEGEND_COLUMNS)
    figure.add_axes((left, bottom, 0.98 - left, top - bottom))
    return figure


@mpl.rc_context({"text.parse_math": False})  # words are words, as on pages: "$5 to $9"
def draw(ax: Axes, view: View, scene: Scene, limits: Limits) -> Axes:
    """Draw `view` into the emptied `ax`; returns `ax`."""
    ax.clear()
    for place, curve in enumerate(view.curves):
        dash = [float(n) for n in DASHES[place % len(DASHES)].split()]
        dotted = curve.dots or len(curve.x) <= FEW_POINTS
        ax.plot(
            curve.x, curve.y, label=curve.name, color=PALETTE[place % len(PALETTE)],
            linestyle="none" if curve.dots else (0, dash) if dash else "-", linewidth=1.9,
            marker="o" if dotted else "", markersize=6 if curve.dots else 4,
        )  # fmt: skip
    for x, y, text in view.marks:
        ax.plot([x], [y], "o", ms=9, mfc="none", mec="#333333", mew=1.6)
        ax.annotate(text, (x, y), (8, 6), textcoords="offset points", fontsize="small")
    ax.set_xlim(*padded(limits.x, 0.02))
    ax.set_ylim(*scene.y_ends(limits))
    if scene.y_names:
        ax.set_yticks(range(len(scene.y_names)), scene.y_names)
    label(ax, scene.x_label, scene.y_label)
    if view.curves:
        ax.legend(
            loc="lower left", bbox_to_anchor=(-0.02, 1), ncols=LEGEND_COLUMNS,
            frameon=False, borderaxespad=0.1,
        )  # fmt: skip
    return ax


def failed(error: Exception) -> View:
    """The view of a setting that cannot be computed: the error, in one line."""
    words = " ".join(str(error).split())
    return View(readout=f"No result here. {type(error).__name__}: {words}")


def ranked_list(title: str, rows: Sequence[str]) -> str:
    """`rows` as a numbered list in HTML; nothing for no rows."""
    if not rows:
        return ""
    items = "".join(f"<li>{html.escape(row)}</li>" for row in rows)
    return (
        f"<p><strong>{html.escape(title)}</strong></p>"
        f'<ol style="margin:0;line-height:1.6">{items}</ol>'
    )


def spoken(text: str) -> str:
    """`text` in HTML, read out by screen readers whenever it changes."""
    box = "border-left:3px solid #0072b2;padding:0.2em 0.8em;line-height:1.5"
    return (
        f'<div class="gapfm-readout" role="status" style="{box}">{html.escape(text)}</div>'
    )
