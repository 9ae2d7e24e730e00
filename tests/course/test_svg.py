"""A figure as a small SVG: it looks as matplotlib's own, and says nothing of when and where."""

import io
import re
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image, ImageChops

from gapfm_course.notebook_output import MAX_SVG, figure_svg
from gapfm_course.notebook_output.svg import CLOUD, compact_svg
from gapfm_teach import plots

SVG = "{http://www.w3.org/2000/svg}"
SHOW = (
    "<style>body { margin: 0 } svg { display: block; width: 800px; height: auto }</style>"
)


@pytest.fixture
def figure():
    with mpl.rc_context():
        plots.use_style()
        yield Figure(figsize=(5, 4), layout="constrained")


def full(figure) -> Figure:
    """A figure with all that figures are made of."""
    left, right = figure.subplots(1, 2)
    x = np.linspace(0, 6, 80)
    left.plot(x, 3 * np.sin(x), "o-", ms=4, label="wave")
    left.plot(x, np.cos(x), "s--", mfc=plots.PAPER, ms=5, label="cos < sin & more")
    left.fill_between(x, -1, 1, alpha=0.2, lw=0)
    left.set(ylim=(-2, 2), xlim=(0, 6))  # the wave is cut off
    left.legend()
    plots.label(left, "$x_i$", "héight", "two\nlines")
    right.scatter([1, 2, 2.1], [10, 1000, 1100], s=90, alpha=0.5)
    right.bar([1, 2, 3], [5, 50, 500], color=plots.GRADE_COLOURS[:3], ec=plots.EDGE)
    right.imshow(np.arange(6).reshape(2, 3), extent=(3, 5, 1, 3), aspect="auto")
    right.annotate("there", (3, 500), (1, 2000), arrowprops={"arrowstyle": "->"})
    right.set(yscale="log", xlim=(0, 5), ylim=(1, 1e7))
    return figure


def by_matplotlib(figure) -> str:
    written = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none"}):
        figure.savefig(written, format="svg", bbox_inches="tight", facecolor="none")
    return written.getvalue()


def test_it_looks_as_matplotlibs_own(figure, browser):
    page = browser.new_page(viewport={"width": 800, "height": 700})
    seen = []
    own = figure_svg(full(figure)).replace(
        "font-family", "data-family"
    )  # one face for both
    theirs = re.sub(r"font-family: [^;\"]*;?", "", by_matplotlib(figure))
    for svg in (own, theirs[theirs.index("<svg") :]):
        page.set_content(SHOW + svg)
        seen.append(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
    page.close()
    other = ImageChops.difference(*seen).convert("L").point(lambda light: light > 90)
    share = np.asarray(other, dtype=bool).mean()
    ink = (np.asarray(seen[1].convert("L")) < 160).mean()
    assert ink > 0.03  # there is something to see
    assert share < 0.02 * ink


def test_it_is_small_and_the_same_each_time(figure):
    drawn = figure_svg(full(figure))
    assert drawn == figure_svg(figure)
    assert len(drawn) < len(by_matplotlib(figure)) / 2.5
    assert not re.search(
        r"\d{4}-\d\d-\d\d|atplotlib|<style|<metadata|DejaVu Sans'\W*;", drawn
    )
    assert ElementTree.fromstring(drawn).find(f"{SVG}rect").get("fill") == "#ffffff"


def test_its_text_is_text_with_true_minus_signs(figure):
    words = ["".join(e.itertext()) for e in ElementTree.fromstring(figure_svg(full(figure))).iter(f"{SVG}text")]  # fmt: skip
    for text in ("héight", "cos < sin & more", "two", "lines", "there", "−2.0", "xi"):
        assert text in words, text
    assert not [text for text in words if "-" in text]


def test_a_logarithmic_axis_has_numbers_as_one_says_them(figure):
    ax = figure.add_subplot()
    ax.loglog([1e-6, 1e10], [0.01, 5000])
    ax.set_xticks([1e-6, 1e-4, 0.001, 1, 1000, 1e6, 1e7, 1e10])
    figure.draw_without_rendering()
    across = [label.get_text() for label in ax.get_xticklabels()]
    up = [label.get_text() for label in ax.get_yticklabels()]
    assert across == [
        "10⁻⁶",
        "10⁻⁴",
        "0.001",
        "1",
        "1,000",
        "1 million",
        "10 million",
        "10 billion",
    ]
    assert {"0.01", "1", "1,000"} <= set(up)


def test_a_cloud_is_one_path(figure):
    ax = figure.add_subplot()
    drawn = {}
    for n in (CLOUD // 2, 3 * CLOUD):
        cloud = ax.scatter(np.arange(n), np.arange(n), alpha=0.4, lw=0)
        drawn[n] = figure_svg(figure).count("stroke-opacity")
        cloud.remove()
    assert list(drawn.values()) == [CLOUD // 2, 1]


def test_a_figure_that_would_be_too_large_stays_a_picture_of_points(figure):
    n = MAX_SVG // 10
    figure.add_subplot().scatter(np.arange(n), np.random.default_rng(0).random(n))
    assert figure_svg(figure) is None


def test_what_has_no_colour_of_its_own_or_is_not_known_is_told(figure):
    figure.add_subplot().bar([1], [1], hatch="//")
    with pytest.raises(ValueError, match="a hatched shape has no colour of its own"):
        figure_svg(figure)
    strange = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><blink/></svg>'
    with pytest.raises(ValueError, match="blink is no element"):
        compact_svg(strange)


def test_a_hyphen_before_a_number_is_a_minus_and_no_other(figure):
    ax = figure.subplots()
    for k, words in enumerate(("-0.5", "p-value -.3", "user-12")):
        ax.text(0, k / 3, words)
    drawn = figure_svg(figure)
    assert ">−0.5<" in drawn
    assert ">p-value −.3<" in drawn
    assert ">user-12<" in drawn
