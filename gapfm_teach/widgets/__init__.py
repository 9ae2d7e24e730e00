"""Explorers: sliders that retrain live in Jupyter, and their twins for pages without a kernel.

`explorer` shows one view for each setting of its parameters. With a kernel it is made of
ipywidgets; where the environment variable GAPFM_TEACH_STATIC is 1, as in stored notebooks, it
computes all settings at once and writes a page fragment that needs no kernel and no network.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from ..model import GAPfm
from ..ratings import Ratings
from .explorable import Explorable, Page
from .films import FilmRater, list_for
from .live import Explorer
from .scene import Curve, Parameter, Scene, View
from .twin import Twin

__all__ = [
    "Curve",
    "Explorable",
    "Explorer",
    "FilmRater",
    "Page",
    "Parameter",
    "Twin",
    "View",
    "explorable",
    "explorer",
    "rate_films",
]


def explorer(
    parameters: Sequence[Parameter],
    compute: Callable[..., View],
    *,
    title: str,
    x_label: str = "",
    y_label: str = "",
    rows_title: str = "",
    alt: str,
    y_range: tuple[float, float] | None = None,
    y_names: Sequence[str] = (),
) -> Explorer | Twin:
    """Sliders for `parameters` over a picture, a ranked list and a line of text.

    `compute(**{parameter.name: value})` returns the View of a setting. The object returned shows
    itself when it ends a cell. `alt` says in words what the picture shows; `y_range` fixes the y
    axis, which otherwise holds all views (in the live form: all views so far); `y_names` are words
    at y = 0, 1, and so on, from the top, in the place of numbers. What `compute` raises at the start, and in the twin anywhere, is raised; a move of a live slider shows it in
    the line of text. An ArithmeticError, such as a training that diverges, is always shown there.
    """
    scene = Scene(
        tuple(parameters), title, x_label, y_label, rows_title, alt=alt, y_range=y_range,
        y_names=tuple(y_names),
    )  # fmt: skip
    if not is_static():
        return Explorer(scene, compute)
    return Twin(*_for_a_page(scene, compute))


def _for_a_page(scene: Scene, compute: Callable[..., View]):
    """`scene` and `compute` with each live_only parameter held at its start."""
    held = tuple(p for p in scene.parameters if p.live_only)
    if not held:
        return scene, compute
    values = {p.name: p.start for p in held}
    note = f"Here {replace(scene, parameters=held).setting(values)}; in Jupyter that moves, too."
    moving = tuple(p for p in scene.parameters if not p.live_only)
    return replace(scene, parameters=moving, note=note), partial(compute, **values)


def rate_films(
    model: GAPfm,
    ratings: Ratings,
    items: Sequence[int],
    tastes: dict[str, Sequence[int]],
    *,
    title: str = "Rate ten films yourself",
) -> FilmRater | Twin:
    """Grade the films at the positions `items`; a list of ten others follows by `model.fold_in`.

    `tastes` names a few ready-made visitors, {name: a grade for each of `items`, 0 = not seen}:
    the kernel-free twin lets the reader choose among them. Raises ValueError for a taste with
    another number of grades than there are items.
    """
    for name, grades in tastes.items():
        if len(grades) != len(items):
            raise ValueError(
                f"taste {name!r} has {len(grades)} grades for {len(items)} items; "
                "give each film one, 0 for not seen"
            )
    if not is_static():
        return FilmRater(model, ratings, items, title)
    scene = Scene(
        (Parameter("taste", "A visitor who likes", list(tastes), next(iter(tastes))),),
        title, x_label="", y_label="", rows_title="The list that follows", alt="",
        note="This page shows ready-made visitors. In Jupyter you grade the films yourself.",
    )  # fmt: skip
    return Twin(scene, lambda taste: list_for(model, ratings, items, tastes[taste]))


def is_static() -> bool:
    """True where outputs are to be stored, not lived with."""
    return os.environ.get("GAPFM_TEACH_STATIC") == "1"


def explorable(
    view: str, data: Mapping, *, alt: str, compute: Callable[..., dict] | None = None
) -> Explorable | Page:
    """The explorable `view`, one of `VIEWS`, with the `data` that it is made of.

    It computes in the browser, in a page and in a notebook alike. With `compute`, a notebook with
    a kernel asks Python, `compute(**values)`, in the browser's stead. `alt` says in words what the
    first picture shows. The object returned shows itself when it ends a cell. Raises ValueError for
    an unknown view.
    """
    if is_static():
        return Page(view, data, alt)
    return Explorable(view, data, alt, compute)
