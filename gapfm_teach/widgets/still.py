"""One setting of an explorer as plain HTML: what shows where there is no kernel and no script."""

import base64
import html
import io
import re

import matplotlib as mpl

from .scene import Limits, Scene, View, draw, new_figure, ranked_list

# The class that MathJax passes over: a film may be called "$5 a Day", and its neighbour "$9.99".
PLAIN = "mathjax_ignore"


def still(scene: Scene, values: dict, view: View, limits: Limits) -> str:
    """The `view` of the setting `values` as picture, words and list."""
    words = html.escape(f"{scene.title}. {scene.setting(values)}. {view.readout}")
    picture = ""
    if view.curves:
        code = base64.b64encode(_svg(scene, view, limits)).decode()
        picture = (
            f'<img alt="{html.escape(scene.alt)}" src="data:image/svg+xml;base64,{code}">\n'
        )
    return f"{picture}<p>{words}</p>{ranked_list(scene.rows_title, view.rows)}"


def _svg(scene: Scene, view: View, limits: Limits) -> bytes:
    """The view drawn by matplotlib: the same bytes each time."""
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "gapfm"}):
        figure = new_figure(scene, len(view.curves))
        draw(figure.axes[0], view, scene, limits)
        target = io.StringIO()
        nothing = dict.fromkeys(["Date", "Creator", "Format", "Type"])
        figure.savefig(target, format="svg", metadata=nothing)
    drawing = target.getvalue()
    return re.sub(r"\s*\n\s*", " ", drawing[drawing.index("<svg") :]).encode()
