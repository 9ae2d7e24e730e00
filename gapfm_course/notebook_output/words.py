"""A figure in words: what is drawn in it, with numbers."""

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.container import BarContainer
from matplotlib.figure import Figure


def describe_figure(figure: Figure) -> str:
    """Each curve and cloud of a figure with its ends and extremes, each bar with its height.

    A reader or a test can look up here what a caption says.

    >>> figure = Figure(figsize=(4, 3), dpi=100)
    >>> _ = figure.add_subplot().plot([1, 2, 3], [0.5, 2, 0.25], label="GAP")
    >>> print(describe_figure(figure))
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
