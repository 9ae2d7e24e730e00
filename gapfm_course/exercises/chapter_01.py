"""Exercises of notebook 01. All lists are in ranked order, with the item at rank 1 first."""

from functools import partial

import numpy as np

from gapfm_teach.metrics import average_precision, graded_average_precision
from gapfm_teach.paper import cumulative_weights

from .core import Exercise

FIFTHS = np.array([1, 3, 7, 15, 31]) / 32  # (5) for five grades


def _descending(values) -> np.ndarray:
    return -np.arange(len(values), dtype=float)


def _beta(grades, delta):
    worth = cumulative_weights(delta)[grades]
    return np.minimum.outer(worth, worth)


def _gap(grades, delta):
    return graded_average_precision(grades, _descending(grades), delta=delta)


def _gap_with(
    grades, delta, *, rank=1, keep=np.tril, pairs=_beta, over=None, ranks_of_rated=False
):
    """GAP with one part of (2) done differently, and Z as the sum of `over(grades)` if given."""
    if ranks_of_rated:
        grades = grades[grades > 0]
    rank = np.arange(rank, rank + len(grades)) if rank is not None else 1
    with np.errstate(divide="ignore", invalid="ignore"):
        earned = np.sum(keep(pairs(grades, delta)).sum(axis=1) / rank)
    return earned / np.sum(over(grades) if over else cumulative_weights(delta)[grades])


def _single_beta(grades, delta):
    weights = np.append(0.0, delta)[grades]
    return np.minimum.outer(weights, weights)


def _mean_of_aps(grades, delta, weights=None):
    levels = np.arange(1, len(delta) + 1)
    each = [average_precision(grades >= level, _descending(grades)) for level in levels]
    return np.average(each, weights=weights)


def _gap_outer_pair_normaliser(grades, delta):
    pairs = _beta(grades, delta)
    rank = np.arange(1, len(grades) + 1)
    return np.sum(np.tril(pairs).sum(axis=1) / rank) / pairs.sum()


def _last_for_unrated(measure, grades, delta):
    """With np.cumsum(delta)[grades - 1] for Δ: index -1, the last entry, where the grade is 0."""
    return measure(np.where(grades == 0, len(delta), grades), delta)


def _precisions(relevant):
    return np.cumsum(relevant) / np.arange(1, len(relevant) + 1)


def _hits_above(relevant, *, own, first=1):
    """Mean over the hits of the share of hits above each, where the hit itself counts `own`."""
    rank = np.arange(first, first + len(relevant))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (np.cumsum(relevant) - 1 + own) / rank
    return share[relevant == 1].mean()


EXERCISES: list[Exercise] = [
    Exercise(
        name="average-precision",
        solution=lambda relevant: average_precision(relevant, _descending(relevant)),
        inputs=[
            (np.array([1, 0, 1, 1]),),
            (np.array([0, 0, 1, 0, 1, 0]),),
            (np.array([1, 1, 0, 0, 0]),),
        ],
        right="Right. AP takes the precision at the hits only, and averages it over the hits.",
        mistakes={
            "You average over *all* ranks. Take the precision only "
            "at the ranks of the hits.": lambda relevant: np.mean(_precisions(relevant)),
            "`precision[relevant]` uses the 0s and 1s as positions, and picks the first "
            "two entries again and again. "
            "For the entries at the hits, write `precision[relevant == 1]`.": lambda relevant: (
                np.mean(_precisions(relevant)[relevant])
            ),
            "You add up at the hits only, which is right, but you divide by the length of the "
            "list. Divide by the "
            "number of hits.": lambda relevant: np.mean(_precisions(relevant) * relevant),
            "This is the precision of the whole list, "
            "which does not depend on the order.": lambda relevant: np.mean(relevant),
            "You average 1/rank over the hits. The numerator is missing. It is the number "
            "of hits seen down "
            "to that rank.": lambda relevant: np.mean(1 / (np.flatnonzero(relevant) + 1)),
            "This is the *sum* of the precisions at the hits. Divide it "
            "by the number of hits.": lambda relevant: np.sum(
                _precisions(relevant) * relevant
            ),
            "You average the number of hits seen so far. A precision is that number divided "
            "by the rank.": lambda relevant: np.mean(np.cumsum(relevant)[relevant == 1]),
            "Your ranks begin at 0, and you divide by them. "
            "The first item has rank 1.": partial(_hits_above, own=1, first=0),
            "You count only the hits *above* each hit. The hit itself counts, too.": partial(
                _hits_above, own=0
            ),
        },
    ),
    Exercise(
        name="by-hand",
        solution=0.75,
        right="Right. Item 1 contributes 1 and item 2 contributes (1 + 3)/2 = 2. That is 3, and Z = 4.",
        mistakes={
            "This is the sum 1 + 2. Now divide it by Z = Δ(1) + Δ(3) = 4.": 3.0,
            "You counted each item with itself alone, which gives 1 + 3/2. "
            "At rank 2, the item above counts too, with β = Δ(min(1, 3)) = 1.": 0.625,
            "This is the value of the ideal order (3, 1). Either you took the higher Δ for β "
            "(it is the lower one), "
            "or rank 1 also counted the item below it.": 1.0,
            "This is the plain mean of AP_1 = 1, AP_2 = AP_3 = 1/2. "
            "In GAP, they have the weights w_l = δ_l n_l⁺, which are 2, 1 and 1.": 2 / 3,
            "The factor 1/R_i is missing. "
            "Divide the contribution of the item at rank 2 by 2.": 1.25,
            "The term j = i is missing. "
            "The sum for item i also contains β_ii = Δ(y_i).": 0.125,
            "You divided by 6, the sum of β over all pairs. "
            "Z is the sum of the Δ(y_i), which is 4.": 0.5,
            "You divided by the number of items. Z is the sum of the Δ(y_i), which is 4.": 1.5,
            "You divided everything by 2. "
            "Only the item at rank 2 has the factor 1/2.": 0.375,
            "This is right in percent, but GAP is between 0 and 1.": 75,
            "This is what AP_1 and AP_3 give with w_1 = 2 and w_3 = 1. AP_2 counts as well: "
            "nobody gave a 2, but the 3 reaches that threshold.": 5 / 6,
            "Either you counted the items *below* an item, or you took the mean for β. "
            "Count the items at or above it, with β = Δ(min(1, 3)) = 1.": 7 / 8,
        },
    ),
    Exercise(
        name="gap",
        solution=_gap,
        inputs=[
            (np.array([3, 1, 2, 2]), np.ones(3)),
            (np.array([0, 4, 0, 5, 1, 3]), FIFTHS),
            (np.array([1, 2, 0, 3]), np.array([1.0, 3.0, 7.0]) / 8),
        ],
        right="Right. You have programmed the paper's (2), (3) and (4).",
        mistakes={
            "You counted each item with *all* others. Only the items at its rank or above "
            "count, because of the condition R_j ≤ R_i.": partial(
                _gap_with, keep=np.asarray
            ),
            "The factor 1/R_i is missing.": partial(_gap_with, rank=None),
            "This is right only for lists without unrated items. An unrated item contributes "
            "nothing, but it takes up a rank. "
            "Count ranks over the whole list.": partial(_gap_with, ranks_of_rated=True),
            "The sum is right, but Z is not. Z is the sum of the Δ(y_i), "
            "not of β over all pairs.": _gap_outer_pair_normaliser,
            "The sum is right. Now divide it by Z, the sum of the Δ(y_i).": partial(
                _gap_with, over=lambda grades: 1.0
            ),
            "This is right if all items are rated. For grade 0, the index `grades - 1` is -1, "
            "which picks the *last* entry of an array. "
            "Put Δ(0) = 0 in front instead.": lambda grades, delta: _last_for_unrated(
                _gap, grades, delta
            ),
            "This is the plain mean of the AP_l. "
            "In GAP, AP_l has the weight w_l = δ_l n_l⁺.": _mean_of_aps,
            "You gave AP_l the weight δ_l. In GAP, its weight is w_l = δ_l n_l⁺, "
            "where n_l⁺ is the number of items that are relevant at threshold l.": lambda grades, delta: (
                _mean_of_aps(grades, delta, delta)
            ),
            "The term j = i is missing. R_j ≤ R_i holds for the item itself, too.": partial(
                _gap_with, keep=lambda b: np.tril(b, -1)
            ),
            "You counted each item with itself alone, Δ(y_i)/R_i. The items "
            "above it count, too.": partial(_gap_with, keep=lambda b: np.diag(np.diag(b))),
            "You counted each item with those *below* it. The condition R_j ≤ R_i asks for those "
            "at its rank or above, so use `np.tril` and not `np.triu`.": partial(
                _gap_with, keep=np.triu
            ),
            "You used the δ of the lower grade. β is its Δ, "
            "the sum of all δ up to that grade.": partial(_gap_with, pairs=_single_beta),
            "Your ranks begin at 0, and you divide by them. "
            "The first item has rank 1.": partial(_gap_with, rank=0),
            "You divided by the number of items. Z is the sum of the Δ(y_i).": partial(
                _gap_with, over=np.ones_like
            ),
            "You divided by the number of rated items. "
            "Z is the sum of the Δ(y_i).": partial(_gap_with, over=np.sign),
        },
    ),
]
