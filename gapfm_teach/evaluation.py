"""How good are the lists? Top-N recommendation, and the ranking of rated items, with intervals."""

import numpy as np
import pandas as pd

from .checks import check_count, check_random_state
from .metrics import graded_average_precision, ndcg, precision, thresholding_probabilities
from .ratings import Ratings

N_RESAMPLES = 1000
FEWEST_HELD_OUT = 5  # section 5.1.2: with fewer, the measures at 5 cannot reach 1


def evaluate_top_n(
    model, train: Ratings, test: Ratings, *, n_candidates: int | None = 1000, at: int = 5,
    random_state=None,
) -> pd.DataFrame:  # fmt: skip
    """Top-N measures of the paper's protocol (section 5.1.2), with 95% intervals.

    For each user with at least 5 ratings in `test`, the model ranks the held-out items together
    with `n_candidates` items the user rated nowhere, drawn once with the seed (None: all of
    them). Ties are broken at random with the seed.

    Parameters: model with `predict(user)`; train, test with the same users and items; at = N.
    Returns a DataFrame with columns metric, mean, ci_low, ci_high, n_users; rows: P (relevant is
    the highest grade), NDCG, and GAP in its readings "ideal", "all" and "hits" (see
    `graded_average_precision`). The intervals are bootstrapped over users.
    Raises ValueError when no user has 5 held-out ratings, or train and test do not belong
    together.
    """
    _check_same_axes(train, test)
    at = check_count(at, "at")
    rng = check_random_state(random_state)
    if n_candidates is not None:
        n_candidates = check_count(n_candidates, "n_candidates")
    delta = thresholding_probabilities(test.max_grade)
    rows = []
    for user in np.flatnonzero(np.diff(test.indptr) >= FEWEST_HELD_OUT):
        items, grades = _candidates(user, train, test, n_candidates, rng)
        scores = np.asarray(model.predict(user))
        if scores.shape != (test.n_items,):
            raise ValueError(
                f"model scores {scores.shape} items, test has {test.n_items}; pass a model "
                "fitted to train"
            )
        rows.append(_top_n_measures(grades, scores[items], at, delta))
    if not rows:
        raise ValueError(f"no user has {FEWEST_HELD_OUT} ratings in test; hold out more")
    return summarize(pd.DataFrame(rows), rng)


def evaluate_ranking(model, test: Ratings, *, at=(1, 3, 5), random_state=0) -> pd.DataFrame:
    """NDCG@n of the rated items alone, the protocol of Table 4 (section 5.4), with intervals.

    Each user's items in `test` are ranked by the model's scores; unrated items take no part.
    Parameters: model with `predict(user, items)`; at, the truncations n; random_state breaks
    ties and draws the bootstrap. Returns a DataFrame as `evaluate_top_n` does, a row for each n.
    Raises ValueError when `test` has no ratings.
    """
    _check_ratings(test, "test")
    if test.n_ratings == 0:
        raise ValueError("test has 0 ratings; there is nothing to rank")
    if np.ndim(at) != 1 or len(at) == 0:
        raise ValueError(f"at must be one or more truncations, got {at!r}; pass (1, 3, 5)")
    at = [check_count(n, "at") for n in at]
    rng = check_random_state(random_state)
    rows = []
    for user in np.flatnonzero(np.diff(test.indptr) > 0):
        items, grades = test.row(user)
        order = rng.permutation(items.shape[0])
        scores = model.predict(user, items[order])
        rows.append({f"NDCG@{n}": ndcg(grades[order], scores, at=n) for n in at})
    return summarize(pd.DataFrame(rows), rng)


def summarize(per_user: pd.DataFrame, random_state=0) -> pd.DataFrame:
    """Mean of each column with a 95% percentile bootstrap interval over the rows (users)."""
    rng = check_random_state(random_state)
    values = per_user.to_numpy(dtype=np.float64)
    n_users = values.shape[0]
    weights = rng.multinomial(n_users, np.full(n_users, 1 / n_users), N_RESAMPLES)
    means = weights @ values / n_users
    low, high = np.percentile(means, [2.5, 97.5], axis=0)
    table = {"metric": per_user.columns, "mean": values.mean(axis=0)}
    return pd.DataFrame(table | {"ci_low": low, "ci_high": high, "n_users": n_users})


def _candidates(user, train, test, n_candidates, rng) -> tuple[np.ndarray, np.ndarray]:
    """Held-out items and unrated candidates of one user in random order, with their grades."""
    held_out, grades = test.row(user)
    unrated = np.ones(test.n_items, dtype=bool)
    unrated[held_out] = unrated[train.row(user)[0]] = False
    others = np.flatnonzero(unrated)
    if n_candidates is not None and n_candidates < others.shape[0]:
        others = rng.choice(others, n_candidates, replace=False)
    items = np.concatenate([held_out, others])
    all_grades = np.concatenate([grades, np.zeros(others.shape[0], dtype=np.int64)])
    order = rng.permutation(items.shape[0])
    return items[order], all_grades[order]


def _top_n_measures(grades, scores, at: int, delta) -> dict[str, float]:
    best = delta.shape[0]
    measures = {
        f"P@{at}": precision(grades, scores, at=at, threshold=best),
        f"NDCG@{at}": ndcg(grades, scores, at=at),
    }
    for reading in ("ideal", "all", "hits"):
        measures[f"GAP@{at} ({reading})"] = graded_average_precision(
            grades, scores, delta=delta, at=at, normalizer=reading
        )
    return measures


def _check_ratings(value, name: str) -> None:
    if not isinstance(value, Ratings):
        raise TypeError(
            f"{name} must be Ratings, got {type(value).__name__}; use split_given"
        )


def _check_same_axes(train: Ratings, test: Ratings) -> None:
    _check_ratings(train, "train")
    _check_ratings(test, "test")
    ours, theirs = (train.n_users, train.n_items), (test.n_users, test.n_items)
    if ours != theirs:
        raise ValueError(
            f"train has (users, items) {ours}, test has {theirs}; make both with split_given"
        )
