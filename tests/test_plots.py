"""Figures: names with dollar signs are not set as mathematics."""

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
