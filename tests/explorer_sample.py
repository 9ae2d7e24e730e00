"""One explorer that the tests of both its forms look at."""

import json
import re

import numpy as np

from gapfm_teach.widgets import Curve, Parameter, View, explorer

STEPS = Parameter("n_steps", "K", [5, 20, "all"], 20, "films")
REG = Parameter("reg", "λ", [0, 0.001, 0.1], 0.001)
X = np.arange(0, 41, 2)
TITLES = ["Fargo (1996)", "<b>Scream</b> & shout (1996)", "Contact (1997)"]


def compute(reg, n_steps):
    """A different view for each setting, with a gap in one curve."""
    count = 40 if n_steps == "all" else n_steps
    y = 0.4 * (1 - np.exp(-X / count)) * np.exp(-reg * X)
    with_gap = np.where(X == 10, np.nan, -y)
    rows = TITLES[count // 20 :] + TITLES[: count // 20]
    readout = f"highest {y.max():.4f} with λ = {reg:g}, K = {n_steps}"
    curves = [Curve("held-out GAP", X, y), Curve("mirror </script>", X, with_gap)]
    return View(curves, rows, readout, [(X[3], y[3], "early")])


def make(compute=compute, parameters=(REG, STEPS), **words):
    words = {"title": "Train & look", "alt": "GAP rises, then levels off."} | words
    words = {"x_label": "iteration", "y_label": "GAP", "rows_title": "Your list"} | words
    return explorer(parameters, compute, **words)


def stored(fragment):
    """The JSON in a twin's HTML."""
    return json.loads(re.search(r"application/json\">(.*?)</script>", fragment, re.S)[1])
