"""The explorer without a kernel: all settings in one page fragment with a small script."""

import hashlib
import itertools
import json
from collections.abc import Callable
from importlib import resources

import numpy as np

from .. import plots
from .scene import (
    DASHES,
    FEW_POINTS,
    Limits,
    Scene,
    View,
    failed,
    padded,
)
from .still import PLAIN, still

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"
LEVELS = 4094  # a y is two digits: 0..4094 between the ends of the scale, 4095 for a gap


class Twin:
    """Shows itself as `html`: sliders over every combination of the parameters' values.

    The settings are stored in the order of itertools.product over the parameters' values. Until
    the script runs, and where scripts are not allowed, a picture of the starting setting stands
    in its place.
    """

    def __init__(self, scene: Scene, compute: Callable[..., View]):
        self.scene = scene
        self._start = {p.name: p.start for p in scene.parameters}
        names = list(self._start)
        grid = itertools.product(*(p.values for p in scene.parameters))
        settings = [dict(zip(names, values, strict=True)) for values in grid]
        self.views = [_view(compute, values) for values in settings]
        self.html = _page(scene, self.views, self.views[settings.index(self._start)])

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return f"Explorer({self.scene.title}; {self.scene.setting(self._start)})"


def _view(compute: Callable[..., View], values: dict) -> View:
    try:
        return compute(**values)
    except ArithmeticError as error:  # a training that diverges is a result, a bug is not
        return failed(error)


def _page(scene: Scene, views: list[View], start: View) -> str:
    limits = Limits()
    for view in views:
        limits.include(view)
    data = json.dumps(
        pack(scene, views, limits),
        ensure_ascii=False,
        separators=(",", ":"),
        allow_nan=False,
    ).replace("<", "\\u003c")
    name = "gapfm-" + hashlib.sha256(data.encode()).hexdigest()[:12]
    values = {p.name: p.start for p in scene.parameters}
    fallback = still(scene, values, start, limits)
    files = resources.files(__package__)
    style, script = (
        files.joinpath(file).read_text(encoding="utf-8").strip()
        for file in ("twin.css", "twin.js")
    )
    return (
        f'<div class="gapfm-twin {PLAIN}" id="{name}">\n{fallback}\n'
        f'<script type="application/json">{data}</script>\n</div>\n'
        f"<style>\n{style}\n</style>\n<script>\n{script}\n</script>"
    )


def pack(scene: Scene, views: list[View], limits: Limits) -> dict:
    """Everything that the script draws from, each text and each x axis stored once."""
    strings, axes = _Table(), _Table()
    scale = limits.y or [0.0, 1.0]
    if scene.y_range is not None:  # digits spent far outside of the picture are lost inside
        low, high = scene.y_range
        scale = [max(scale[0], 2 * low - high), min(scale[1], 2 * high - low)]

    def curve(c):
        x = tuple(_short(v) for v in c.x)
        y = strings.place(encode(c.y, scale))
        return [strings.place(c.name), axes.place(x), y, *([1] if c.dots else [])]

    settings = [
        [
            [curve(c) for c in view.curves],
            [strings.place(row) for row in view.rows],
            strings.place(view.readout),
            [[_short(x), _short(y), strings.place(text)] for x, y, text in view.marks],
        ]
        for view in views
    ]
    return {
        "title": scene.title, "x": scene.x_label, "y": scene.y_label, "alt": scene.alt,
        "rowsTitle": scene.rows_title, "note": scene.note,
        "colours": [c if c != plots.BLACK else "currentColor" for c in plots.PALETTE],
        "dashes": DASHES, "fewPoints": FEW_POINTS,
        "parameters": [
            {
                "label": p.label, "unit": p.unit, "texts": p.texts,
                "start": list(p.values).index(p.start), "choice": p.is_choice,
            }
            for p in scene.parameters
        ],
        "xRange": [_short(v) for v in padded(limits.x, 0.02)],
        "yRange": [_short(v) for v in scene.y_ends(limits)],
        "yNames": list(scene.y_names),
        "scale": [float(v) for v in scale],
        "digits": DIGITS, "axes": axes.entries, "strings": strings.entries,
        "settings": settings,
    }  # fmt: skip


class _Table:
    """Stores each entry once."""

    def __init__(self):
        self._places: dict = {}

    def place(self, entry) -> int:
        return self._places.setdefault(entry, len(self._places))

    @property
    def entries(self) -> list:
        return list(self._places)


def encode(y, scale) -> str:
    """`y` as two digits a point, in steps of 1/LEVELS of `scale`; a gap where not finite."""
    y = np.asarray(y, dtype=float)
    low, high = scale
    share = np.clip((y - low) / ((high - low) or 1.0), 0, 1)
    codes = np.where(np.isfinite(y), np.rint(share * LEVELS), LEVELS + 1)
    return "".join(DIGITS[int(code) // 64] + DIGITS[int(code) % 64] for code in codes)


def _short(value) -> float | int:
    """`value` to four significant digits, whole numbers without a point."""
    number = float(f"{float(value):.4g}")
    return int(number) if number.is_integer() and abs(number) < 1e15 else number
