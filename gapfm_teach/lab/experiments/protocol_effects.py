"""Around Tables 2 and 3: the readings of GAP@5, a constructed catalogue, tuning on the test."""

import numpy as np
import pandas as pd

from ..._support.checks import check_count
from ...metrics import (
    graded_average_precision,
    ndcg,
    precision,
    thresholding_probabilities,
)
from ...ratings import Ratings
from ..protocols import split
from ..tuning import SYSTEMS

METRICS = ("P@5", "NDCG@5", "GAP@5 (ideal)")
READINGS = ("ideal", "all", "hits")


def list_measures(grades, scores) -> dict[str, float]:
    """P@5, NDCG@5 and the three readings of GAP@5 of one list with grades up to 5.

    grades, scores : (N,), as `gapfm_teach.metrics` has them; relevant for P is grade 5.
    """
    delta = thresholding_probabilities(5)
    measures = {
        "P@5": precision(grades, scores, at=5, threshold=5),
        "NDCG@5": ndcg(grades, scores, at=5),
    }
    for reading in READINGS:
        gap = graded_average_precision(
            grades, scores, delta=delta, at=5, normalizer=reading
        )
        measures[f"GAP@5 ({reading})"] = gap
    return measures


def popularity_levels(
    ratings: Ratings, given: int, n_held_out: int, *, random_state: int = 0
) -> pd.Series:
    """Means over users of `list_measures` for PopRec, `n_held_out` (1 to 10) ratings a user.

    The protocol is that of `protocols.split` with 1,000 drawn candidates, written in plain NumPy,
    list after list; of the ten held-out ratings of a user, those not used are left aside.
    """
    n_held_out = check_count(n_held_out, "n_held_out", high=10)
    train, known, test = split("top_n", ratings, given, random_state)
    popularity = SYSTEMS["PopRec"].build({}, random_state).fit(train)
    rng = np.random.default_rng(random_state)
    rows = []
    for user in range(test.n_users):
        hidden, grades = test.row(user)
        kept = rng.permutation(hidden.size)[:n_held_out]
        rated = np.append(known.row(user)[0], hidden)
        unrated = np.setdiff1d(np.arange(test.n_items), rated)
        others = rng.permutation(unrated)[:1000]
        order = rng.permutation(kept.size + others.size)
        items = np.append(hidden[kept], others)[order]
        list_grades = np.append(grades[kept], np.zeros_like(others))[order]
        rows.append(list_measures(list_grades, popularity.predict(user, items)))
    return pd.DataFrame(rows).mean()


def five_good_films(n_items: int = 17_770, n_users: int = 200) -> tuple[Ratings, Ratings]:
    """(train, test): items 0 to 4 are held out with grade 5 for users 1..n_users.

    Their training part is empty. User 0 has rated everything, so that every item can be drawn,
    and has no test. Sizes default to the paper's films and 200 users.
    """
    n_items = check_count(n_items, "n_items", low=6)
    n_users = check_count(n_users, "n_users")
    start = np.append(0, np.full(n_users + 1, n_items))
    train = Ratings(start, np.arange(n_items), np.ones(n_items, dtype=int), max_grade=5)
    five = np.tile(np.arange(5), n_users)
    start = np.append(0, 5 * np.arange(n_users + 1))
    return train, Ratings(start, five, np.full(five.size, 5), n_items=n_items)


def chosen_on_test(
    values, n_variants: int, *, n_users: int = 100, n_repeats: int = 1000, random_state=0
) -> tuple[float, float]:
    """(reported, true) mean of the variant that is best for `n_users` users, drawn at random.

    values : (users, variants), a measure of each. Out of `n_variants` drawn variants the best one
    for the drawn users is chosen; reported is its mean for them, true its mean for all others.
    Both are averaged over `n_repeats` draws.
    """
    values = np.asarray(values, dtype=np.float64)
    n_variants = check_count(n_variants, "n_variants", high=values.shape[1])
    n_users = check_count(n_users, "n_users", high=values.shape[0] - 1)
    rng = np.random.default_rng(random_state)
    found = []
    for _ in range(check_count(n_repeats, "n_repeats")):
        tried = values[:, rng.permutation(values.shape[1])[:n_variants]]
        users = rng.permutation(values.shape[0])
        seen, others = tried[users[:n_users]], tried[users[n_users:]]
        best = seen.mean(axis=0).argmax()
        found.append((seen[:, best].mean(), others[:, best].mean()))
    reported, true = np.mean(found, axis=0)
    return float(reported), float(true)
