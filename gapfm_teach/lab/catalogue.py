"""Lists of the whole catalogue, by every measure that an objective of this package stands for."""

import numpy as np
import pandas as pd

from ..evaluation import top_n_grades
from ..metrics import (
    expected_reciprocal_rank,
    graded_average_precision,
    graded_precision,
    graded_recall,
    ndcg,
    precision,
    thresholding_probabilities,
)
from ..ratings import Ratings


def catalogue_per_user(
    model, train: Ratings, test: Ratings, *, at: int = 5, random_state=None
) -> pd.DataFrame:
    """Seven measures at rank n of every user with at least 5 ratings in `test`: one row a user.

    The protocol, parameters and errors of `top_n_per_user`, with all items as candidates that
    anybody rated, but for the user's own in `train`. Returns a DataFrame indexed by user id,
    columns in [0, 1], each a function of `metrics`: P (relevant is the highest grade), NDCG,
    GAP (ideal), AP (GAP with every rated item alike), GP, GR and ERR.
    """
    users, top = top_n_grades(
        model, train, test, n_candidates=None, at=at, random_state=random_state
    )
    scale = max(train.max_grade, test.max_grade)
    rows = [_measures(top[k], test.row(user)[1], at, scale) for k, user in enumerate(users)]
    return pd.DataFrame(rows, index=pd.Index(test.users[users], name="user"))


def _measures(top: np.ndarray, rated: np.ndarray, at: int, scale: int) -> dict[str, float]:
    """Measures at rank `at` of a list that begins with grades `top`; `rated`: all it has."""
    left = np.bincount(rated, minlength=scale + 1) - np.bincount(top, minlength=scale + 1)
    left[0] = 0
    grades = np.concatenate([top, np.repeat(np.arange(scale + 1), left)]).astype(np.int64)
    scores = -np.arange(grades.size, dtype=float)
    delta = thresholding_probabilities(scale)
    binary = np.minimum(grades, 1)
    return {
        f"P@{at}": precision(grades, scores, at=at, threshold=scale),
        f"NDCG@{at}": ndcg(grades, scores, at=at),
        f"GAP@{at} (ideal)": graded_average_precision(
            grades, scores, delta=delta, at=at, normalizer="ideal"
        ),
        f"AP@{at}": graded_average_precision(binary, scores, at=at, normalizer="ideal"),
        f"GP@{at}": graded_precision(grades, scores, at=at, delta=delta),
        f"GR@{at}": graded_recall(grades, scores, at=at, delta=delta),
        f"ERR@{at}": expected_reciprocal_rank(grades, scores, at=at, max_grade=scale),
    }
