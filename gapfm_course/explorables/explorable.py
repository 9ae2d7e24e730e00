"""An explorable: one view, alive in a page without a kernel and in a notebook with one."""

import base64
import html
import json
from collections.abc import Callable, Mapping

import anywidget
import numpy as np
import traitlets

from .linked import HERE, for_notebook, style

# Under the picture, until a script replaces both.
STILL = (
    "<p><small>A picture of an explorable. In a notebook, run all cells down to this one, and it "
    "comes alive; in a web page it needs JavaScript.</small></p>"
)
PACKED = ("float64", "float32", "int32", "uint8")


class Explorable(anywidget.AnyWidget):
    """The widget of a view. What the page's script draws, it draws, too.

    `compute(**values)` is asked for each setting where it is given, as in training on data that a
    page may not carry; the browser computes by itself else. An error of `compute` is shown in the
    line of words.
    """

    _css = style()
    view = traitlets.Unicode().tag(sync=True)
    data = traitlets.Dict().tag(sync=True)
    computes = traitlets.Bool().tag(sync=True)

    def __init__(
        self, view: str, data: Mapping, alt: str, compute: Callable[..., dict] | None
    ):
        self._esm = for_notebook(view)
        self.alt, self._compute = alt, compute
        super().__init__(view=view, data=packed(data), computes=compute is not None)
        self.on_msg(self._asked)

    def _asked(self, _widget, content: dict, _buffers) -> None:
        turn = content["turn"]
        try:
            assert self._compute is not None
            answer = packed(self._compute(**content["values"]))
        except Exception as error:  # shown to whoever moved the slider
            self.send({"turn": turn, "error": f"{type(error).__name__}: {error}"})
        else:
            self.send({"turn": turn, "answer": answer})

    def _repr_mimebundle_(self, **options):
        bundle = super()._repr_mimebundle_(**options)
        assert bundle is not None  # anywidget has none where no ipywidgets are
        shown, metadata = bundle
        shown["text/html"] = fragment(
            self.view, self.data, self.alt
        )  # once the kernel is gone
        return shown, metadata

    def __repr__(self) -> str:
        return f"Explorable({self.view!r})"


class Page:
    """The same view for a page without a kernel, as a fragment of HTML."""

    def __init__(self, view: str, data: Mapping, alt: str):
        self.view, self.html = view, fragment(view, packed(data), alt)

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return f"Explorable({self.view!r})"


def fragment(view: str, data: Mapping, alt: str) -> str:
    """A view's data, and its picture for where no script runs: on paper, in a mail, on GitHub.

    The picture is the view itself at its first setting; `make pictures` draws it.
    """
    picture = HERE / "pictures" / f"{view}.png"
    shown = ""
    if picture.is_file():
        source = base64.b64encode(picture.read_bytes()).decode()
        shown = (
            f'<img alt="{html.escape(alt)}" src="data:image/png;base64,{source}">{STILL}'
        )
    stored = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace(
        "</", "<\\/"
    )
    return (
        f'<div class="gapfm-explorable" data-view="{view}">{shown}\n'
        f'<script type="application/json">{stored}</script>\n</div>'
    )


def packed(value):
    """`value` as JSON takes it: arrays as base64 of their little-endian bytes, long floats cut."""
    if isinstance(value, Mapping):
        return {str(key): packed(one) for key, one in value.items()}
    if isinstance(value, np.ndarray) and value.dtype.name in PACKED:
        little = np.ascontiguousarray(value.astype(value.dtype.newbyteorder("<")))
        return {value.dtype.name: base64.b64encode(little.tobytes()).decode()}
    if isinstance(value, np.ndarray | np.generic):
        return packed(value.tolist())
    if isinstance(value, list | tuple):
        return [packed(one) for one in value]
    return value
