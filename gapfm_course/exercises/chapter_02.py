"""Exercises of Chapter 2: smoothed GAP, its supremum, and a consistent smooth rank."""

from functools import partial

import numpy as np

from gapfm_teach.consistent.ranks import consistent_rank
from gapfm_teach.paper import (
    cumulative_weights,
    logistic,
    pair_weights,
    ranks,
    smoothed_gap,
    thresholding_probabilities,
)

from .core import Exercise


def _assembled(
    scores, grades, delta, *, sign=1.0, outer=logistic, own=0.5, pairs=pair_weights
):
    """Smoothed GAP (8), with places where a mistake can be put in."""
    above = logistic(sign * (scores[None, :] - scores[:, None]))
    np.fill_diagonal(above, own)
    return np.sum(outer(scores) * np.sum(pairs(grades, delta) * above, axis=1))


def _single_beta(grades, delta):
    return np.minimum.outer(delta[grades - 1], delta[grades - 1])


def _exactly_above(scores, grades, delta):
    """With I(f_j >= f_i) for g(f_j - f_i), and g(f_i) as it is."""
    above = scores[None, :] >= scores[:, None]
    return np.sum(logistic(scores) * np.sum(pair_weights(grades, delta) * above, axis=1))


def _smoothed_inputs() -> list[tuple]:
    rng = np.random.default_rng(2)
    inputs = [
        (np.array([0.8, 1.4, 0.3]), np.array([3, 1, 2]), thresholding_probabilities(3))
    ]
    for size, highest in ((6, 5), (12, 4)):
        grades = rng.integers(1, highest + 1, size)
        inputs.append((rng.normal(0, 2, size), grades, thresholding_probabilities(highest)))
    return inputs


SMOOTHED = Exercise(
    name="smoothed-gap",
    solution=smoothed_gap,
    inputs=_smoothed_inputs(),
    right="That is (8). Every pair of films occurs in it twice, once in each row.",
    mistakes={
        "The difference is the wrong way round: g(f_i − f_j) asks whether j is *below* i, "
        "and the inner sum needs g(f_j − f_i). If you have that, you summed over i, but "
        "the inner sum is over j, `axis=1`.": partial(_assembled, sign=-1.0),
        "The term j = i is missing. (8) keeps it, with g(0) = ½.": partial(
            _assembled, own=0.0
        ),
        "You gave the term j = i its exact value 1. That is the better choice, and "
        "`consistent_gap` makes it, "
        "but (8) as printed has g(0) = ½ instead.": partial(_assembled, own=1.0),
        "You divided by Z. (8) leaves 1/Z out.": lambda f, y, d: (
            smoothed_gap(f, y, d) / np.trace(pair_weights(y, d))
        ),
        "The outer factor g(f_i), which replaces 1/R_i, is missing.": partial(
            _assembled, outer=np.ones_like
        ),
        "You used δ of the lower grade. β needs the sum Δ(y) = δ_1 + … + δ_y, which is "
        "np.cumsum(delta)[grades - 1].": partial(_assembled, pairs=_single_beta),
        "Your outer factor is the exact 1/R_i. (8) has the smooth g(f_i) instead.": partial(
            _assembled, outer=lambda f: 1 / ranks(f)
        ),
        "You ask exactly, yes or no, whether j is above i. "
        "(8) has the smooth g(f_j − f_i) instead.": _exactly_above,
        "You used the lower grade itself. "
        "β is Δ of this grade: np.cumsum(delta)[grades - 1].": partial(
            _assembled, pairs=lambda y, d: np.minimum.outer(y, y)
        ),
        "You kept the pairs of one triangle only. g(f_j "
        "− f_i) replaces the condition R_j ≤ R_i, so all pairs count.": partial(
            _assembled, pairs=lambda y, d: np.tril(pair_weights(y, d))
        ),
        "You took the mean over the films. (8) is a sum.": lambda f, y, d: (
            smoothed_gap(f, y, d) / len(f)
        ),
        "Each of your pairs counts Δ of the same one of its two films. "
        "β is the smaller of the two values.": lambda f, y, d: np.sum(
            logistic(f)
            * (cumulative_weights(d)[y] * logistic(f[None, :] - f[:, None])).sum(axis=1)
        ),
    },
)


def _logit(q):
    return np.log(q / (1 - q))


SHIFT_NEEDED = Exercise(
    name="shift-needed",
    solution=lambda scores, q: _logit(q) - np.min(scores),
    inputs=[
        (np.array([-1.5, 1.5, 0.5, -0.5]), 0.98),
        (np.array([0.3, 2.0, 0.9]), 0.9),
        (np.array([-4.0, 3.0]), 0.4),
        (np.array([3.0, 4.0]), 0.5),
    ],
    right="Your formula contains neither the order nor the grades, so any list gets there.",
    mistakes={
        "You moved the highest score to log(q/(1 − q)). That belongs to the upper bound, "
        "so F *could* reach the share. A guarantee "
        "needs the lowest score.": lambda scores, q: _logit(q) - np.max(scores),
        "The lowest score must end up at log(q/(1 − q)). "
        "How far does it have to move to get there?": lambda scores, q: _logit(q),
        "The sign is reversed: lowest score + shift = log(q/(1 − q)).": lambda scores, q: (
            np.min(scores) - _logit(q)
        ),
        "You moved the mean of the scores. The theorem's "
        "lower bound is g of the *lowest* score.": lambda scores, q: (
            _logit(q) - np.mean(scores)
        ),
        "g(x) = q has the solution x = log(q/(1 − q)), not log q.": lambda scores, q: (
            np.log(q) - np.min(scores)
        ),
        "The logarithm is missing: g(x) = q has "
        "the solution x = log(q/(1 − q)).": lambda scores, q: q / (1 - q) - np.min(scores),
        "The fraction in the logarithm is upside down: g(x) = q has "
        "the solution x = log(q/(1 − q)).": lambda scores, q: -_logit(q) - np.min(scores),
        "This is how much g of the lowest score has to grow. The question is how far the "
        "*score* has to move, "
        "so solve g(x) = q for x first.": lambda scores, q: q - logistic(np.min(scores)),
        "This is g(q). You need the x with g(x) = q, the inverse: "
        "x = log(q/(1 − q)).": lambda scores, q: logistic(q) - np.min(scores),
        "You moved the lowest *score* to q, "
        "but g of that score has to reach q.": lambda scores, q: q - np.min(scores),
        "If the lowest score is already higher than it needs to be, the smallest shift "
        "is negative, because all scores may move down. Leave "
        "out the `max`.": lambda scores, q: np.maximum(0.0, _logit(q) - np.min(scores)),
    },
)


SMOOTH_RANK = Exercise(
    name="smooth-rank",
    solution=consistent_rank,
    inputs=[
        (np.array([0.8, 1.4, 0.3, -0.5]), 1.0),
        (np.array([2.0, -1.0, 0.1]), 0.05),
        (np.array([5.0, 5.2, 4.0, 4.9, 7.1]), 2.0),
    ],
    right="As τ goes to 0, this tends to the rank. A constant added to all scores changes nothing.",
    mistakes={
        "Your ranks are too large by a half: with 1 in front *and* j = i in the sum, a "
        "film counts itself one and a half times.": lambda f, tau: (
            0.5 + consistent_rank(f, tau)
        ),
        "Your ranks are too small by a half: the film itself gives only g(0) = ½. "
        "What has to be added?": lambda f, tau: consistent_rank(f, tau) - 0.5,
        "Your list is upside down: the highest score has the largest rank number. "
        "Count the films with f_j above f_i.": lambda f, tau: consistent_rank(-f, tau),
        "You multiplied by τ. Dividing makes the "
        "switch harder as τ gets smaller.": lambda f, tau: consistent_rank(f, 1.0 / tau),
        "You do not use τ. Divide the difference of the scores by it.": lambda f, tau: (
            consistent_rank(f, 1.0)
        ),
        "That is 1/R̂. The exercise asks for R̂ itself.": lambda f, tau: (
            1.0 / consistent_rank(f, tau)
        ),
        "This is the exact rank. In the smooth one, each film counts "
        "g((f_j − f_i)/τ), by how far it is above film i.": lambda f, tau: ranks(f),
        "Two mistakes: your list is upside down, and the ½ "
        "in front of the sum is missing.": lambda f, tau: consistent_rank(-f, tau) - 0.5,
        "Two mistakes: your list is upside down, and with 1 in front *and* j = i in the "
        "sum, a film counts itself one and a half "
        "times.": lambda f, tau: 0.5 + consistent_rank(-f, tau),
    },
)

EXERCISES: list[Exercise] = [SMOOTHED, SHIFT_NEEDED, SMOOTH_RANK]
