"""Exact ranking metrics of one ranked list: GAP, AP, NDCG, P, ERR, GP and GR.

All functions read the same two arrays. `grades` (N,): whole numbers, 0 = unrated, which takes
up a rank but gains nothing. `scores` (N,): any finite numbers, only their order counts. Rank 1
is the highest score; equal scores keep the order in which they were given. `at` (1 or more)
stops at that rank; a list shorter than `at` counts as followed by unrated items.

Bad input raises ValueError (TypeError for an `at`, `threshold` or `max_grade` that is no whole
number) naming the argument and its first offending value.
"""

import numpy as np
from numpy.typing import ArrayLike

from ._support.checks import (
    check_choice,
    check_count,
    check_delta,
    check_grades,
    check_scores,
)
from .paper import cumulative_weights, ranks, thresholding_probabilities


def graded_average_precision(
    grades: ArrayLike,
    scores: ArrayLike,
    *,
    delta: ArrayLike | None = None,
    at: int | None = None,
    normalizer: str = "all",
) -> float:
    """Return the Graded Average Precision, equations (2) to (4), in [0, 1].

        GAP = 1/Z Σ_i 1/R_i Σ_{j: R_j ≤ R_i} β_ij      over rated i, j with R_i ≤ at
        β_ij = min(Δ(y_i), Δ(y_j)),   Δ(y) = δ_1 + … + δ_y

    `delta` (at least max grade entries) defaults to equation (5) for the highest grade present.
    `normalizer` chooses Z; without `at` all three are the Z of equation (3):
    "all" sums Δ(y_i) over all rated items; "ideal" over the `at` highest grades, so that the
    best possible list has GAP 1; "hits" over the rated items found at ranks up to `at`
    (GAP is 0 if there are none). nan if nothing is rated, or nothing rated has weight Δ > 0.

    Four films in the order of their scores. From one, two and three stars upwards the APs are
    1, 0.806 and 1, and four films, three and one pass:

    >>> from gapfm_teach import graded_average_precision
    >>> stars, scores = [3, 1, 2, 2], [4, 3, 2, 1]
    >>> round(graded_average_precision(stars, scores, delta=[1, 1, 1]), 3)
    0.927
    >>> round((4 * 1 + 3 * 0.806 + 1 * 1) / (4 + 3 + 1), 3)
    0.927
    """
    weight, _ = _ranked_weights(grades, scores, delta)
    at = _check_at(at)
    check_choice(normalizer, "normalizer", ("all", "ideal", "hits"))
    counted = {
        "all": weight,
        "ideal": np.sort(weight)[::-1][:at],
        "hits": weight[:at],
    }
    if not weight.any():
        return float("nan")
    rank = np.flatnonzero(weight[:at]) + 1
    beta = np.minimum.outer(weight[rank - 1], weight[rank - 1])
    # Row i of the lower triangle holds the items j that are ranked no lower than i.
    gain = np.sum(np.tril(beta).sum(axis=1) / rank)
    return _ratio(gain, counted[normalizer].sum()) if len(rank) else 0.0


def average_precision(relevant: ArrayLike, scores: ArrayLike) -> float:
    """Return the Average Precision of a list with binary relevance, in [0, 1].

        AP = mean over relevant i of #{relevant j: R_j ≤ R_i} / R_i

    `relevant` (N,) holds True/False or 1/0. nan if nothing is relevant. GAP is the mean of the
    APs with "relevant" = grade ≥ l, weighted by δ_l times the number of such items.

    >>> from gapfm_teach import average_precision
    >>> round(average_precision([1, 0, 1, 1], [4, 3, 2, 1]), 3)  # (1/1 + 2/3 + 3/4) / 3
    0.806
    """
    relevant = check_grades(relevant, "relevant")
    if (relevant > 1).any():
        first = int(np.argmax(relevant > 1))
        raise ValueError(
            f"relevant must be 0 or 1; relevant[{first}] is {relevant[first]}; "
            "compare first, as in grades >= 4"
        )
    hit = _in_ranked_order(relevant, scores)
    rank = np.flatnonzero(hit) + 1
    if not len(rank):
        return float("nan")
    return float(np.mean(np.arange(1, len(rank) + 1) / rank))


def ndcg(grades: ArrayLike, scores: ArrayLike, *, at: int | None = None) -> float:
    """Return the Normalised Discounted Cumulative Gain, in [0, 1].

        DCG = Σ_{R_i ≤ at} (2^{y_i} − 1) / log2(R_i + 1),   NDCG = DCG / DCG of the ideal order

    The ideal order sorts the same list by grade. nan if nothing is rated.

    >>> from gapfm_teach import ndcg
    >>> round(ndcg([3, 1, 2, 2], [4, 3, 2, 1], at=2), 3)  # (7 + 1/1.585) / (7 + 3/1.585)
    0.858
    """
    ranked = _in_ranked_order(grades, scores)
    at = _check_at(at)
    if not ranked.any():
        return float("nan")
    # Both gains share the factor 2^−max, which cancels and keeps high grades from overflowing.
    gain = _satisfaction(ranked, ranked.max())
    discount = 1 / np.log2(np.arange(len(gain)) + 2)
    ideal = np.sort(gain)[::-1]
    return float(np.sum((gain * discount)[:at]) / np.sum((ideal * discount)[:at]))


def precision(grades: ArrayLike, scores: ArrayLike, *, at: int, threshold: int) -> float:
    """Return the share of the top `at` ranks whose grade is `threshold` or above, in [0, 1].

    P@n = #{i: R_i ≤ n, y_i ≥ threshold} / n

    >>> from gapfm_teach import precision
    >>> round(precision([3, 1, 2, 2], [4, 3, 2, 1], at=3, threshold=2), 3)  # two of three
    0.667
    """
    ranked = _in_ranked_order(grades, scores)
    at = check_count(at, "at")
    threshold = check_count(threshold, "threshold")
    return float(np.sum(ranked[:at] >= threshold) / at)


def expected_reciprocal_rank(
    grades: ArrayLike,
    scores: ArrayLike,
    *,
    at: int | None = None,
    max_grade: int | None = None,
) -> float:
    """Return the Expected Reciprocal Rank of Chapelle et al. (2009), in [0, 1].

        ERR = Σ_{r ≤ at} 1/r · p_r Π_{q < r} (1 − p_q),   p = (2^y − 1) / 2^max_grade

    A reader goes down the list and stops at rank r with probability p_r (0 if unrated); ERR is
    the mean of 1/r at the stop. `max_grade` is the top of the scale, by default the highest
    grade present; pass it when lists are to be compared.

    >>> from gapfm_teach import expected_reciprocal_rank
    >>> expected_reciprocal_rank([3, 1], [2, 1])  # 7/8, then 1/8 of what is left, half as good
    0.8828125
    """
    ranked = _in_ranked_order(grades, scores)
    at = _check_at(at)
    highest = int(ranked.max(initial=1))
    scale = (
        highest if max_grade is None else check_count(max_grade, "max_grade", low=highest)
    )
    stop = _satisfaction(ranked, scale)[:at]
    arrive = np.cumprod(np.append(1.0, 1 - stop))[:-1]
    return float(np.sum(arrive * stop / np.arange(1, len(stop) + 1)))


def graded_precision(
    grades: ArrayLike, scores: ArrayLike, *, at: int, delta: ArrayLike | None = None
) -> float:
    """Return the graded precision at rank n = `at`, Appendix D, in [0, 1].

        GP@n = 1/n Σ_{R_i ≤ n} min(Δ(y_i), Δ(c)) / Δ(c),   c = grade of the item at rank n

    A rated item counts in full if its grade is c or above, else by its share of Δ(c). The
    appendix can be read as if c belonged to the n-th best of the user's grades; only with the
    item *shown* at rank n does GAP = Σ_n (GR@n − GR@(n−1)) GP@n hold. If that item is unrated
    the lowest threshold stands in, so that with one grade GP@n is always the plain P@n.

    >>> from gapfm_teach import graded_precision
    >>> stars, scores = [3, 1, 2, 2], [4, 3, 2, 1]
    >>> graded_precision(stars, scores, at=3)  # two stars at rank 3; one star counts 1/4 of that
    0.75
    """
    weight, Delta = _ranked_weights(grades, scores, delta)
    at = check_count(at, "at")
    at_rank_n = weight[at - 1] if at <= len(weight) else 0.0
    lowest = np.min(Delta[Delta > 0], initial=np.inf)
    threshold = at_rank_n if at_rank_n > 0 else lowest
    return float(np.sum(np.minimum(weight[:at], threshold) / threshold) / at)


def graded_recall(
    grades: ArrayLike, scores: ArrayLike, *, at: int, delta: ArrayLike | None = None
) -> float:
    """Return the graded recall at rank n = `at`, Appendix D, in [0, 1].

        GR@n = 1/Z Σ_{R_i ≤ n} Δ(y_i),   Z = Σ_i Δ(y_i) as in equation (3)

    nan if nothing is rated, or nothing rated has weight Δ > 0.

    >>> from gapfm_teach import graded_recall
    >>> stars, scores = [3, 1, 2, 2], [4, 3, 2, 1]
    >>> round(graded_recall(stars, scores, at=1), 3)  # 1.375 / (1.375 + 0.125 + 0.5 + 0.5)
    0.55
    """
    weight, _ = _ranked_weights(grades, scores, delta)
    at = check_count(at, "at")
    return _ratio(weight[:at].sum(), weight.sum()) if weight.any() else float("nan")


def _satisfaction(grades: np.ndarray, max_grade: int) -> np.ndarray:
    """(2^y − 1) / 2^max_grade, written so that a high grade does not overflow."""
    return np.exp2(grades - float(max_grade)) - np.exp2(-float(max_grade))


def _ratio(part: float, whole: float) -> float:
    # Two sums taken in different orders may differ in the last digit: a ratio stays below 1.
    return min(1.0, float(part / whole))


def _check_at(at: int | None) -> int | None:
    return None if at is None else check_count(at, "at")


def _in_ranked_order(grades: ArrayLike, scores: ArrayLike) -> np.ndarray:
    grades = check_grades(grades)
    ranked = np.empty_like(grades)
    ranked[ranks(check_scores(scores, length=len(grades))) - 1] = grades
    return ranked


def _ranked_weights(
    grades: ArrayLike, scores: ArrayLike, delta: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return Δ(y) of the items in ranked order, 0 for the unrated, and Δ(0..L) itself."""
    ranked = _in_ranked_order(grades, scores)
    highest = int(ranked.max(initial=1))
    if delta is None:
        delta = thresholding_probabilities(highest)
    Delta = cumulative_weights(check_delta(delta, highest))
    return Delta[ranked], Delta
