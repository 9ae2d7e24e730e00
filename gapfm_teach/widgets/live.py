"""The explorer with a kernel: ipywidgets sliders, each move computed at once."""

import html
import io
from collections.abc import Callable

import ipywidgets
from ipywidgets.widgets.widget_description import DescriptionWidget
from matplotlib.backends.backend_agg import FigureCanvasAgg

from .scene import (
    DPI,
    Limits,
    Parameter,
    Scene,
    View,
    draw,
    failed,
    new_figure,
    ranked_list,
    spoken,
)
from .still import PLAIN, still

LIST = {"flex": "1 1 16em", "max_width": "26em", "margin": "0 0 0 1.5em"}


class Live(ipywidgets.VBox):
    """A box of widgets that leaves a still of itself, `still()`, in a notebook that is saved:
    a page built from it has no kernel to show the widgets."""

    def still(self) -> str:
        raise NotImplementedError

    def _repr_mimebundle_(self, **options):
        page = f'<div class="{PLAIN}">\n{self.still()}\n</div>'
        return super()._repr_mimebundle_(**options) | {"text/html": page}


def words(text: str, **options) -> ipywidgets.HTML:
    """`text` as it stands: a Label would set what is between two dollar signs as mathematics."""
    return ipywidgets.HTML(html.escape(text), **options)


class Explorer(Live):
    """Sliders, picture, ranked list and readout.

    `values` and `view` say what is shown; `dials[name].control` is a parameter's slider.
    """

    def __init__(self, scene: Scene, compute: Callable[..., View]):
        self.scene, self._compute, self._limits = scene, compute, Limits()
        self.dials = {p.name: _Dial(p, self._move) for p in scene.parameters}
        self.image = _Picture(format="png", tooltip=scene.alt)
        self.readout, self.rows = ipywidgets.HTML(), ipywidgets.HTML(layout=LIST)
        first = compute(**self.values)
        self._canvas = FigureCanvasAgg(new_figure(scene, len(first.curves)))
        self._show(first)
        super().__init__(self._parts())

    def _parts(self) -> list:
        heading = ipywidgets.HTML(f"<strong>{html.escape(self.scene.title)}</strong>")
        height = self._canvas.figure.get_figheight() * DPI + 14
        picture = ipywidgets.Output(layout={"height": f"{height:.0f}px"})
        picture.append_display_data(self.image)
        body = [self.rows] if not self.view.curves else [picture, self.rows]
        shelf = ipywidgets.HBox(body, layout={"flex_flow": "row wrap"})
        return [heading, *(dial.row for dial in self.dials.values()), self.readout, shelf]

    @property
    def values(self) -> dict:
        """The setting shown: a value for each parameter's name."""
        return {name: dial.control.value for name, dial in self.dials.items()}

    def _move(self) -> None:
        try:
            self._show(self._compute(**self.values))
        except Exception as error:
            self._show(failed(error))

    def _show(self, view: View) -> None:
        self.view = view
        self._limits.include(view)
        draw(self._canvas.figure.axes[0], view, self.scene, self._limits)
        png = io.BytesIO()
        self._canvas.print_png(png, pil_kwargs={"compress_level": 1})
        self.image.value = png.getvalue()
        self.readout.value = spoken(view.readout)
        self.rows.value = ranked_list(self.scene.rows_title, view.rows)

    def still(self) -> str:
        return still(self.scene, self.values, self.view, self._limits)

    def __repr__(self) -> str:
        return f"Explorer({self.scene.title}; {self.scene.setting(self.values)})"


class _Picture(ipywidgets.Image, DescriptionWidget):
    """An Image that can be named: its tooltip, the only name there is, needs a description."""


class _Dial:
    """One parameter's row: a slider over its stops and a box to type in; or a menu."""

    def __init__(self, parameter: Parameter, moved: Callable[[], None]):
        self.parameter, self._moved = parameter, moved
        options = list(zip(parameter.texts, parameter.values, strict=True))
        common = {
            "options": options,
            "value": parameter.start,
            "description": f'<span class="{PLAIN}">{html.escape(parameter.label)}</span>',
            "description_allow_html": True,
            "style": {"description_width": "13em"},
        }
        if parameter.is_choice:
            self.control = ipywidgets.Dropdown(**common)
            self.row = self.control
        else:
            self.control = ipywidgets.SelectionSlider(
                **common, continuous_update=False, layout={"width": "36em"}
            )
            self.box = ipywidgets.Text(
                continuous_update=False,
                layout={"width": "6em"},
                tooltip=f"{parameter.label}: type a value, the nearest stop is taken",
            )
            self._write_box()
            self.box.observe(self._typed, "value")
            self.row = ipywidgets.HBox([self.control, self.box, words(parameter.unit)])
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
