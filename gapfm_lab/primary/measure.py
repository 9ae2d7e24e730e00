"""One system in one split: tuned on the validation users, measured on all others."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from inspect import signature
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from gapfm_teach.evaluation import ranking_per_user, top_n_grades, top_n_per_user
from gapfm_teach.ratings import Ratings
from gapfm_teach.splits import sample_n, select_users, split_given
from gapfm_teach.training.recommender import Recommender

from ..catalogue import measures
from .declared import FEW_CANDIDATES, FEWEST_LEFT, METRIC, VALIDATION_SHARE, Space
from .search import FULL, Extent, Found, search

AT, DEEP = 5, 20
N_TEST = 10  # held-out ratings a user in "top_n"
# What is asked, and how many ratings a user has besides the given ones. With a probe all users stay.
TASKS = {"catalogue": FEWEST_LEFT, "ranking": FEWEST_LEFT, "top_n": N_TEST + 1, "probe": 1}
ALL = "all "  # before a measure of "top_n" with all items as candidates, and not 1,000
MOST_USERS = 40_000  # of more, so many are tuned on


class Split(NamedTuple):
    """The ratings of one split.

    train; known, what makes no candidates: train, and what was left aside; test; validation,
    which users are to tune on, (n_users,) bool; seed; task, one of `TASKS`.
    """

    train: Ratings
    known: Ratings
    test: Ratings
    validation: np.ndarray
    seed: int
    task: str


def split(
    task: str, ratings: Ratings, given: int, seed: int, probe: Ratings | None = None
) -> Split:
    """`given` ratings of each user for training, a third of the users for tuning.

    "catalogue", as declared, and "ranking" (section 5.5): all other ratings are the test.
    "top_n" (section 5.1.2): ten are, as the paper's probe has few, and what is left over is neither
    learned from nor offered as if it were unrated. "probe": the test is the `probe`, set apart.
    """
    rng = np.random.default_rng(seed)
    if probe is not None:
        train, known, test = sample_n(ratings, given, random_state=rng), ratings, probe
    elif task == "top_n":
        test, known = split_given(ratings, N_TEST, min_test=given + 1, random_state=rng)
        train, _ = split_given(known, given, min_test=1, random_state=rng)
    else:
        train, test = split_given(ratings, given, min_test=TASKS[task], random_state=rng)
        known = train
    chosen = rng.permutation(train.n_users) < round(VALIDATION_SHARE * train.n_users)
    return Split(train, known, test, chosen, seed, task)


def measure(
    space: Space, parts: Split, extent: Extent = FULL, tuned_for: Sequence[str] = (METRIC,)
) -> pd.DataFrame:
    """A row a test user: `user`, a column for each measure; and what is the same in all rows.

    `coverage@5`, of "catalogue", the share of the candidates that are in the top five of any test
    user; `seconds a fit`, of the processor, with the chosen settings; `settings` (JSON), `value`
    (of the validation users), `n_fits` and `at_edge` of the search. With several metrics in
    `tuned_for` there are columns of these alone, each with the settings best by it, `settings`
    has those of each, and `value` is that of the first.
    """
    few, tried = _at_most(MOST_USERS, parts), {}

    def value_of(metric: str, settings: Mapping[str, Any]) -> float:
        key = json.dumps(settings, sort_keys=True)
        if key not in tried:
            tried[key] = on_validation(space, settings, few)
        return tried[key][metric] if tried[key] else -np.inf

    best: dict[str, Found] = {}
    for metric in tuned_for:
        best[metric] = search(space, partial(value_of, metric), extent)
    first, *others = best.values()
    chosen: Any = {metric: found.settings for metric, found in best.items()}
    table = _on_test(space, first.settings, parts)
    if others:
        columns = {
            m: _on_test(space, found.settings, parts)[m] for m, found in best.items()
        }
        table = pd.DataFrame(columns).assign(**table[["seconds a fit"]])
    return table.assign(
        settings=json.dumps(chosen if others else first.settings, ensure_ascii=False),
        value=first.value, n_fits=len(tried),
        at_edge=" ".join(dict.fromkeys(name for f in best.values() for name in f.at_edge)),
    ).reset_index()  # fmt: skip


def build(space: Space, settings: Mapping[str, Any], random_state: int) -> Recommender:
    """The system with `settings`; `random_state` goes to those that draw something."""
    seeded = "random_state" in signature(space.make).parameters
    seed = {"random_state": random_state} if seeded else {}
    return space.make(**space.fixed, **settings, **seed)


def on_validation(
    space: Space, settings: Mapping[str, Any], parts: Split
) -> dict[str, float]:
    """Means over the validation users; none where training left the finite numbers."""
    try:
        model = build(space, settings, parts.seed).fit(parts.train)
    except FloatingPointError:
        return {}
    means = _of_users(_per_user(model, parts), parts, parts.validation).mean()
    return {str(metric): float(value) for metric, value in means.items()}


def _on_test(space: Space, settings: Mapping[str, Any], parts: Split) -> pd.DataFrame:
    """The measures of the other users, and what is measured with the chosen settings alone."""
    start = process_time()
    model = build(space, settings, parts.seed).fit(parts.train)
    seconds = process_time() - start
    table = _per_user(model, parts)
    if parts.task in ("catalogue", "top_n"):
        n = 1000 if parts.task == "catalogue" else None
        other = top_n_per_user(
            model, parts.known, parts.test, n_candidates=n, random_state=parts.seed
        )
        if parts.task == "catalogue":
            table[FEW_CANDIDATES] = other[METRIC]
            table["coverage@5"] = _coverage(model, parts)
        else:
            table = table.join(other.add_prefix(ALL))
    table["seconds a fit"] = seconds
    return _of_users(table, parts, ~parts.validation)


def _of_users(table: pd.DataFrame, parts: Split, chosen: np.ndarray) -> pd.DataFrame:
    return table[table.index.isin(parts.test.users[chosen])]


def _per_user(model: Recommender, parts: Split) -> pd.DataFrame:
    """The measures of all users, a row each, by id."""
    _, known, test, _, seed, task = parts
    if task == "ranking":
        return ranking_per_user(model, test, random_state=seed)
    if task != "catalogue":
        return top_n_per_user(model, known, test, at=AT, random_state=seed)
    users, top = top_n_grades(
        model, known, test, n_candidates=None, at=DEEP, random_state=seed
    )
    found = top > 0
    first = np.where(found.any(axis=1), found.argmax(axis=1) + 1.0, np.inf)
    n_rated = np.diff(test.indptr)[users]
    columns = measures(top[:, :AT], users, test, AT, max(known.max_grade, test.max_grade))
    columns[f"MRR@{DEEP}"] = 1.0 / first
    columns[f"recall@{DEEP}"] = found.sum(axis=1) / np.minimum(n_rated, DEEP)
    return pd.DataFrame(columns, index=pd.Index(test.users[users], name="user"))


def _coverage(model: Recommender, parts: Split) -> float:
    """The share of all candidates that are in the top `AT` of any test user."""
    tested = np.flatnonzero(~parts.validation)
    candidates = np.union1d(parts.train.indices, parts.test.indices)
    shown: set[int] = set()
    for user in tested:
        rated = parts.train.row(user)[0]
        scores = model.predict(user, candidates)
        scores[np.isin(candidates, rated)] = -np.inf
        shown.update(candidates[np.argsort(-scores, kind="stable")[:AT]].tolist())
    return len(shown) / candidates.size


def _at_most(n_users: int, parts: Split) -> Split:
    """`parts`, or of more users so many, drawn."""
    if parts.train.n_users <= n_users:
        return parts
    kept = np.zeros(parts.train.n_users, dtype=bool)
    drawn = np.random.default_rng(parts.seed).choice(kept.size, n_users, replace=False)
    kept[drawn] = True
    train, known, test = (
        select_users(part, kept, f"{n_users} users drawn") for part in parts[:3]
    )
    return Split(train, known, test, parts.validation[kept], parts.seed, parts.task)
