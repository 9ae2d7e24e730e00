"""The explorer with a kernel: ipywidgets sliders, each move computed at once."""

import html
import io
from collections.abc import Callable

import ipywidgets

from .scene import Limits, Parameter, Scene, View, draw, new_axes

PICTURE_HEIGHT = "362px"


class Explorer(ipywidgets.VBox):
    """Sliders, picture, ranked list and readout; `view` and `values` say what is shown."""

    def __init__(self, scene: Scene, compute: Callable[..., View]):
        self.scene, self._compute, self._limits = scene, compute, Limits()
        self._dials = [_Dial(parameter, self._move) for parameter in scene.parameters]
        self.image = ipywidgets.Image(format="png", tooltip=scene.alt)
        self.readout, self.rows = ipywidgets.HTML(), ipywidgets.HTML()
        first = compute(**self.values)
        self._ax = new_axes(len(first.curves))
        self._show(first)
        super().__init__(self._parts())

    def _parts(self) -> list:
        heading = ipywidgets.HTML(f"<strong>{html.escape(self.scene.title)}</strong>")
        picture = ipywidgets.Output(layout={"height": PICTURE_HEIGHT})
        picture.append_display_data(self.image)
        body = [self.rows] if not self.view.curves else [picture, self.rows]
        shelf = ipywidgets.HBox(body, layout={"flex_flow": "row wrap"})
        return [heading, *(dial.row for dial in self._dials), self.readout, shelf]

    @property
    def values(self) -> dict:
        """The setting shown: a value for each parameter's name."""
        return {dial.parameter.name: dial.control.value for dial in self._dials}

    def _move(self) -> None:
        try:
            self._show(self._compute(**self.values))
        except Exception as error:
            self._show(failed(error))

    def _show(self, view: View) -> None:
        self.view = view
        self._limits.include(view)
        draw(self._ax, view, self.scene, self._limits)
        png = io.BytesIO()
        self._ax.figure.savefig(png, format="png", pil_kwargs={"compress_level": 1})
        self.image.value = png.getvalue()
        self.readout.value = (
            f'<div class="gapfm-readout" role="status">{html.escape(view.readout)}</div>'
        )
        self.rows.value = ranked_list(self.scene.rows_title, view.rows)

    def __repr__(self) -> str:
        return f"Explorer({self.scene.title}; {self.scene.setting(self.values)})"


class _Dial:
    """One parameter's row: a slider over its stops and a box to type in; or a menu."""

    def __init__(self, parameter: Parameter, moved: Callable[[], None]):
        self.parameter, self._moved = parameter, moved
        options = list(zip(parameter.texts, parameter.values, strict=True))
        common = {
            "options": options,
            "value": parameter.start,
            "description": parameter.label,
            "style": {"description_width": "11em"},
        }
        if parameter.is_choice:
            self.control = ipywidgets.Dropdown(**common)
            self.row = self.control
        else:
            self.control = ipywidgets.SelectionSlider(
                **common, continuous_update=False, layout={"width": "30em"}
            )
            self.box = ipywidgets.Text(
                continuous_update=False,
                layout={"width": "6em"},
                tooltip=f"{parameter.label}: type a value, the nearest stop is taken",
            )
            self._write_box()
            self.box.observe(self._typed, "value")
            self.row = ipywidgets.HBox(
                [self.control, self.box, ipywidgets.Label(parameter.unit)]
            )
        self.control.observe(self._changed, "value")

    def _changed(self, _change) -> None:
        if not self.parameter.is_choice:
            self._write_box()
        self._moved()

    def _typed(self, change) -> None:
        place = self.parameter.nearest(change.new)
        if place is not None:
            self.control.value = self.parameter.values[place]
        self._write_box()

    def _write_box(self) -> None:
        self.box.value = self.parameter.texts[self.control.index]


def failed(error: Exception) -> View:
    """The view of a setting that cannot be computed: the error, in one line."""
    return View(
        readout=f"No result here. {type(error).__name__}: {' '.join(str(error).split())}"
    )


def ranked_list(title: str, rows) -> str:
    """`rows` as a numbered list in HTML; nothing for no rows."""
    if not rows:
        return ""
    items = "".join(f"<li>{html.escape(row)}</li>" for row in rows)
    return f"<strong>{html.escape(title)}</strong><ol>{items}</ol>"
