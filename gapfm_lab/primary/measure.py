"""One system in one split: tuned on the validation users, measured on all others."""

import json
from collections.abc import Mapping
from inspect import signature
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from gapfm_teach.evaluation import top_n_grades, top_n_per_user
from gapfm_teach.ratings import Ratings
from gapfm_teach.splits import split_given
from gapfm_teach.training.recommender import Recommender

from ..catalogue import measures
from .declared import FEW_CANDIDATES, FEWEST_LEFT, METRIC, PER_USER, VALIDATION_SHARE, Space
from .search import FULL, Extent, search

AT, DEEP = 5, 20


class Split(NamedTuple):
    """Training ratings, the others, and which users are for validation, (n_users,)."""

    train: Ratings
    test: Ratings
    validation: np.ndarray
    seed: int


def split(ratings: Ratings, given: int, seed: int) -> Split:
    """The declared split: `given` ratings of each user for training, a third of the users for tuning."""
    rng = np.random.default_rng(seed)
    train, test = split_given(ratings, given, min_test=FEWEST_LEFT, random_state=rng)
    chosen = rng.permutation(train.n_users) < round(VALIDATION_SHARE * train.n_users)
    return Split(train, test, chosen, seed)


def measure(space: Space, parts: Split, extent: Extent = FULL) -> pd.DataFrame:
    """A row a test user: `user`, a column for each measure; and what is the same in all rows.

    `coverage@5`, the share of the candidates that are in the top five of any test user;
    `seconds a fit`, of the processor, with the chosen settings; `settings` (JSON), `value` (of
    the validation users), `n_fits` and `at_edge` of the search.
    """

    def value_of(settings: Mapping[str, Any]) -> float:
        try:
            model = build(space, settings, parts.seed).fit(parts.train)
        except FloatingPointError:
            return -np.inf
        return float(_per_user(model, parts, parts.validation)[METRIC].mean())

    found = search(space, value_of, extent)
    start = process_time()
    model = build(space, found.settings, parts.seed).fit(parts.train)
    seconds = process_time() - start
    table = _per_user(model, parts, ~parts.validation)
    few = top_n_per_user(model, parts.train, parts.test, at=AT, random_state=parts.seed)
    table[FEW_CANDIDATES] = few[METRIC]
    table["coverage@5"], table["seconds a fit"] = _coverage(model, parts), seconds
    return table.assign(
        settings=json.dumps(found.settings, ensure_ascii=False), value=found.value,
        n_fits=found.n_fits, at_edge=" ".join(found.at_edge),
    ).reset_index()  # fmt: skip


def build(space: Space, settings: Mapping[str, Any], random_state: int) -> Recommender:
    """The system with `settings`; `random_state` goes to those that draw something."""
    seeded = "random_state" in signature(space.make).parameters
    seed = {"random_state": random_state} if seeded else {}
    return space.make(**space.fixed, **settings, **seed)


def _per_user(model: Recommender, parts: Split, chosen: np.ndarray) -> pd.DataFrame:
    """The measures of the `chosen` users, (n_users,) bool; a row a user, by id."""
    users, top = top_n_grades(
        model, parts.train, parts.test, n_candidates=None, at=DEEP, random_state=parts.seed
    )
    measured = chosen[users]
    users, top = users[measured], top[measured]
    index = pd.Index(parts.test.users[users], name="user")
    scale = max(parts.train.max_grade, parts.test.max_grade)
    n_rated = np.diff(parts.test.indptr)[users]
    found = top > 0
    first = np.where(found.any(axis=1), found.argmax(axis=1) + 1.0, np.inf)
    columns = measures(top[:, :AT], users, parts.test, AT, scale) | {
        f"MRR@{DEEP}": 1.0 / first,
        f"recall@{DEEP}": found.sum(axis=1) / np.minimum(n_rated, DEEP),
    }
    return pd.DataFrame({name: columns[name] for name in PER_USER}, index=index)


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
