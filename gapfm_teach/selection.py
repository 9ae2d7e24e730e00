"""Which of a user's rated items an iteration updates: Algorithm 1, and its random rival."""

import numpy as np

from .checks import check_count, check_grades, check_random_state, check_scores


def misranking(grades, scores) -> np.ndarray:
    """|r - r̂| of Algorithm 1, (S,) whole numbers: how far each item stands from its due rank.

    r ranks by grade and r̂ by score, both in descending order among the S rated items; ties
    keep the order given. Raises ValueError for bad grades or unequal lengths.
    """
    grades = check_grades(grades, allow_unrated=False)
    scores = check_scores(scores, length=grades.shape[0])
    return np.abs(_descending_ranks(grades) - _descending_ranks(scores))


def adaptive_selection(grades, scores, k) -> np.ndarray:
    """The k most misranked items, Algorithm 1.

    Parameters: grades, (S,) >= 1; scores, (S,); k >= 1. Returns positions 0..S-1 in descending
    order of |r - r̂|, ties in the order given; all positions when S <= k. The paper's example:
    grades 2, 4, 5 with scores .3, .5, .1 and k = 1 give the third item. Raises ValueError for
    bad grades, scores or k.
    """
    distance = misranking(grades, scores)
    return np.argsort(-distance, kind="stable")[: check_count(k, "k")]


def random_selection(n_rated, k, random_state=None) -> np.ndarray:
    """k of n_rated positions at random without replacement, all of them when n_rated <= k.

    The control of the paper's experiment with adaptive selection (section 5.3.3). Raises
    ValueError for n_rated < 0 or k < 1.
    """
    n_rated = check_count(n_rated, "n_rated", low=0)
    rng = check_random_state(random_state)
    return rng.permutation(n_rated)[: check_count(k, "k")]


def _descending_ranks(values: np.ndarray) -> np.ndarray:
    ranks = np.empty(values.shape[0], dtype=np.int64)
    ranks[np.argsort(-values, kind="stable")] = np.arange(1, values.shape[0] + 1)
    return ranks
