"""Explorers with a kernel, tried without a front end."""

import re

import ipywidgets
import numpy as np
import pytest
from explorer_sample import REG, STEPS, compute, make

from gapfm_teach import GAPfm, Ratings, simulate_ratings
from gapfm_teach.widgets import Curve, Explorer, FilmRater, Parameter, View, rate_films
from gapfm_teach.widgets.films import list_for


@pytest.fixture(autouse=True)
def live(monkeypatch):
    monkeypatch.delenv("GAPFM_TEACH_STATIC", raising=False)


@pytest.fixture(scope="module")
def model():
    ratings = simulate_ratings(60, 40, random_state=3)
    return GAPfm(4, n_iter=10, random_state=0).fit(ratings), ratings


# ---------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("typed", "stop"),
    [
        ("0.001", 1),
        ("0.02", 1),
        ("7", 2),
        ("-1", 0),
        ("0,09", 2),
        ("much", None),
        ("", None),
    ],
)
def test_what_is_typed_goes_to_the_nearest_stop(typed, stop):
    assert REG.nearest(typed) == stop


def test_a_stop_that_is_a_word_is_reached_by_the_word_alone():
    assert STEPS.nearest("all") == 2
    assert STEPS.nearest("1000") == 1


@pytest.mark.parametrize(
    ("values", "start", "word"),
    [([1], 1, "two or more"), ([1, 2, 2], 1, "two or more"), ([1, 2], 3, "start")],
)
def test_a_parameter_that_cannot_move_is_refused(values, start, word):
    with pytest.raises(ValueError, match=word):
        Parameter("reg", "λ", values, start)


def test_a_curve_of_unequal_lengths_is_refused():
    with pytest.raises(ValueError, match=r"'GAP' needs x and y of one length"):
        Curve("GAP", [1, 2], [1])


# ---------------------------------------------------------------- live


class Recorder:
    """compute, with a memory of its calls."""

    def __init__(self):
        self.calls = []

    def __call__(self, **values):
        self.calls.append(values)
        return compute(**values)


def png_size(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def test_a_move_computes_once_and_changes_picture_list_and_words():
    recorder = Recorder()
    shown = make(recorder)
    assert isinstance(shown, Explorer)
    assert recorder.calls == [{"reg": 0.001, "n_steps": 20}]
    before = shown.image.value, shown.readout.value, shown.rows.value
    shown.dials["n_steps"].control.value = 5
    after = shown.image.value, shown.readout.value, shown.rows.value
    assert recorder.calls[1:] == [{"reg": 0.001, "n_steps": 5}]
    assert all(old != new for old, new in zip(before, after, strict=True))
    assert png_size(before[0]) == png_size(after[0])


def test_typing_moves_the_slider_and_computes_once():
    recorder = Recorder()
    shown = make(recorder)
    dial = shown.dials["reg"]
    dial.box.value = "0.08"
    assert (dial.control.value, dial.box.value) == (0.1, "0.1")
    assert recorder.calls[1:] == [{"reg": 0.1, "n_steps": 20}]
    dial.box.value = "nonsense"
    assert (dial.control.value, dial.box.value) == (0.1, "0.1")
    assert len(recorder.calls) == 2


def test_an_error_is_shown_in_one_line_and_the_next_move_recovers():
    def fragile(reg, n_steps):
        if n_steps == "all":
            raise ValueError("K is\ntoo large")
        return compute(reg, n_steps)

    shown = make(fragile)
    good = shown.image.value
    shown.dials["n_steps"].control.value = "all"
    assert "ValueError: K is too large" in shown.readout.value
    assert shown.image.value != good
    assert "Fargo" not in shown.rows.value
    shown.dials["n_steps"].control.value = 20
    assert "highest" in shown.readout.value
    assert "Fargo" in shown.rows.value


def test_an_error_at_the_start_is_raised():
    with pytest.raises(ZeroDivisionError):
        make(lambda reg, n_steps: 1 / 0)


def test_pyplot_never_sees_the_figure():
    from matplotlib import pyplot

    open_before = pyplot.get_fignums()
    shown = make()
    for stop in (5, 20) * 5:
        shown.dials["n_steps"].control.value = stop
    assert pyplot.get_fignums() == open_before
    assert len(shown._canvas.figure.axes) == 1
    assert len(shown._canvas.figure.axes[0].lines) == 3


def test_axes_keep_what_they_have_shown():
    shown = make(lambda reg, n_steps: View([Curve("c", [0, 1], [0, reg * 100])]))
    limits = []
    for reg in (0.1, 0.001):
        shown.dials["reg"].control.value = reg
        limits.append(shown._canvas.figure.axes[0].get_ylim())
    assert limits[0] == limits[1]
    assert limits[0][1] >= 10


@pytest.mark.parametrize("is_static", ["0", "1"])
def test_text_names_title_and_setting_and_no_address(is_static, monkeypatch):
    monkeypatch.setenv("GAPFM_TEACH_STATIC", is_static)
    assert repr(make()) == "Explorer(Train & look; λ = 0.001, K = 20 films)"


# ---------------------------------------------------------------- what is saved


def test_a_still_of_the_setting_shown_is_stored_beside_the_widgets():
    shown = make()
    shown.dials["n_steps"].control.value = 5
    stored = shown._repr_mimebundle_()
    assert stored["application/vnd.jupyter.widget-view+json"]["model_id"] == shown.model_id
    assert stored["text/plain"].startswith("Explorer(Train & look")
    page = stored["text/html"]
    assert 'alt="GAP rises, then levels off." src="data:image/svg+xml;base64,' in page
    assert "K = 5 films. highest" in page
    assert "<li>Fargo (1996)</li>" in page


def test_a_still_of_the_rater_says_what_was_graded(model):
    fitted, ratings = model
    rater = rate_films(fitted, ratings, [3, 0, 7], {"all": [1, 1, 1]})
    rater.controls[1].value = 4
    page = rater._repr_mimebundle_()["text/html"]
    assert f"{ratings.titles[0]}: 4" in page
    assert page.count("<li>") == 10


# ---------------------------------------------------------------- dollars


DOLLARS = "$5 to $9 & more"


def every_widget(widget):
    yield widget
    for child in getattr(widget, "children", ()):
        yield from every_widget(child)


def test_no_widget_sets_words_as_mathematics(model):
    """Label and HTMLMath, and each description, are handed to MathJax by the front end."""
    fitted, ratings = model
    ratings = Ratings(
        ratings.indptr, ratings.indices, ratings.grades,
        n_items=ratings.n_items, max_grade=5, titles=[DOLLARS] * ratings.n_items,
    )  # fmt: skip
    parts = (
        Parameter("reg", DOLLARS, [1, 2], 1, DOLLARS),
        Parameter("n_steps", "K", "ab", "a"),
    )
    shown = make(lambda reg, n_steps: View(rows=[DOLLARS]), parts)
    rater = rate_films(fitted, ratings, [3, 0], {"all": [1, 1]})
    escaped = DOLLARS.replace("&", "&amp;")
    seen = []
    for widget in [*every_widget(shown), *every_widget(rater)]:
        assert not isinstance(widget, ipywidgets.Label | ipywidgets.HTMLMath)
        if getattr(widget, "description", ""):
            assert widget.description_allow_html
            assert widget.description.startswith('<span class="mathjax_ignore">')
        seen += [getattr(widget, "description", ""), str(getattr(widget, "value", ""))]
    assert sum(escaped in text for text in seen) == 5  # label, unit, list, and two films


def test_words_in_a_picture_are_not_mathematics_either():
    view = View([Curve(DOLLARS, [0, 1], [0, 1])], marks=[(0, 0, DOLLARS)])
    words = {"x_label": DOLLARS, "y_label": DOLLARS}
    shown = make(lambda reg, n_steps: view, **words)
    for _ in range(2):  # emptied axes keep their labels
        ax = shown._canvas.figure.axes[0]
        texts = [*ax.texts, *ax.get_legend().get_texts(), ax.xaxis.label, ax.yaxis.label]
        assert [text.get_text() for text in texts] == [DOLLARS] * 4
        assert not any(text.get_parse_math() for text in texts)
        shown.dials["n_steps"].control.value = 5


# ---------------------------------------------------------------- rate films yourself


TASTES = {"comedies": [5, 4, 0, 0, 1], "thrillers": [0, 1, 5, 5, 0]}


def test_grades_lead_to_the_ten_best_of_the_other_films(model):
    fitted, ratings = model
    items = [3, 0, 7, 11, 20]
    rater = rate_films(fitted, ratings, items, TASTES)
    assert isinstance(rater, FilmRater)
    assert "Nothing rated yet" in rater.readout.value
    rater.controls[0].value, rater.controls[2].value = 5, 1
    assert rater.grades == [5, 0, 1, 0, 0]
    scores = fitted.item_factors_ @ fitted.fold_in([3, 7], [5, 1])
    best = [i for i in np.argsort(-scores, kind="stable") if i not in (3, 7)][:10]
    assert re.findall("<li>(.*?)</li>", rater.rows.value) == list(ratings.titles[best])
    assert repr(rater) == "FilmRater(Rate ten films yourself; 2 films rated)"


def test_the_list_counts_the_item_bias_of_a_model_that_has_one():
    ratings = simulate_ratings(60, 40, random_state=3)
    fitted = GAPfm(4, objective="consistent", n_iter=10, random_state=0).fit(ratings)
    items, grades = np.array([3, 7]), [5, 1]
    scores = fitted.item_factors_ @ fitted.fold_in(items, grades)
    best, without = (
        [i for i in np.argsort(-f, kind="stable") if i not in items][:10]
        for f in (scores + fitted.item_bias_, scores)
    )
    assert best != without
    assert list_for(fitted, ratings, items, grades).rows == list(ratings.titles[best])


def test_a_taste_of_the_wrong_length_is_refused(model):
    with pytest.raises(ValueError, match=r"'short' has 2 grades for 3 items"):
        rate_films(*model, [1, 2, 3], {"short": [1, 2]})


def test_names_at_the_axis_give_a_picture_that_holds_them():
    def named(reg, n_steps):
        return View([Curve("mean", np.arange(20.0), np.arange(20.0), dots=True)])

    names = [f"system {k}" for k in range(20)]
    figure, tall = (make(named, y_names=y)._canvas.figure for y in ((), names))
    (ax,) = tall.axes
    assert [text.get_text() for text in ax.get_yticklabels()] == names
    assert ax.get_ylim() == (19.5, -0.5)
    assert tall.get_figheight() > figure.get_figheight()
    assert ax.lines[0].get_linestyle() == "None"
