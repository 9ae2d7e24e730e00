"""Exercises of notebook 02: smoothed GAP, its supremum, and the rank that repairs it."""

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
    """Smoothed GAP (8), with places where a slip can be put in."""
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
    right="That is (8). Every pair of films meets twice in it, once in each row.",
    mistakes={
        "The difference is the wrong way round: g(f_i − f_j) asks whether j stands *below* "
        "i. The inner sum wants g(f_j − f_i). Or, if yours is that, you summed over i: "
        "the inner sum is over j, `axis=1`.": partial(_assembled, sign=-1.0),
        "The term j = i is missing. (8) keeps it, with g(0) = ½.": partial(
            _assembled, own=0.0
        ),
        "You gave the term j = i its exact value 1. That is the better choice, and "
        "`consistent_gap` makes it, "
        "but (8) as printed has g(0) = ½ there.": partial(_assembled, own=1.0),
        "You divided by Z. (8) leaves 1/Z out.": lambda f, y, d: (
            smoothed_gap(f, y, d) / np.trace(pair_weights(y, d))
        ),
        "The outer factor g(f_i), the stand-in for 1/R_i, is missing.": partial(
            _assembled, outer=np.ones_like
        ),
        "You used δ of the lower grade. β needs the accumulated Δ(y) = δ_1 + … + δ_y: "
        "np.cumsum(delta)[grades - 1].": partial(_assembled, pairs=_single_beta),
        "The outer factor is the exact 1/R_i here. (8) has "
        "its smooth stand-in, g(f_i).": partial(_assembled, outer=lambda f: 1 / ranks(f)),
        "Whether j stands above i is exact here, yes or no. "
        "(8) has its smooth stand-in, g(f_j − f_i).": _exactly_above,
        "You used the lower grade itself. "
        "β is Δ of it: np.cumsum(delta)[grades - 1].": partial(
            _assembled, pairs=lambda y, d: np.minimum.outer(y, y)
        ),
        "You kept the pairs of one triangle only. g(f_j "
        "− f_i) takes the place of the condition R_j ≤ R_i, so all pairs count.": partial(
            _assembled, pairs=lambda y, d: np.tril(pair_weights(y, d))
        ),
        "You took the mean over the films. (8) is a sum.": lambda f, y, d: (
            smoothed_gap(f, y, d) / len(f)
        ),
        "Each pair counts Δ of one of the two films, whichever that is. "
        "β is the smaller of the two.": lambda f, y, d: np.sum(
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
    right="Order and grades do not appear in your formula: any list gets there.",
    mistakes={
        "You moved the highest score to log(q/(1 − q)). That is the upper bound: F *could* "
        "reach the share. A guarantee "
        "looks at the lowest score.": lambda scores, q: _logit(q) - np.max(scores),
        "log(q/(1 − q)) is where the lowest score must end up. "
        "How far is it from there?": lambda scores, q: _logit(q),
        "The sign is turned round: lowest "
        "score + shift = log(q/(1 − q)).": lambda scores, q: np.min(scores) - _logit(q),
        "You moved the mean of the scores. The theorem's "
        "lower bound is g of the *lowest*.": lambda scores, q: _logit(q) - np.mean(scores),
        "g(x) = q has the solution x = log(q/(1 − q)), not log q.": lambda scores, q: (
            np.log(q) - np.min(scores)
        ),
        "The logarithm is missing: g(x) = q has "
        "the solution x = log(q/(1 − q)).": lambda scores, q: q / (1 - q) - np.min(scores),
        "Upside down in the logarithm: g(x) = q has "
        "the solution x = log(q/(1 − q)).": lambda scores, q: -_logit(q) - np.min(scores),
        "This is how much g of the lowest score has to grow. Asked for is how far the "
        "*score* has to move: "
        "solve g(x) = q for x first.": lambda scores, q: q - logistic(np.min(scores)),
        "That is g(q). Asked for is the x with g(x) = q, the inverse: "
        "x = log(q/(1 − q)).": lambda scores, q: logistic(q) - np.min(scores),
        "You moved the lowest *score* to q. "
        "It is g of it that has to reach q.": lambda scores, q: q - np.min(scores),
        "Where the lowest score is already higher than it needs to be, the smallest shift "
        "that does is negative: all may move down. Leave "
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
    right="As τ goes to 0 this is the rank, and a constant added to all scores changes nothing.",
    mistakes={
        "Half a rank too many: with 1 in front *and* j = i in the sum, a "
        "film counts itself once and a half.": lambda f, tau: 0.5 + consistent_rank(f, tau),
        "Half a rank too few: the film itself gives only g(0) = ½. "
        "What must stand in front?": lambda f, tau: consistent_rank(f, tau) - 0.5,
        "Your list is upside down: the highest score has the largest rank. "
        "Count the films with f_j above f_i.": lambda f, tau: consistent_rank(-f, tau),
        "You multiplied by τ. Dividing makes the "
        "switch harder as τ gets smaller.": lambda f, tau: consistent_rank(f, 1.0 / tau),
        "τ is not used: divide the difference of the scores by it.": lambda f, tau: (
            consistent_rank(f, 1.0)
        ),
        "That is 1/R̂. The exercise asks for R̂ itself.": lambda f, tau: (
            1.0 / consistent_rank(f, tau)
        ),
        "This is the exact rank. The smooth one counts "
        "with g((f_j − f_i)/τ) how surely each film stands above.": lambda f, tau: ranks(f),
        "Two slips: your list is upside down, and half a rank "
        "is missing in front of the sum.": lambda f, tau: consistent_rank(-f, tau) - 0.5,
        "Two slips: your list is upside down, and with 1 in front *and* j = i in the sum, "
        "a film counts itself once "
        "and a half.": lambda f, tau: 0.5 + consistent_rank(-f, tau),
    },
)

EXERCISES: list[Exercise] = [SMOOTHED, SHIFT_NEEDED, SMOOTH_RANK]
