"""What a student may write, as they would write it, and the one sentence that it is answered with."""

import numpy as np
import pytest

from gapfm_course.exercises import EXERCISES
from gapfm_course.exercises.core import judge
from gapfm_teach.gradcheck import central_difference, relative_error


def g(x):
    return 1 / (1 + np.exp(-x))


def beta(grades, delta):
    worth = np.append(0.0, np.cumsum(delta))[grades]
    return np.minimum.outer(worth, worth)


def gap_without_itself(grades, delta):
    rank = np.arange(1, len(grades) + 1)
    earned = np.tril(beta(grades, delta), -1).sum(axis=1) / rank
    return earned.sum() / np.diag(beta(grades, delta)).sum()


def loose_check(f, gradient, x):
    return relative_error(gradient(x), central_difference(f, x)) < 0.05


def keep_until_it_falls(gaps, patience):
    for i in range(1, len(gaps)):
        if gaps[i] <= gaps[i - 1]:
            return i
    return len(gaps)


def cohens_d(differences):
    return differences.mean() / differences.std(ddof=1)


SLIPS = [
    (
        "average-precision",
        lambda r: (np.cumsum(r) / np.arange(1, r.size + 1))[r].mean(),
        "uses the 0s and 1s as positions",
    ),
    (
        "smoothed-gap",
        lambda f, y, d: np.sum(
            g(f) * (beta(y, d) * g(f[None, :] - f[:, None])).sum(axis=0)
        ),
        "you summed over i",
    ),
    (
        "shift-needed",
        lambda f, q: max(0, np.log(q / (1 - q)) - f.min()),
        "Leave out the `max`",
    ),
    ("item-gradient", lambda c, U, v, r: U.T @ c - r / 2 * v, "Half of the regulariser"),
    ("share-empty", lambda m, n, s: 1 - s // (m * n), "`//` divides and rounds down"),
    ("share-empty", lambda m, n, s: 1 - s / m, "users *times* films cells"),
    ("share-empty", lambda m, n, s: s / m, "users *times* films cells"),
    ("share-empty", lambda m, n, s: f"{1 - s / m / n:.2%}", "This is not a number"),
    ("share-empty", lambda m, n, s: str(1 - s / m / n), "This is not a number"),
    ("ranks", sorted, "These are the scores themselves, sorted"),
    ("ranks", lambda scores: range(len(scores)), "You numbered the items in the order"),
    ("by-hand", 0.125, "The term j = i is missing"),
    ("by-hand", 5 / 6, "AP_2 counts as well"),
    ("by-hand", 7 / 8, "counted the items *below* an item"),
    ("by-hand", "0,75", "This is not a number"),
    ("by-hand", (0, 75), "This is not a number"),
    ("shift-needed", lambda f, q: g(q) - f.min(), "This is g(q)"),
    (
        "iterations-to-grow",
        lambda k, r, s: np.log(k) / np.log(1 + r * s**2),
        "You squared σ",
    ),
    ("patience", lambda gaps, patience: np.argmax(gaps), "This looks at all iterations"),
    ("gap", gap_without_itself, "The term j = i is missing"),
    ("item-gradient", lambda c, U, v, r: 3 * (U.T @ c - r * v), "is 3 times what is asked"),
    ("gradient-check", loose_check, "Your tolerance lets an error of 1% through"),
    (
        "gradient-check",
        lambda f, d, x: np.allclose(d(x), central_difference(f, x)),
        "`np.allclose` also accepts",
    ),
    ("patience", keep_until_it_falls, "This stops at the first fall"),
    (
        "iterations-to-grow",
        lambda k, r, s: np.log(k) / (2 * np.log(1 + r * s)),
        "This is the time that the *scores* need",
    ),
    ("effect-size", cohens_d, "That is Cohen's d"),
    (
        "bytes-sent",
        lambda w, n, d: 2 * 8 * n * d * np.log2(w),
        "You counted the levels of the tree",
    ),
]


@pytest.mark.parametrize(("name", "answer", "says"), SLIPS)
def test_a_slip_is_told_and_nothing_else(name, answer, says):
    said = judge(EXERCISES[name], answer)
    assert says in said
    of_any = ("is 3 times what is asked", "This is not a number")
    assert said.removeprefix("✗ ") in EXERCISES[name].mistakes or says in of_any
    assert "\n" not in said
