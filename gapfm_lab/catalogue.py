"""Lists of the whole catalogue, by every measure that an objective of this package stands for."""

import numpy as np
import pandas as pd

from gapfm_teach.evaluation import list_measures, top_n_grades
from gapfm_teach.paper import cumulative_weights, thresholding_probabilities
from gapfm_teach.ratings import Ratings


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
    index = pd.Index(test.users[users], name="user")
    return pd.DataFrame(measures(top, users, test, at, scale), index=index)


def measures(
    top: np.ndarray, users: np.ndarray, test: Ratings, at: int, scale: int
) -> dict[str, np.ndarray]:
    """The measures of all lists at once, (n_users,) each; `top`: the grades at ranks 1..at."""
    delta = thresholding_probabilities(scale)
    graded = list_measures(top, users, test.indptr, test.grades, delta, at)
    rated = np.minimum(test.grades, 1)
    rated.setflags(write=False)  # as in `Ratings`: no kernel is compiled for both
    alike = list_measures(np.minimum(top, 1), users, test.indptr, rated, np.ones(1), at)
    worth = cumulative_weights(delta)
    shown = worth[top]
    owner = np.repeat(np.arange(test.n_users), np.diff(test.indptr))
    total = np.bincount(owner, worth[test.grades], minlength=test.n_users)[users]
    standard = shown[:, at - 1] if at <= top.shape[1] else np.zeros(users.size)
    standard = np.where(standard > 0, standard, worth[1])[:, None]
    stop = np.exp2(top - float(scale)) - np.exp2(-float(scale))
    arrive = np.cumprod(np.column_stack([np.ones(users.size), 1 - stop[:, :-1]]), axis=1)
    return {
        f"P@{at}": graded[:, 0],
        f"NDCG@{at}": graded[:, 1],
        f"GAP@{at} (ideal)": graded[:, 2],
        f"AP@{at}": alike[:, 2],
        f"GP@{at}": np.sum(np.minimum(shown, standard) / standard, axis=1) / at,
        f"GR@{at}": np.minimum(1.0, shown.sum(axis=1) / total),
        f"ERR@{at}": np.sum(arrive * stop / np.arange(1, top.shape[1] + 1), axis=1),
    }
