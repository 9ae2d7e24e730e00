"""Rate ten films yourself: a new user's list, by fold-in, while the model stays as it is."""

import html
from collections.abc import Sequence

import ipywidgets
import numpy as np

from ..model import GAPfm
from ..ratings import Ratings
from .live import LIST, Live, words
from .scene import View, failed, ranked_list, spoken

UNSEEN = "–"
LIST_TITLE = "Your list"


class FilmRater(Live):
    """A row of buttons for each film; every change folds the grades in anew."""

    def __init__(self, model: GAPfm, ratings: Ratings, items: Sequence[int], title: str):
        self.title, self._data, self.items = title, (model, ratings), np.asarray(items)
        names = ratings.titles[self.items]
        self.controls = [_grade_buttons(name, ratings.max_grade) for name in names]
        for control in self.controls:
            control.observe(self._moved, "value")
        self.readout, self.rows = ipywidgets.HTML(), ipywidgets.HTML(layout=LIST)
        self._moved()
        films = [
            ipywidgets.HBox([words(name, layout={"width": "17em"}), control])
            for name, control in zip(names, self.controls, strict=True)
        ]
        heading = ipywidgets.HTML(f"<strong>{html.escape(title)}</strong>")
        shelf = ipywidgets.HBox(
            [ipywidgets.VBox(films), self.rows], layout={"flex_flow": "row wrap"}
        )
        super().__init__([heading, shelf, self.readout])

    @property
    def grades(self) -> list[int]:
        """The grade of each film, 0 for one not seen."""
        return [control.value for control in self.controls]

    def _moved(self, _change=None) -> None:
        try:
            view = list_for(*self._data, self.items, self.grades)
        except Exception as error:
            view = failed(error)
        self.view = view
        self.readout.value = spoken(view.readout)
        self.rows.value = ranked_list(LIST_TITLE, view.rows)

    def still(self) -> str:
        said = html.escape(f"{self.title}. {self.view.readout}")
        return f"<p>{said}</p>{ranked_list(LIST_TITLE, self.view.rows)}"

    def __repr__(self) -> str:
        return f"FilmRater({self.title}; {sum(g > 0 for g in self.grades)} films rated)"


def _grade_buttons(name: str, max_grade: int) -> ipywidgets.ToggleButtons:
    options = [(UNSEEN, 0), *((str(grade), grade) for grade in range(1, max_grade + 1))]
    return ipywidgets.ToggleButtons(
        options=options,
        value=0,
        tooltips=[f"{name}: {'not seen' if g == 0 else g}" for _, g in options],
        style={"button_width": "2.4em"},
    )


def list_for(model: GAPfm, ratings: Ratings, items, grades, n: int = 10) -> View:
    """The n best films for a new user who gave `grades` (0: not seen) to `items`.

    The readout says how many of them also stand on the list of the average user.
    """
    items, grades = np.asarray(items), np.asarray(grades)
    seen = grades > 0
    if not seen.any():
        return View(readout="Nothing rated yet: give at least one film a grade.")
    user = model.fold_in(items[seen], grades[seen])
    bias = 0.0 if model.objective == "paper" else model.item_bias_
    yours, everyones = (
        _best(model.item_factors_ @ u + bias, items[seen], n)
        for u in (user, model.user_factors_.mean(axis=0))
    )
    shared = np.intersect1d(yours, everyones).size
    rated = ", ".join(
        f"{title}: {grade}"
        for title, grade in zip(ratings.titles[items[seen]], grades[seen], strict=True)
    )
    return View(
        rows=[str(title) for title in ratings.titles[yours]],
        readout=f"{rated}. {shared} of the {len(yours)} films also stand on the average user's list.",
    )


def _best(scores: np.ndarray, exclude: np.ndarray, n: int) -> np.ndarray:
    scores = scores.copy()
    scores[exclude] = -np.inf
    order = np.argsort(-scores, kind="stable")
    return order[: min(n, scores.size - exclude.size)]
