"""How the notebooks show figures and tables: small SVG with a description, tables for readers."""

import contextlib
import io
import shutil
import sys
from pathlib import Path

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

from gapfm_lab.html_tables import format_html
from gapfm_teach import plots

from ..class_edition.sources import NOTEBOOKS, sources
from .svg import compact_svg
from .words import describe_figure

MAX_SVG = 40_000  # characters; a larger figure is stored as pixels only


def use_notebook_style() -> None:
    """Set matplotlib's style, and how this notebook shows figures and tables.

    A figure is also stored as SVG (`figure_svg`) and in words (`describe_figure`). Tables of
    pandas have true minus signs and powers of ten, and never cut a title. Where a chapter was opened
    by itself, the stored tables that it reads are copied into `results`.
    """
    plots.use_style()
    pd.set_option("display.max_colwidth", None)
    # IPython looks up these methods; formatters registered with it are removed by its backend for
    # figures.
    Figure._repr_svg_ = figure_svg  # type: ignore[attr-defined]
    Figure._repr_pretty_ = lambda figure, p, cycle: p.text(describe_figure(figure))  # type: ignore[attr-defined]
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None:
        html = shell.display_formatter.formatters["text/html"]
        html.for_type(pd.DataFrame, lambda frame: format_html(frame._repr_html_()))
        copy_results()


def copy_results() -> None:
    """Copy the stored tables into `results` here, unless there is something of that name."""
    with contextlib.suppress(
        OSError
    ):  # a folder that cannot be written to: some chapters need none
        if not Path("results").exists():
            shutil.copytree(sources() / NOTEBOOKS / "results", "results")


def figure_svg(figure: Figure) -> str | None:
    """The figure as a small SVG with selectable text; None if it is longer than MAX_SVG.

    The output is reproducible: it contains no dates, paths or random names.
    """
    written = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "path.simplify_threshold": 0.3}):
        figure.savefig(written, format="svg", bbox_inches="tight", facecolor="none")
    svg = compact_svg(written.getvalue())
    return svg if len(svg) <= MAX_SVG else None
