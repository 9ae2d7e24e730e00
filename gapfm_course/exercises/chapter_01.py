"""Exercises of notebook 01. All lists stand in ranked order, the item at rank 1 first."""

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
    """GAP with one part of (2) done otherwise, Z as the sum of `over` the grades if given."""
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
    """Mean at the hits of the share of hits among the items above, with `own` for the hit."""
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
        right="Right. Precision is read off at the hits only, and averaged over them.",
        mistakes={
            "You average over *all* ranks. Take the precision only "
            "where the item is a hit.": lambda relevant: np.mean(_precisions(relevant)),
            "`precision[relevant]` takes the 0s and 1s for positions, and picks the first "
            "two entries again and again. "
            "Entries where it is 1: `precision[relevant == 1]`.": lambda relevant: np.mean(
                _precisions(relevant)[relevant]
            ),
            "You look at the hits only, which is right, but divide by the length of the "
            "list: divide by the "
            "number of hits.": lambda relevant: np.mean(_precisions(relevant) * relevant),
            "This is the precision of the whole list: "
            "it does not depend on the order.": lambda relevant: np.mean(relevant),
            "You average 1/rank over the hits. The numerator is missing: how many hits "
            "have been seen down "
            "to that rank.": lambda relevant: np.mean(1 / (np.flatnonzero(relevant) + 1)),
            "That is the *sum* of the precisions at the hits. Divide it "
            "by their number.": lambda relevant: np.sum(_precisions(relevant) * relevant),
            "You average how many hits have been seen. A precision is that number divided "
            "by the rank.": lambda relevant: np.mean(np.cumsum(relevant)[relevant == 1]),
            "Your ranks begin at 0, and you divide by them. "
            "The first item has rank 1.": partial(_hits_above, own=1, first=0),
            "You count the hits *above* each hit. The hit itself counts, too.": partial(
                _hits_above, own=0
            ),
        },
    ),
    Exercise(
        name="by-hand",
        solution=0.75,
        right="Right: item 1 earns 1, item 2 earns (1 + 3)/2 = 2, together 3 of Z = 4.",
        mistakes={
            "That is the sum 1 + 2; it remains to divide by Z = Δ(1) + Δ(3) = 4.": 3.0,
            "You let each item earn from itself alone: 1 + 3/2. "
            "At rank 2 the item above counts too, with β = Δ(min(1, 3)) = 1.": 0.625,
            "That is the value of the ideal order (3, 1). Either β of the two is the "
            "higher Δ in your sum (it is the lower), "
            "or rank 1 also counted the item below it.": 1.0,
            "That is the plain mean of AP_1 = 1, AP_2 = AP_3 = 1/2. "
            "In GAP they weigh w_l = δ_l n_l: 2, 1 and 1.": 2 / 3,
            "The factor 1/R_i is missing: "
            "what the item at rank 2 earns is divided by 2.": 1.25,
            "The term j = i is missing: "
            "each item also earns β_ii = Δ(y_i) from itself.": 0.125,
            "You divided by β summed over all pairs, 6. "
            "Z adds up the Δ(y_i) of the items: 4.": 0.5,
            "You divided by the number of items. Z is the sum of the Δ(y_i), 4.": 1.5,
            "You divided everything by 2. "
            "Only the item at rank 2 has the factor 1/2.": 0.375,
            "Right in percent; GAP lies between 0 and 1.": 75,
            "That is what AP_1 and AP_3 give with w_1 = 2 and w_3 = 1. AP_2 counts, too: "
            "nobody gave a 2, but the 3 reaches that threshold.": 5 / 6,
            "Either you let an item earn from those *below* it, or β of the two is their mean. "
            "An item earns from those above it, and β is Δ(min(1, 3)) = 1.": 7 / 8,
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
        right="Right. That is the whole of the paper's (2)–(4).",
        mistakes={
            "Each item earns from *all* others. Only those at its rank or above count: "
            "the condition R_j ≤ R_i is missing.": partial(_gap_with, keep=np.asarray),
            "The factor 1/R_i is missing.": partial(_gap_with, rank=None),
            "Right for lists of rated items only. An unrated item earns nothing, but it "
            "does take up a rank: "
            "count ranks over the whole list.": partial(_gap_with, ranks_of_rated=True),
            "The sum is right, Z is not: it adds Δ(y_i) over the items, "
            "not β over all pairs.": _gap_outer_pair_normaliser,
            "The sum is right; it remains to divide by Z, the sum of the Δ(y_i).": partial(
                _gap_with, over=lambda grades: 1.0
            ),
            "Right where all items are rated. For grade 0, an index `grades - 1` is -1, "
            "and that picks the *last* entry of an array: "
            "put Δ(0) = 0 in front instead.": lambda grades, delta: _last_for_unrated(
                _gap, grades, delta
            ),
            "That is the plain mean of the AP_l. "
            "In GAP they do not weigh alike: AP_l counts w_l = δ_l n_l.": _mean_of_aps,
            "You weighed AP_l by δ_l alone. In GAP it counts w_l = δ_l n_l: "
            "more items at or above a threshold, more weight.": lambda grades, delta: (
                _mean_of_aps(grades, delta, delta)
            ),
            "The term j = i is missing: R_j ≤ R_i holds for the item itself, too.": partial(
                _gap_with, keep=lambda b: np.tril(b, -1)
            ),
            "Each item earns from itself alone here, Δ(y_i)/R_i. The items "
            "above it count, too.": partial(_gap_with, keep=lambda b: np.diag(np.diag(b))),
            "Each item earns from those *below* it. The condition is R_j ≤ R_i, at its "
            "rank or above: `np.tril`, not `np.triu`.": partial(_gap_with, keep=np.triu),
            "You used the δ of the lower grade. β is Δ of it, "
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
