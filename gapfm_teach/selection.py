"""Which of a user's rated items an iteration updates: Algorithm 1."""

import numpy as np

from ._support.checks import check_count, check_grades, check_scores
from .metrics import ranks


def misranking(grades, scores) -> np.ndarray:
    """|r - r̂| of Algorithm 1, (S,) whole numbers: how far each item stands from its due rank.

    r ranks by grade and r̂ by score, both in descending order among the S rated items; ties
    keep the order given. Raises ValueError for bad grades or unequal lengths.

    >>> from gapfm_teach.selection import misranking
    >>> misranking([2, 4, 5], [0.3, 0.5, 0.1])  # due 3, 2, 1; stand at 2, 1, 3
    array([1, 1, 2])
    """
    grades = check_grades(grades, allow_unrated=False)
    scores = check_scores(scores, length=grades.shape[0])
    return np.abs(ranks(grades) - ranks(scores))


def adaptive_selection(grades, scores, k) -> np.ndarray:
    """The k most misranked items, Algorithm 1.

    Parameters: grades, (S,) >= 1; scores, (S,); k >= 1. Returns positions 0..S-1 in descending
    order of |r - r̂|, ties in the order given; all positions when S <= k. The paper's example:
    grades 2, 4, 5 with scores .3, .5, .1 and k = 1 give the third item. Raises ValueError for
    bad grades, scores or k.

    >>> from gapfm_teach import adaptive_selection
    >>> adaptive_selection([2, 4, 5], [0.3, 0.5, 0.1], 1)
    array([2])
    """
    distance = misranking(grades, scores)
    return np.argsort(-distance, kind="stable")[: check_count(k, "k")]
