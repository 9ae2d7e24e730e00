"""Figures: what a name may look like, and what is said of them in words."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from gapfm_teach import plots

NAMES = ["$5 a Day", "$9.99 or $10", "Ca$h"]


@pytest.fixture
def ax():
    return Figure().add_subplot()


def test_names_beside_points_are_not_mathematics(ax):
    ax.set(xlim=(-1, 3), ylim=(-1, 3))
    plots.named_points(ax, [0, 1, 2], [0, 1, 2], NAMES)
    assert [text.get_text() for text in ax.texts] == NAMES
    assert not any(text.get_parse_math() for text in ax.texts)


@pytest.mark.parametrize(
    "draw",
    [
        lambda ax: plots.grade_lists(ax, [[1, 2]] * 3, NAMES),
        lambda ax: plots.pair_table(ax, [[1, 2, 3]] * 3, NAMES, 1),
    ],
    ids=["grade_lists", "pair_table"],
)
def test_names_along_an_axis_are_not_mathematics(ax, draw):
    draw(ax)
    labels = ax.get_yticklabels()
    assert [label.get_text() for label in labels] == NAMES
    assert not any(label.get_parse_math() for label in labels)


def drawn(ax) -> list[str]:
    return [line.strip() for line in plots.in_words(ax.figure).splitlines()[2:]]


def test_in_words_a_curve_has_its_ends_and_extremes(ax):
    x = np.arange(50)
    ax.plot(x, (x - 20.0) ** 2 / 1000, label="error")
    words = "50 points, x 0 to 49; y first 0.4 at 0, lowest 0 at 20, highest 0.841 at 49"
    assert drawn(ax) == [f"error: {words}, last 0.841 at 49"]


def test_in_words_a_band_has_the_means_and_the_range(ax):
    plots.band(ax, [1, 2], [[0.1, 0.2], [0.3, 0.6]], "GAP")
    assert drawn(ax)[0] == "GAP: 2 points, x 1 to 2; y 0.2 0.4"
    assert drawn(ax)[1] == "unnamed: y 0.1 to 0.6"


def test_in_words_there_are_bars_clouds_levels_pictures_and_texts(ax):
    ax.bar(["a", "b"], [6110, 0.25], label="grades")
    ax.axhline(0.4, label="mean")
    ax.axvline(3, label="median")
    ax.scatter([1, 2], [3, 4], label="films")
    ax.plot([0.5, 0.7], ["a", "b"], label="rules")
    ax.plot([], [], label="none")
    ax.imshow(np.ones((60, 100)))
    ax.text(0, 0, "Star  Wars")
    ax.annotate("", (0, 0), (1, 1))
    words = drawn(ax)
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


def test_in_words_what_is_missing_does_not_matter(ax):
    ax.plot([1, 2, 3], [np.nan, 5, 2], label="gap")
    assert drawn(ax) == ["gap: 3 points, x 1 to 3; y nan 5 2"]
