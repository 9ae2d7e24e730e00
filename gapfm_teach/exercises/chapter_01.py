"""Exercises of notebook 01. All lists stand in ranked order, the item at rank 1 first."""

import numpy as np

from ..metrics import accumulated, average_precision, graded_average_precision
from .core import Exercise, Mistake

FIFTHS = np.array([1, 3, 7, 15, 31]) / 32  # (5) for five grades


def _descending(values) -> np.ndarray:
    return -np.arange(len(values), dtype=float)


def _beta(grades, delta):
    worth = accumulated(delta)[grades]
    return np.minimum.outer(worth, worth)


def _gap(grades, delta):
    return graded_average_precision(grades, _descending(grades), delta=delta)


def _gap_with(grades, delta, *, discount=True, all_pairs=False, ranks_of_rated=False):
    """GAP with one part of (2) done otherwise."""
    if ranks_of_rated:
        grades = grades[grades > 0]
    pairs = _beta(grades, delta)
    counted = pairs if all_pairs else np.tril(pairs)
    rank = np.arange(1, len(grades) + 1) if discount else np.ones(len(grades))
    return np.sum(counted.sum(axis=1) / rank) / np.trace(pairs)


def _gap_outer_pair_normaliser(grades, delta):
    pairs = _beta(grades, delta)
    rank = np.arange(1, len(grades) + 1)
    return np.sum(np.tril(pairs).sum(axis=1) / rank) / pairs.sum()


def _last_for_unrated(measure, grades, delta):
    """With np.cumsum(delta)[grades - 1] for Δ: index -1, the last entry, where the grade is 0."""
    return measure(np.where(grades == 0, len(delta), grades), delta)


_LAST_FOR_UNRATED = (
    "Right where all items are rated. For grade 0, an index `grades - 1` is -1, and that picks "
    "the *last* entry of an array: put Δ(0) = 0 in front instead."
)


def _precisions(relevant):
    return np.cumsum(relevant) / np.arange(1, len(relevant) + 1)


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
        mistakes=[
            Mistake(
                lambda relevant: np.mean(_precisions(relevant)),
                "You average over *all* ranks. Take the precision only where the item is a "
                "hit.",
            ),
            Mistake(
                lambda relevant: np.mean(_precisions(relevant) * relevant),
                "You look at the hits only, which is right, but divide by the length of the "
                "list: divide by the number of hits.",
            ),
            Mistake(
                lambda relevant: np.mean(relevant),
                "This is the precision of the whole list: it does not depend on the order.",
            ),
            Mistake(
                lambda relevant: np.mean(1 / (np.flatnonzero(relevant) + 1)),
                "You average 1/rank over the hits. The numerator is missing: how many hits "
                "have been seen down to that rank.",
            ),
            Mistake(
                lambda relevant: np.sum(_precisions(relevant) * relevant),
                "That is the *sum* of the precisions at the hits. Divide it by their number.",
            ),
        ],
    ),
    Exercise(
        name="by-hand",
        solution=0.75,
        right="Right: item 1 earns 1, item 2 earns (1 + 3)/2 = 2, together 3 of Z = 4.",
        mistakes=[
            Mistake(
                3.0, "That is the sum 1 + 2; it remains to divide by Z = Δ(1) + Δ(3) = 4."
            ),
            Mistake(
                0.625,
                "You let each item earn from itself alone: 1 + 3/2. At rank 2 the item "
                "above counts too, with β = Δ(min(1, 3)) = 1.",
            ),
            Mistake(
                1.0,
                "That is the value of the ideal order (3, 1). Either β of the two is the "
                "higher Δ in your sum (it is the lower), or rank 1 also counted the item "
                "below it.",
            ),
            Mistake(
                2 / 3,
                "That is the plain mean of AP_1 = 1, AP_2 = AP_3 = 1/2. In GAP they weigh "
                "w_l = δ_l n_l: 2, 1 and 1.",
            ),
        ],
    ),
    Exercise(
        name="beta",
        solution=_beta,
        inputs=[
            (np.array([3, 1, 2, 2]), np.array([1.0, 2.0, 4.0])),
            (np.array([5, 0, 4, 1, 3]), FIFTHS),
        ],
        right="Right: the accumulated δ of the lower grade of each pair. It is symmetric, "
        "and 0 where an item is unrated.",
        mistakes=[
            Mistake(
                lambda grades, delta: np.append(0.0, delta)[
                    np.minimum.outer(grades, grades)
                ],
                "This is the δ of the lower grade itself. β sums all δ *up to* that grade.",
            ),
            Mistake(
                lambda grades, delta: np.maximum.outer(
                    accumulated(delta)[grades], accumulated(delta)[grades]
                ),
                "This takes the higher grade of the pair. Both items must pass the "
                "threshold, so the *lower* grade decides.",
            ),
            Mistake(
                lambda grades, delta: np.outer(
                    accumulated(delta)[grades], accumulated(delta)[grades]
                ),
                "This multiplies Δ(y_i) by Δ(y_j), as if each item had a threshold of its "
                "own. One reader has one threshold for the whole list.",
            ),
            Mistake(
                lambda grades, delta: np.tril(_beta(grades, delta)),
                "The values are right, but you already left out the items below: that is "
                "the job of the condition R_j ≤ R_i. β itself is symmetric.",
            ),
            Mistake(
                lambda grades, delta: np.minimum.outer(grades, grades),
                "This is the lower grade itself, which is β only if all δ are 1. Look up Δ of it.",
            ),
            Mistake(
                lambda grades, delta: _last_for_unrated(_beta, grades, delta),
                _LAST_FOR_UNRATED,
            ),
        ],
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
        mistakes=[
            Mistake(
                lambda grades, delta: _gap_with(grades, delta, all_pairs=True),
                "Each item earns from *all* others. Only those at its rank or above count: "
                "the condition R_j ≤ R_i is missing.",
            ),
            Mistake(
                lambda grades, delta: _gap_with(grades, delta, discount=False),
                "The factor 1/R_i is missing.",
            ),
            Mistake(
                lambda grades, delta: _gap_with(grades, delta, ranks_of_rated=True),
                "Right for lists of rated items only. An unrated item earns nothing, but it "
                "does take up a rank: count ranks over the whole list.",
            ),
            Mistake(
                _gap_outer_pair_normaliser,
                "The sum is right, Z is not: it adds Δ(y_i) over the items, not β over all "
                "pairs.",
            ),
            Mistake(
                lambda grades, delta: (
                    _gap(grades, delta) * np.sum(accumulated(delta)[grades])
                ),
                "The sum is right; it remains to divide by Z, the sum of the Δ(y_i).",
            ),
            Mistake(
                lambda grades, delta: _last_for_unrated(_gap, grades, delta),
                _LAST_FOR_UNRATED,
            ),
        ],
    ),
]
