"""Chapter 3's steps: errors of right and wrong gradients are those of Python's checks."""

import re

import numpy as np
import pytest
from spoken import number

from gapfm_teach import Ratings, objective, smoothed_gap_gradient
from gapfm_teach.gradcheck import central_difference, relative_error
from gapfm_teach.paper import (
    logistic,
    logistic_derivative,
    pair_weights,
    thresholding_probabilities,
)

ITEMS, STARS = [[1, 2, 3, 6], [0, 2, 5, 6]], [[5, 1, 3, 2], [4, 5, 1, 3]]
RATINGS = Ratings([0, 4, 8], [*ITEMS[0], *ITEMS[1]], [*STARS[0], *STARS[1]], n_items=8)
RNG = np.random.default_rng(4)
U, V = RNG.normal(size=(2, 2)), RNG.normal(size=(8, 2))
DELTA = thresholding_probabilities(5)
DATA = {
    "rows": [{"items": i, "grades": y} for i, y in zip(ITEMS, STARS, strict=True)],
    "U": U,
    "V": V,
    "delta": DELTA,
}


def apart(x):
    return x[None, :] - x[:, None]


def slopes(f, y, bug):
    """c = ∂F/∂f, as chapter 3's bugs A, C and E have it."""
    b, g = pair_weights(y, DELTA), logistic(f)
    push = logistic_derivative(f) * (b * logistic(apart(f))).sum(axis=1)
    if bug == "A":
        return push + (b * apart(g) * logistic(apart(f))).sum(axis=1)
    if bug == "C":
        return smoothed_gap_gradient(f, y, DELTA) - logistic_derivative(f) * np.diag(b) / 2
    if bug == "E":
        e = np.exp(f)
        g, above = e / (1 + e), e[None, :] / (e[:, None] + e[None, :])
        push = g * (1 - g) * (b * above).sum(axis=1)
        return push + (b * apart(g) * above * above.T).sum(axis=1)
    return smoothed_gap_gradient(f, y, DELTA)


def claimed(U, V, reg, bug):
    held = [reg * x / (np.linalg.norm(x) if bug == "D" else 1) for x in (U, V)]
    dU, dV = -held[0], -held[1]
    for m, (items, y) in enumerate(zip(ITEMS, STARS, strict=True)):
        c = slopes(V[items] @ U[m], np.array(y), bug)
        dU[m] += V[items].T @ c
        for i, item in enumerate(items):
            dV[i if bug == "B" else item] += c[i] * U[m]
    return np.concatenate([dU, dV])


def python(h, bug="", size=3.0, reg=0.1):
    scale = np.sqrt(size / (U @ V.T).max())
    P, Q = scale * U, scale * V
    with np.errstate(all="ignore"):
        ours = claimed(P, Q, reg, bug)

    def F(x):
        return objective(x[:2], x[2:], RATINGS, reg=reg)

    return relative_error(ours, central_difference(F, np.concatenate([P, Q]), h))


def error(words: str) -> float:
    return number(re.search(r"disagree by (.+?) of the largest", words)[1])


@pytest.fixture
def stage(show):
    return show("differences", DATA, touch=True)


def test_the_slider_and_the_handle_walk_down_pythons_v(stage):
    assert error(stage.said()) == pytest.approx(python(1.0), rel=0.06)
    for place, regime in (
        (20, "Truncation rules"),
        (50, "Truncation rules"),
        (100, "bottom of the V"),
    ):
        words = stage.slide("fine", place)
        assert regime in words
        if place < 100:
            assert error(words) == pytest.approx(python(10 ** -(place / 20)), rel=0.06)
    assert error(words) < 1e-8
    words = stage.slide(
        "fine", 240
    )  # rounding differs from program to program, its size does not
    assert "Rounding rules" in words
    assert 0.05 < error(words) / python(1e-12) < 20
    drawn = stage.root.locator(".gx-curve").nth(2).get_attribute("d")
    assert (
        len(re.findall("[ML]", drawn)) == 97
    )  # eight steps a decade, as far as one has been
    before = error(words)
    for move in (
        lambda: stage.drag("[data-handle=h]", 70, 0),
        lambda: stage.swipe("[data-handle=h]", 30, 0),
        lambda: stage.press("[data-handle=h]", "ArrowLeft"),
    ):
        assert error(move()) != before
        before = error(stage.said())
    stage.after(stage.root.get_by_text("Reset", exact=True).click)
    assert (
        len(re.findall("[ML]", stage.root.locator(".gx-curve").first.get_attribute("d")))
        == 1
    )


@pytest.mark.parametrize(
    ("bug", "size", "reg"),
    [
        ("A factor", 3, 0.1), ("B row", 3, 0.1), ("C objective", 10, 0.02), ("D norm", 3, 0.1),
        ("D norm", 3, 0), ("E overflow", 3, 0.1), ("E overflow", 900, 0.1), ("A factor", 0.1, 0),
    ],
)  # fmt: skip
def test_a_bug_draws_pythons_floor_and_is_blind_where_pythons_check_is(
    show, bug, size, reg
):
    hash = f"#explore-differences:fine=5;bug={bug};size={size};reg={reg}"
    opened = show("differences", DATA, width=390, hash=hash)
    words, expected = opened.said(), python(1e-5, bug[0], size, reg)
    if np.isnan(expected):
        assert "not a number" in words
    elif expected > 1e-6:
        assert error(words) == pytest.approx(expected, rel=0.06)
        assert f"no step brings bug {bug[0]} that low" in words
    else:
        assert error(words) < 1e-6
        assert "cannot see the bug" in words
