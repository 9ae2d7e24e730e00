"""Exercises of notebook 10: slope of the cut-off, who pushes a deep film, pairs."""

from functools import partial

import numpy as np

from gapfm_teach.paper import logistic

from .core import Exercise


def _cost(rank, n, tau, *, half=0.5, by_tau=True, by_rank=True, both=True):
    h = 1 / (1 + (rank / (n + half)) ** (1 / tau))
    slope = h * (1 - h) if both else h
    return slope / (tau if by_tau else 1) / (rank if by_rank else 1)


def _crossing(n, *, half=0.5):
    k = n + half
    return k / (np.sqrt(k) - 1)


CUTOFF_COST = Exercise(
    name="cutoff-cost",
    solution=_cost,
    inputs=[
        (np.array([1.0, 2.0, 5.0, 200.0]), 5, 1.0),
        (np.array([1.5, 3.0, 40.0]), 2, 0.5),
        (np.array([2.0, 10.0]), 10, 0.2),
    ],
    right="For τ = 1 and far below the cut-off it is (n + ½)/R̂²: the slope of 1/R̂, n + ½ times as "
    "steep.",
    mistakes={
        "That is χ′, which is negative. "
        "Asked for is what a rank *costs*: −χ′.": lambda rank, n, tau: -_cost(rank, n, tau),
        "That is the slope in log R̂. "
        "The derivative of the logarithm, 1/R̂, is missing.": partial(_cost, by_rank=False),
        "The inner derivative is missing a factor: "
        "the logarithms are divided by τ.": partial(_cost, by_tau=False),
        "The cut is between n and n + 1: n + ½.": partial(_cost, half=0.0),
        "The derivative of the logistic function g is g (1 − g).": partial(
            _cost, both=False
        ),
        "That is χ. Asked for is what a rank costs, −χ′.": lambda rank, n, tau: (
            1 / (1 + (rank / (n + 0.5)) ** (1 / tau))
        ),
        "You multiplied by τ. The logarithms are *divided* by it, "
        "so the slope is, too.": lambda rank, n, tau: _cost(rank, n, tau) * tau**2,
    },
)

CROSSING = Exercise(
    name="crossing",
    solution=_crossing,
    inputs=[(2,), (5,), (10,), (50,)],
    right="For n = 5 it is just above 4. From there to the end of the catalogue GR@n pushes harder, "
    "at last n + ½ times as hard; at the very top GAP does.",
    mistakes={
        "The cut is at n + ½, not at n.": partial(_crossing, half=0.0),
        "A sign slipped when R̂ went to one side: this solves √k R̂ = k − R̂, "
        "and not k + R̂.": lambda n: (n + 0.5) / (np.sqrt(n + 0.5) + 1),
        "There χ is ½ and its slope 1/(4R̂). Is that 1/R̂²?": lambda n: n + 0.5,
        "Nearly: k = n + ½ is missing on top. √k R̂ = k + R̂.": lambda n: (
            1 / (np.sqrt(n + 0.5) - 1)
        ),
        "That is the other square root, √k R̂ = −(k + R̂). It makes R̂ negative, "
        "and no rank is.": lambda n: -(n + 0.5) / (np.sqrt(n + 0.5) + 1),
        "Brackets: `n + 0.5 / x` divides only the 0.5.": lambda n: (
            n + 0.5 / (np.sqrt(n + 0.5) - 1)
        ),
        "The root is missing: k R̂² = (k + R̂)² gives √k R̂ = k + R̂.": lambda n: (
            (n + 0.5) / (n - 0.5)
        ),
    },
)


def _pair_slopes(scores, grades, *, pairs=None, won=1.0, lost=1.0, sign=1.0):
    """Slopes of the pairwise logistic loss, with places where a slip can be put in."""
    if pairs is None:
        pairs = grades[:, None] > grades[None, :]
    push = pairs * logistic(sign * (scores[None, :] - scores[:, None]))
    return won * push.sum(axis=1) - lost * push.sum(axis=0)


def _grades_apart(grades):
    return np.maximum(grades[:, None] - grades[None, :], 0)


def _pairs_alone(scores, grades):
    better = grades[:, None] > grades[None, :]
    return (better.sum(axis=1) - better.sum(axis=0)).astype(float)


def _per_pair(scores, grades):
    return _pair_slopes(scores, grades) / np.sum(grades[:, None] > grades[None, :])


PAIR_SLOPES = Exercise(
    name="pair-slopes",
    solution=_pair_slopes,
    inputs=[
        (np.array([0.5, 1.5, -1.0]), np.array([5, 1, 3])),
        (np.array([2.0, -0.3, 0.4, 0.4, -2.0]), np.array([2, 4, 4, 1, 5])),
        (np.array([0.0, 3.0, 1.0, -1.0]), np.array([1, 3, 3, 2])),
    ],
    right="The slopes add up to 0, and a pair that is right by far hardly pushes any more.",
    mistakes={
        "Only what a film wins against worse ones is there. "
        "It also loses to each better one.": partial(_pair_slopes, lost=0.0),
        "Only what a film loses to better ones is there. "
        "It also wins against each worse one.": partial(_pair_slopes, won=0.0),
        "Both parts push up. The better film of a pair is pushed up, "
        "the worse one *down*.": partial(_pair_slopes, lost=-1.0),
        "You push by g(f_i − f_j): most where the pair stands right already. "
        "The slope of log g(x) is g(−x).": partial(_pair_slopes, sign=-1.0),
        "The sign of the whole: these are the slopes of the loss −F. "
        "Asked for are those of F, which is climbed.": lambda f, y: -_pair_slopes(f, y),
        "Pairs of equal grades are in your sum. Nothing is to be said about those: "
        "`>`, not `>=`.": lambda f, y: _pair_slopes(f, y, pairs=y[:, None] >= y[None, :]),
        "You weighed each pair by how far its grades are apart. "
        "Here all pairs count 1.": lambda f, y: _pair_slopes(f, y, pairs=_grades_apart(y)),
        "You counted the pairs. "
        "Each pushes by g(f_j − f_i), the less the better it stands.": _pairs_alone,
        "You took the mean over the pairs. F is their sum.": _per_pair,
        "You looked at pairs with i before j in the array only. Which of "
        "two films is listed first says nothing: go over all i and all j.": lambda f, y: (
            _pair_slopes(f, y, pairs=np.triu(y[:, None] > y[None, :]))
        ),
    },
)

EXERCISES: list[Exercise] = [CUTOFF_COST, CROSSING, PAIR_SLOPES]
