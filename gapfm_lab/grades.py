"""How much a grade counts: the four curves that every system of the primary table chooses from."""

import numpy as np

from gapfm_teach._support.checks import check_choice, check_count
from gapfm_teach.paper import cumulative_weights, thresholding_probabilities
from gapfm_teach.ratings import Ratings

CURVES = ("1", "y", "y²", "Δ")


def grade_weights(curve: str, max_grade: int) -> np.ndarray:
    """The weight of each grade 0..max_grade, float64 (max_grade + 1,): 0 for unrated, 1 at the top.

    curve : "1", every rating alike; "y", in proportion to the grade; "y²", to its square; "Δ",
    Δ(y) / Δ(L), the gains of GAP.

    Raises ValueError for another curve, or a `max_grade` below 1.
    Source: Δ(y) = δ_1 + ... + δ_y with (5).

    >>> from gapfm_lab.grades import grade_weights
    >>> grade_weights("y²", 5).round(2).tolist()
    [0.0, 0.04, 0.16, 0.36, 0.64, 1.0]
    """
    check_choice(curve, "curve", CURVES)
    grades = np.arange(check_count(max_grade, "max_grade") + 1.0)
    if curve == "1":
        return np.minimum(grades, 1.0)
    if curve == "Δ":
        gains = cumulative_weights(thresholding_probabilities(max_grade))
        return gains / gains[-1]
    return (grades / max_grade) ** CURVES.index(curve)


def rating_weights(train: Ratings, curve: str) -> np.ndarray:
    """The weight of each rating by its grade, float64 (n_ratings,), 1 on average.

    Curves then differ in their shape alone, and what suits one, a λ say, is near what suits another.
    """
    weights = grade_weights(curve, train.max_grade)[train.grades]
    return weights / weights.mean()
