"""What hangs on the order of films that tie in Algorithm 1: how many do, and what lists come of it."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ..._support.checks import check_random_state
from ...intervals import compare_splits
from ...model import GAPfm
from ...ratings import Ratings
from ...training.data import TrainingData
from ..protocols import PROTOCOLS, measure, split
from .common import Select, ascended, small_start
from .misranked import RULES, TIES, Lists, Rule, ties_by

BY_NUMBER = "by number"
# Three orders of equal grades, scores and distances, and no ranks at all.
ORDERS: Mapping[str, Rule] = {
    BY_NUMBER: RULES["most misranked"],
    "by number, reversed": ties_by(lambda lists, rng: -np.argsort(lists.ties, axis=1)),
    "shuffled": TIES["ties shuffled"],
    "random K": RULES["random"],
}
TASK = PROTOCOLS["selection"].task


def tie_shares(model: GAPfm, k: int = 20, random_state=0) -> pd.Series:
    """How much of what Algorithm 1 picks of `model`'s training lists hangs on ties, each in [0, 1].

    grade, score : the share of rated items that have theirs in common with another of the user;
    cut : the share of users whose K-th and next largest distance |r - r̂| are the same; then, for
    the orders of `ORDERS`, the share of the K items picked that are others than by number.
    Raises ValueError where users have different numbers of ratings.
    """
    rng, problem = check_random_state(random_state), TrainingData(model.train_)
    lists = Lists.of(problem, problem.scores(model.user_factors_, model.item_factors_))
    distance = -np.sort(-np.abs(lists.too_low), axis=1)
    found = {
        "grade": _shared(lists.grades),
        "score": _shared(lists.scores),
        "cut": np.mean(distance[:, k - 1] == distance[:, k]),
    }
    picked = {name: lists.highest(rule(lists, rng, k), k) for name, rule in ORDERS.items()}
    usual = picked.pop(BY_NUMBER)
    others = {name: np.mean(~marks[usual]) for name, marks in picked.items()}
    return pd.Series(found | others)


def _shared(values: np.ndarray) -> float:
    """The share of entries that are in their row more than once."""
    return float(np.mean((values[:, :, None] == values[:, None, :]).sum(axis=2) > 1))


def tie_orders(
    ratings: Ratings, random_states=range(5), *, k: int = 20, n_given: int = 50,
    learning_rate: float = 0.003, n_iter: int = 50, reg: float = 0.001,
) -> pd.DataFrame:  # fmt: skip
    """The printed objective with each of `ORDERS`, as the tables measure lists of all films.

    A row for each order but the first and for each metric: mean, mean_by_number, and difference,
    ci_low, ci_high, n_users, p_value as `compare_splits` has them.
    """
    found: dict[str, list[pd.DataFrame]] = {name: [] for name in ORDERS}
    for seed in random_states:
        train, known, test = split(TASK, ratings, n_given, seed)
        for name, rule in ORDERS.items():
            model = ascended(
                train, small_start(train, seed), learning_rate=learning_rate, reg=reg,
                n_iter=n_iter, select=selecting(rule, k, check_random_state(seed)),
            )  # fmt: skip
            found[name].append(measure(TASK, model, known, test, seed))
    counts = np.diff(ratings.indptr)
    shared = float(np.mean(n_given / counts[counts >= n_given + 10]))
    tables = []
    for name in list(ORDERS)[1:]:
        compared = compare_splits(found[name], found[BY_NUMBER], shared=shared)
        mine, usual = (
            np.mean([table.mean() for table in found[order]], axis=0)
            for order in (name, BY_NUMBER)
        )
        tables.append(compared.assign(order=name, mean=mine, mean_by_number=usual))
    first = ["order", "metric", "mean", "mean_by_number"]
    table = pd.concat(tables, ignore_index=True)
    return table[[*first, "difference", "ci_low", "ci_high", "n_users", "p_value"]]


def selecting(rule: Rule, k: int, rng: np.random.Generator) -> Select:
    """Marks the k ratings of each user that `rule` puts first."""

    def select(problem: TrainingData, scores: np.ndarray) -> np.ndarray:
        lists = Lists.of(problem, scores)
        return lists.highest(rule(lists, rng, k), k).ravel()

    return select
