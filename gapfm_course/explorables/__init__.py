"""Explorables: pictures that compute in the reader's browser, with a kernel and without.

`explorable` shows a view: one of `VIEWS`, each a module in `views/`. In a notebook it is a widget;
where the environment variable GAPFM_TEACH_STATIC is 1, as in stored notebooks, it is a fragment of
a page, which the page's script brings to life.
"""

import os
from collections.abc import Callable, Mapping

from .explorable import Explorable, Page
from .linked import VIEWS

__all__ = ["VIEWS", "Explorable", "Page", "explorable"]


def explorable(
    view: str, data: Mapping, *, alt: str, compute: Callable[..., dict] | None = None
) -> Explorable | Page:
    """The explorable `view`, one of `VIEWS`, with the `data` that it is made of.

    It computes in the browser, in a page and in a notebook alike. With `compute`, a notebook with
    a kernel asks Python, `compute(**values)`, in the browser's stead. `alt` says in words what the
    first picture shows. The object returned shows itself when it ends a cell. Raises ValueError for
    an unknown view.
    """
    if os.environ.get("GAPFM_TEACH_STATIC") == "1":
        return Page(view, data, alt)
    return Explorable(view, data, alt, compute)
