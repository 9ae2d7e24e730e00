"""How good are the lists? The paper's two protocols: top-N, and the ranking of rated items.

Each measures every user first (`top_n_per_user`, `ranking_per_user`: one row a user); the tables
of means are made from that by `intervals`, which also compares systems.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from . import kernels
from ._support.checks import check_array, check_count, check_random_state
from .intervals import summarize
from .paper import cumulative_weights, thresholding_probabilities
from .ratings import Ratings
from .splits import check_parts, check_ratings

FEWEST_HELD_OUT = 5  # section 5.1.2: users with fewer do not count in top-5 measures
PLACES_AT_ONCE = 2**21  # list places in memory at any time, about 25 bytes each


def evaluate_top_n(
    model, train: Ratings, test: Ratings, *, n_candidates: int | None = 1000, at: int = 5,
    random_state=None,
) -> pd.DataFrame:  # fmt: skip
    """Top-N measures of the paper's protocol (section 5.1.2), with 95% intervals.

    The means of `top_n_per_user`, which has the protocol, the parameters and the errors, with
    bootstrap intervals over users. Returns a DataFrame with columns metric, mean, ci_low,
    ci_high, n_users; rows: P, NDCG, and GAP in its readings "ideal", "all" and "hits".

    Two users; three stars or more are two of the one's five films, and all of the other's:

    >>> from types import SimpleNamespace
    >>> from gapfm_teach import Ratings, evaluate_top_n
    >>> in_order = SimpleNamespace(predict=lambda user, items: -items)  # the first item is best
    >>> train = Ratings([0, 1, 2], [5, 6], [1, 1])
    >>> test = Ratings([0, 5, 10], [*range(5)] * 2, [3, 1, 2, 2, 3] + [3] * 5, n_items=7)
    >>> evaluate_top_n(in_order, train, test)["mean"].round(3).tolist()[:2]  # P@5, NDCG@5
    [0.7, 0.95]
    """
    rng = check_random_state(random_state)
    per_user = top_n_per_user(
        model, train, test, n_candidates=n_candidates, at=at, random_state=rng
    )
    return summarize(per_user, rng)


def evaluate_ranking(
    model, test: Ratings, *, at: Sequence[int] = (1, 3, 5), random_state=0
) -> pd.DataFrame:
    """NDCG@n of the rated items alone, the protocol of Table 4 (section 5.5), with intervals.

    The means of `ranking_per_user`, which has the parameters and the errors. Returns a
    DataFrame as `evaluate_top_n` does, a row for each n of `at`.

    >>> from types import SimpleNamespace
    >>> from gapfm_teach import Ratings, evaluate_ranking
    >>> in_order = SimpleNamespace(predict=lambda user, items: -items)  # the first item is best
    >>> test = Ratings([0, 4], [0, 1, 2, 3], [3, 1, 2, 2])
    >>> evaluate_ranking(in_order, test, at=[1, 2])["mean"].round(3).tolist()
    [1.0, 0.858]
    """
    rng = check_random_state(random_state)
    return summarize(ranking_per_user(model, test, at=at, random_state=rng), rng)


def top_n_per_user(
    model, train: Ratings, test: Ratings, *, n_candidates: int | None = 1000, at: int = 5,
    random_state=None,
) -> pd.DataFrame:  # fmt: skip
    """P@n, NDCG@n and GAP@n of every user with at least 5 ratings in `test`: one row a user.

    The model ranks a user's held-out items together with `n_candidates` items drawn once with
    the seed from those the user rated neither in `train` nor in `test` (None: all of them).
    Items that nobody rated are not drawn: they would only make the lists easier. Ties are
    broken at random with the seed. The same seed gives every system the same lists.

    Parameters: model with `predict(user, items)` -> (S,); where it also has `user_factors_`
    (n_users, D) and `item_factors_` (n_items, D) whose products are its scores, these are used.
    train, test: different ratings of the same users and items. at = n.
    Returns a DataFrame indexed by user id, columns in [0, 1]: P (relevant is the highest grade,
    the larger `max_grade` of the two), NDCG, GAP (ideal), GAP (all), GAP (hits), see
    `graded_average_precision`.
    Raises ValueError when no user has 5 held-out ratings, train and test do not belong
    together, or the model does not fit them or gives a score that is not finite.
    Source: section 5.1.2; the candidates follow Cremonesi, Koren and Turrin (2010).

    >>> from types import SimpleNamespace
    >>> from gapfm_teach import Ratings, top_n_per_user
    >>> in_order = SimpleNamespace(predict=lambda user, items: -items)  # the first item is best
    >>> train = Ratings([0, 1, 2], [5, 6], [1, 1])
    >>> test = Ratings([0, 5, 10], [*range(5)] * 2, [3, 1, 2, 2, 3] + [3] * 5, n_items=7)
    >>> top_n_per_user(in_order, train, test)["P@5"].round(3).to_dict()  # three stars: 2 of 5, all
    {0: 0.4, 1: 1.0}
    """
    users, top = top_n_grades(
        model, train, test, n_candidates=n_candidates, at=at, random_state=random_state
    )
    index = pd.Index(test.users[users], name="user")
    scale = max(train.max_grade, test.max_grade)
    return pd.DataFrame(_measures(top, test, users, at, scale), index=index)


def top_n_grades(
    model, train: Ratings, test: Ratings, *, n_candidates: int | None, at: int, random_state=None
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The lists behind `top_n_per_user`, which has the parameters and errors: what is on top.

    Returns the positions of the users measured, (n_users,), and the grades at ranks 1..at of
    each one's list, 0 where the item is unrated, int8 (n_users, at).

    >>> from types import SimpleNamespace
    >>> from gapfm_teach import Ratings
    >>> from gapfm_teach.evaluation import top_n_grades
    >>> in_order = SimpleNamespace(predict=lambda user, items: -items)  # the first item is best
    >>> train = Ratings([0, 1], [5], [4])
    >>> test = Ratings([0, 5], [*range(5)], [3, 1, 2, 2, 3], n_items=6)
    >>> top_n_grades(in_order, train, test, n_candidates=None, at=3)[1].tolist()
    [[3, 1, 2]]
    """
    check_parts(train, test, "test")
    for name in ("users", "items"):
        _check_same_ids(name, getattr(train, name), getattr(test, name))
    at = check_count(at, "at")
    most = test.n_items
    if n_candidates is not None:
        most = min(most, check_count(n_candidates, "n_candidates"))
    rng = check_random_state(random_state)
    users = np.flatnonzero(np.diff(test.indptr) >= FEWEST_HELD_OUT)
    if not users.size:
        raise ValueError(f"no user has {FEWEST_HELD_OUT} ratings in test; hold out more")
    rated_by_someone = np.zeros(test.n_items, dtype=bool)
    rated_by_someone[train.indices] = rated_by_someone[test.indices] = True
    pool = np.flatnonzero(rated_by_someone)
    n_rated = np.diff(train.indptr) + np.diff(test.indptr)
    n_others = np.minimum(pool.size - n_rated[users], most)
    lists = _lists(users, train, test, pool, n_others, rng)
    return users, _ranked_grades(model, test, users, lists, at)


def ranking_per_user(
    model, test: Ratings, *, at: Sequence[int] = (1, 3, 5), random_state=0
) -> pd.DataFrame:
    """NDCG@n of every user's rated items in `test`, ranked by the model: one row a user.

    Unrated items take no part. Gains are 2^y - 1. Ties are broken at random with the seed.
    Parameters: model as in `top_n_per_user`; at, the truncations n.
    Returns a DataFrame indexed by user id, a column in [0, 1] for each n. Raises ValueError
    when `test` has no ratings, or the model does not fit it or gives a score that is not finite.
    Source: section 5.5, after Volkovs and Zemel (2012).

    >>> from types import SimpleNamespace
    >>> from gapfm_teach import Ratings, ranking_per_user
    >>> in_order = SimpleNamespace(predict=lambda user, items: -items)  # the first item is best
    >>> test = Ratings([0, 4], [0, 1, 2, 3], [3, 1, 2, 2])
    >>> ranking_per_user(in_order, test, at=[1, 2]).round(3).to_dict("index")
    {0: {'NDCG@1': 1.0, 'NDCG@2': 0.858}}
    """
    check_ratings(test, "test")
    if test.n_ratings == 0:
        raise ValueError("test has 0 ratings; there is nothing to rank")
    at = [check_count(n, "at") for n in np.ravel(at).tolist()]
    if not at:
        raise ValueError("at names no rank; pass at least one, such as (5,)")
    rng = check_random_state(random_state)
    users = np.flatnonzero(np.diff(test.indptr))
    nothing = Ratings(np.zeros(test.n_users + 1, dtype=np.int64), [], [])
    no_others = np.zeros(users.size, dtype=np.int64)
    lists = _lists(users, nothing, test, np.unique(test.indices), no_others, rng)
    top = _ranked_grades(model, test, users, lists, max(at))
    columns = {}
    for n in at:
        columns[f"NDCG@{n}"] = _measures(top, test, users, n, test.max_grade)[f"NDCG@{n}"]
    return pd.DataFrame(columns, index=pd.Index(test.users[users], name="user"))


# --------------------------------------------------------------------------- lists and ranks


class _Lists(NamedTuple):
    """A batch of lists, as `kernels` lays them out."""

    users: np.ndarray
    indptr: np.ndarray
    items: np.ndarray
    grades: np.ndarray


def _lists(users, train, test, pool, n_others, rng) -> Iterator[_Lists]:
    """The lists of `users` in batches; n_others (n_users,) items of each come from `pool`.

    The numbers are drawn user after user, so the lists do not depend on the batches' size.
    """
    pool = pool.astype(np.int32)
    n_held_out = np.diff(test.indptr)[users]
    lengths = n_held_out + n_others
    n_draws = lengths + n_held_out + np.diff(train.indptr)[users]
    batch_of = np.cumsum(n_draws) // PLACES_AT_ONCE
    for batch in np.split(np.arange(users.size), np.flatnonzero(np.diff(batch_of)) + 1):
        indptr = np.append(0, np.cumsum(lengths[batch]))
        indptr.setflags(write=False)  # as in `Ratings`: no kernel is compiled for both
        draw_indptr = np.append(0, np.cumsum(n_draws[batch]))
        items = np.empty(indptr[-1], dtype=np.int32)
        grades = np.empty(indptr[-1], dtype=np.int8)
        kernels.draw_lists(
            users[batch], train.indptr, train.indices, test.indptr, test.indices, test.grades,
            pool, rng.random(draw_indptr[-1]), draw_indptr, indptr, items, grades,
        )  # fmt: skip
        yield _Lists(users[batch], indptr, items, grades)


def _ranked_grades(model, test, users, lists: Iterator[_Lists], at: int) -> np.ndarray:
    """Grades at ranks 1..at of every user's list as the model ranks it, int8 (n_users, at)."""
    factors = _plain_factors(model, test, users)
    parts = []
    for batch in lists:
        scores = _scores(model, factors, batch)
        parts.append(np.empty((batch.users.size, min(at, test.n_items)), dtype=np.int8))
        ranked = scores, batch.grades, batch.indptr, parts[-1]
        kernels.parallel_for(kernels.top_grades, batch.users.size, *ranked)
    return np.concatenate(parts)


def _plain_factors(model, test, users) -> tuple[np.ndarray, np.ndarray] | None:
    """U and V if the model's scores are their products and nothing else (a bias, say)."""
    if not hasattr(model, "predict"):
        raise TypeError(
            f"model must have predict(user, items), got {type(model).__name__}; pass a fitted "
            "system of this package, or one that gives scores in the same way"
        )
    if not (hasattr(model, "user_factors_") and hasattr(model, "item_factors_")):
        return None
    U = np.ascontiguousarray(model.user_factors_, dtype=np.float64)
    V = np.ascontiguousarray(model.item_factors_, dtype=np.float64)
    if U.ndim != 2 or V.ndim != 2:
        return None
    if (U.shape[0], V.shape[0]) != (test.n_users, test.n_items):
        raise ValueError(
            f"the model has factors for (users, items) {(U.shape[0], V.shape[0])}, test has "
            f"{(test.n_users, test.n_items)}; fit it to the train that belongs to this test"
        )
    if U.shape[1] != V.shape[1]:
        return None
    # Some users, and the one whose factors say least: a model may treat cold users otherwise.
    coldest = users[np.argmin(np.sum(U[users] ** 2, axis=1))]
    for user in {*users[[0, users.size // 2, -1]].tolist(), int(coldest)}:
        scores = _predicted(model, user, np.arange(test.n_items))
        with np.errstate(invalid="ignore"):
            apart = np.abs(scores - V @ U[user]).max()
        if not apart <= 1e-6 * np.abs(scores).max():
            return None
    return U, V


def _scores(model, factors, lists: _Lists) -> np.ndarray:
    """The model's score for every place of the lists."""
    scores = np.empty(lists.items.size)
    if factors is None:
        for k, user in enumerate(lists.users):
            row = slice(lists.indptr[k], lists.indptr[k + 1])
            scores[row] = _predicted(model, user, lists.items[row])
    else:
        U, V = factors
        kernels.parallel_for(
            kernels.score_rated, lists.users.size, U[lists.users], V, lists.indptr, lists.items,
            scores,
        )  # fmt: skip
    if not np.isfinite(scores).all():
        first = int(np.argmin(np.isfinite(scores)))
        user = lists.users[np.searchsorted(lists.indptr, first, side="right") - 1]
        raise ValueError(
            f"the model's scores must be finite, got {scores[first]} for item "
            f"{lists.items[first]} and user {user}; check how it was trained"
        )
    return scores


def _predicted(model, user, items: np.ndarray) -> np.ndarray:
    scores = check_array(model.predict(user, items), "the model's scores", finite=False)
    if scores.shape != items.shape:
        raise ValueError(
            f"model.predict(user, items) gave shape {scores.shape} for {items.size} items; "
            "it must give one score for each item"
        )
    return scores


def _measures(top, test: Ratings, users, at: int, scale: int) -> dict[str, np.ndarray]:
    """Name and value (n_users,) of every measure at rank `at`, from the grades there.

    `scale`: the highest grade there is.
    """
    delta = thresholding_probabilities(scale)
    out = list_measures(top, users, test.indptr, test.grades, delta, at)
    names = ("P@{}", "NDCG@{}", "GAP@{} (ideal)", "GAP@{} (all)", "GAP@{} (hits)")
    return {name.format(at): out[:, column] for column, name in enumerate(names)}


def list_measures(top, users, test_indptr, test_grades, delta, at: int) -> np.ndarray:
    """What `kernels.list_measures` fills in, (n_users, 5), for all lists and the grades of `delta`."""
    out, ranks = np.empty((users.size, 5)), np.arange(1, 1 + min(at, top.shape[1]))
    kernels.parallel_for(
        kernels.list_measures, users.size, top, users, test_indptr, test_grades, delta,
        cumulative_weights(delta), 2.0 ** np.arange(delta.size + 1) - 1.0, 1.0 / np.log2(ranks + 1.0),
        at, out,
    )  # fmt: skip
    return out


def _check_same_ids(name: str, one: np.ndarray, other: np.ndarray) -> None:
    """Raise where both parts have ids of their own, and not the same ones."""
    positions = np.arange(one.size)  # stand in where no ids were given
    if any(
        np.array_equal(ids, known)
        for ids, known in ((one, other), (one, positions), (other, positions))
    ):
        return
    first = int(np.argmax(one != other))
    raise ValueError(
        f"the {name} of train and test differ: at position {first} {one.tolist()[first]!r} and "
        f"{other.tolist()[first]!r}; make both with split_given"
    )
