"""How notebooks show figures and tables: descriptions, and formatters of the kernel."""

import numpy as np
import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell
from matplotlib.figure import Figure

from gapfm_course import use_notebook_style
from gapfm_course.class_edition.sources import sources
from gapfm_course.notebook_output.words import describe_figure
from gapfm_teach import plots


@pytest.fixture
def ax():
    return Figure().add_subplot()


def description(ax) -> list[str]:
    return [line.strip() for line in describe_figure(ax.figure).splitlines()[2:]]


def test_a_curve_is_described_by_its_ends_and_extremes(ax):
    x = np.arange(50)
    ax.plot(x, (x - 20.0) ** 2 / 1000, label="error")
    words = "50 points, x 0 to 49; y first 0.4 at 0, lowest 0 at 20, highest 0.841 at 49"
    assert description(ax) == [f"error: {words}, last 0.841 at 49"]


def test_a_band_is_described_by_means_and_range(ax):
    plots.band(ax, [1, 2], [[0.1, 0.2], [0.3, 0.6]], "GAP")
    assert description(ax)[0] == "GAP: 2 points, x 1 to 2; y 0.2 0.4"
    assert description(ax)[1] == "unnamed: y 0.1 to 0.6"


def test_bars_clouds_levels_images_and_texts_are_described(ax):
    ax.bar(["a", "b"], [6110, 0.25], label="grades")
    ax.axhline(0.4, label="mean")
    ax.axvline(3, label="median")
    ax.scatter([1, 2], [3, 4], label="films")
    ax.plot([0.5, 0.7], ["a", "b"], label="rules")
    ax.plot([], [], label="none")
    ax.imshow(np.ones((60, 100)))
    ax.text(0, 0, "Star  Wars")
    ax.annotate("", (0, 0), (1, 1))
    words = description(ax)
    assert words[-1] == "text: Star Wars"
    for line in (
        "grades: bars 6110 0.25",
        "mean: at 0.4",
        "median: at 3",
        "films: 2 points, x 1 to 2; y 3 4",
        "rules: 2 points, x 0.5 to 0.7; y 0 1",
        "none: nothing",
        "image: 60 rows, 100 columns",
    ):
        assert line in words


def test_missing_values_are_left_out(ax):
    ax.plot([1, 2, 3], [np.nan, 5, 2], label="gap")
    assert description(ax) == ["gap: 3 points, x 1 to 3; y nan 5 2"]


def test_the_kernel_formats_tables_and_figures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shell = InteractiveShell.instance()
    title = (
        "The Good, the Bad and the Ugly, in a version restored for its fiftieth birthday"
    )
    try:
        with pd.option_context("display.max_colwidth", 20):
            use_notebook_style()
            table = pd.DataFrame({"x": [-0.5, 1.25], "title": title})
            shown, _ = shell.display_formatter.format(table)
        figure, _ = shell.display_formatter.format(Figure())
    finally:
        InteractiveShell.clear_instance()
    tables = {path.name for path in (sources() / "notebooks" / "results").glob("*.csv")}
    assert {path.name for path in (tmp_path / "results").glob("*.csv")} == tables
    assert "<td>−0.50</td>" in shown["text/html"]
    assert f"<td>{title}</td>" in shown["text/html"]
    assert "<style" not in shown["text/html"]
    assert "-0.50" in shown["text/plain"]  # which programs may read
    assert figure["image/svg+xml"].startswith("<svg")
    assert figure["text/plain"].startswith("<Figure size")
