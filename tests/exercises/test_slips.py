"""What a student may write, as she would write it, and the one sentence that it is answered with."""

import numpy as np
import pytest

from gapfm_course.exercises import EXERCISES
from gapfm_course.exercises.core import judge
from gapfm_teach.gradcheck import central_difference, relative_error
from gapfm_teach.paper import cumulative_weights, thresholding_probabilities


def g(x):
    return 1 / (1 + np.exp(-x))


def beta(grades, delta):
    worth = np.append(0.0, np.cumsum(delta))[grades]
    return np.minimum.outer(worth, worth)


def mean_of_average_precisions(grades, delta):
    each = []
    for level in range(1, len(delta) + 1):
        hits = grades >= level
        precision = np.cumsum(hits) / np.arange(1, len(grades) + 1)
        each.append(precision[hits].mean())
    return np.mean(each)


def gap_without_itself(grades, delta):
    rank = np.arange(1, len(grades) + 1)
    earned = np.tril(beta(grades, delta), -1).sum(axis=1) / rank
    return earned.sum() / np.diag(beta(grades, delta)).sum()


def smoothed_but_for_the_rank(scores, grades, delta):
    place = np.array([1 + np.sum(scores > f) for f in scores])
    above = g(scores[None, :] - scores[:, None])
    worth = np.cumsum(delta)[grades - 1]
    return np.sum((np.minimum.outer(worth, worth) * above).sum(axis=1) / place)


def cosine_check(f, gradient, x):
    a, b = gradient(x), central_difference(f, x)
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b) > 0.999999


def loose_check(f, gradient, x):
    return relative_error(gradient(x), central_difference(f, x)) < 0.05


def keep_one_too_few(gaps, patience):
    best = 1
    for iteration, gap in enumerate(gaps, start=1):
        if gap > gaps[best - 1]:
            best = iteration
        elif iteration - best > patience - 2:
            break
    return best


def keep_until_it_falls(gaps, patience):
    for i in range(1, len(gaps)):
        if gaps[i] <= gaps[i - 1]:
            return i
    return len(gaps)


def list_loss_of_single_weights(grades):
    worth = thresholding_probabilities(5)[grades - 1]
    z = cumulative_weights(thresholding_probabilities(5))[grades].sum()
    lost = 0.0
    for i in range(len(worth)):
        for j in range(i):
            lost += max(0, worth[i] - worth[j]) / (i + 1)
    return lost / z


def charge_by_columns(worth, t):
    worse = np.maximum(worth[:, None] - worth[None, :], 0)
    ranks = 0.5 + t.sum(axis=0)
    return ((worse * t).sum(axis=1) / ranks).sum() / worth.sum()


def cohens_d(differences):
    return differences.mean() / differences.std(ddof=1)


def mean_of_the_top(grades, n):
    gains = np.sort(2.0**grades - 1)[::-1][:n]
    discounts = 1 / np.log2(np.arange(2, n + 2))
    return gains.mean() * discounts.sum() / (gains @ discounts)


def check_by_the_value(f, gradient, x):
    error = np.linalg.norm(gradient(x) - central_difference(f, x))
    return error / abs(f(x)) < 1e-6


SLIPS = [
    (
        "average-precision",
        lambda r: (np.cumsum(r) / np.arange(1, r.size + 1))[r].mean(),
        "takes the 0s and 1s for positions",
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
    (
        "item-gradient",
        lambda c, U, v, r: U.T @ c - r * v / np.linalg.norm(v),
        "that belongs to the norm",
    ),
    ("gradient-check", check_by_the_value, "divide by the size of f(x)"),
    ("share-empty", lambda m, n, s: 1 - s // (m * n), "`//` divides and rounds down"),
    ("ranks", lambda f: f.argsort().argsort(), "Upside down, and from 0"),
    ("by-hand", 0.125, "The term j = i is missing"),
    ("gap", mean_of_average_precisions, "That is the plain mean of the AP_l"),
    ("gap", gap_without_itself, "The term j = i is missing"),
    ("smoothed-gap", smoothed_but_for_the_rank, "The outer factor is the exact 1/R_i"),
    ("item-gradient", lambda c, U, v, r: 3 * (U.T @ c - r * v), "is 3 times what is asked"),
    (
        "item-gradient",
        lambda c, U, v, r: (U.T @ c - r * v) / 2,
        "is 0.5 times what is asked",
    ),
    ("gradient-check", cosine_check, "The cosine is blind to length"),
    ("gradient-check", loose_check, "Your tolerance lets an error of 1% through"),
    (
        "gradient-check",
        lambda f, d, x: np.allclose(d(x), central_difference(f, x)),
        "`np.allclose` also lets pass",
    ),
    ("patience", keep_one_too_few, "You waited one iteration too short"),
    ("patience", keep_until_it_falls, "This stops at the first fall"),
    (
        "iterations-to-grow",
        lambda k, r, s: np.log(k) / (2 * np.log(1 + r * s)),
        "That is for the *scores*",
    ),
    (
        "iterations-to-grow",
        lambda k, r, s: int(np.ceil(np.log(k) / np.log1p(r * s))),
        "You rounded up to whole iterations",
    ),
    ("list-loss", list_loss_of_single_weights, "You weighed a grade y by δ_y alone"),
    ("effect-size", cohens_d, "That is Cohen's d"),
    ("random-ndcg", mean_of_the_top, "You averaged the n *best* gains"),
    ("charge", charge_by_columns, "You summed the ranks over the wrong axis"),
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
    told = [m.message for m in EXERCISES[name].mistakes if f"✗ {m.message}" == said]
    assert len(set(told)) == 1 or "times what is asked" in says
    assert "\n" not in said
