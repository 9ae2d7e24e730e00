"""What updating only K items a user costs and brings: Figure 4, and why."""

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pandas as pd

from ..._support.checks import check_random_state
from ...datasets import simulate_ratings
from ...model import GAPfm
from ...paper import (
    cumulative_weights,
    ranks,
    smoothed_gap_gradient,
    thresholding_probabilities,
)
from ...ratings import Ratings
from ...training.data import TrainingData
from .common import ascend, held_out_gap, rows_for_page, small_start, split_three
from .misranked import RULES, Lists, rated_gap


def selection_sweep(
    ratings: Ratings, n_selected: Sequence[int] = (5, 10, 20, 30, 40, 50), random_states=range(5),
    *, n_given: int = 50, learning_rate: float = 0.003, n_iter: int = 50, **options,
) -> pd.DataFrame:  # fmt: skip
    """Figure 4: what K selected items cost and bring, adaptive and random, at Given 50.

    Columns selection, n_selected, random_state, held_out_gap (after `n_iter`), and the score
    pairs of one iteration: `pairs_two_passes`, S² for U and K² for V, the paper's account;
    `pairs_one_pass`, S² in one pass that serves U and V. `options` go to GAPfm.
    """
    rows = []
    for seed in random_states:
        train, validation, _ = split_three(ratings, n_given, random_state=seed)
        for k in n_selected:
            for selection in ("adaptive", "random") if k < n_given else ("all",):
                model = GAPfm(
                    learning_rate=learning_rate, n_iter=n_iter, random_state=seed,
                    n_selected=k, n_threads=1,
                    selection="random" if selection == "random" else "adaptive", **options,
                ).fit(train)  # fmt: skip
                rows.append({
                    "selection": selection, "n_selected": k, "random_state": seed,
                    "held_out_gap": held_out_gap(model, validation),
                    "pairs_two_passes": train.n_users * (n_given**2 + k**2),
                    "pairs_one_pass": train.n_users * n_given**2,
                })  # fmt: skip
    return pd.DataFrame(rows)


def selection_pushes(model: GAPfm, k: int, random_state=0) -> pd.DataFrame:
    """Which way (8) pushes the k items that each selection picks, for the users of `model`.

    Columns selection; place, "too high" or "too low" for its grade among the user's rated items;
    share of the selected items in that place; share_up, the part of those whose score (8) raises
    (∂F/∂f > 0); mean_grade.
    """
    train, rng = model.train_, check_random_state(random_state)
    delta, parts = thresholding_probabilities(train.max_grade), []
    for m in range(train.n_users):
        items, grades = train.row(m)
        scores = model.predict(m, items)
        too_low = ranks(scores) - ranks(grades)
        push = smoothed_gap_gradient(scores, grades, delta)
        picks = {
            "adaptive": np.argsort(-np.abs(too_low), kind="stable")[:k],
            "random": rng.permutation(items.shape[0])[:k],
        }
        for name, chosen in picks.items():
            columns = {"by": too_low[chosen], "push": push[chosen], "grade": grades[chosen]}
            parts.append(pd.DataFrame({"selection": name, **columns}))
    table = pd.concat(parts, ignore_index=True)
    table = table[table["by"] != 0]
    table["place"] = np.where(table["by"] < 0, "too high", "too low")
    grouped = table.groupby(["selection", "place"])
    counts = grouped.size()
    return pd.DataFrame({
        "share": counts / counts.groupby("selection").transform("sum"),
        "share_up": grouped["push"].agg(lambda push: (push > 0).mean()),
        "mean_grade": grouped["grade"].mean(),
    }).reset_index()  # fmt: skip


STARTS: dict[str, Callable[[np.random.Generator, tuple], np.ndarray]] = {
    "normal, sd 0.01": lambda rng, shape: rng.normal(0.0, 0.01, shape),
    "uniform, 0 to 1": lambda rng, shape: rng.uniform(0.0, 1.0, shape),
}


def _marks(lists: Lists, rule: str, rng: np.random.Generator, k: int) -> np.ndarray:
    """Marks the ratings whose items an iteration moves."""
    return lists.highest(RULES[rule](lists, rng, k), k).ravel()


def selection_run(
    train: Ratings, validation: Ratings, rule: str, k: int = 20, *,
    start: str = "normal, sd 0.01", learning_rate: float = 0.003, n_iter: int = 41,
    reg: float = 0.001, every: int = 5, random_state=0,
) -> pd.DataFrame:  # fmt: skip
    """One training in which the rule, a key of `RULES` or "all", picks k items a user.

    All users of `train` have equally many ratings; `start` is a key of `STARTS`. Columns
    iteration, objective, held_out_gap, training_gap (exact GAP of the rated lists, the mean over
    users) and up_too_high (the share of the items standing too high that (8) pushes up).
    """
    rng, draw = check_random_state(random_state), STARTS[start]
    factors = [draw(rng, (n, 10)) for n in (train.n_users, train.n_items)]

    def select(problem: TrainingData, scores: np.ndarray) -> np.ndarray:
        return _marks(Lists.of(problem, scores), rule, rng, k)

    def measure(problem: TrainingData, scores: np.ndarray) -> dict:
        lists = Lists.of(problem, scores)
        up = lists.push[lists.too_low < 0] > 0
        return {"training_gap": rated_gap(problem, scores), "up_too_high": np.mean(up)}

    return ascend(
        train, validation, factors, learning_rate=learning_rate, reg=reg, n_iter=n_iter,
        every=every, select=None if rule == "all" else select, measure=measure,
    )  # fmt: skip


def selection_rules(
    ratings: Ratings, random_states=range(5), *, rules: Sequence[str] = (*RULES, "all"),
    settings: Sequence[tuple[str, float]] = (("normal, sd 0.01", 0.003),),
    k: int = 20, n_given: int = 50, n_iter: int = 51, **options,
) -> pd.DataFrame:  # fmt: skip
    """What each rule of selection gives, for each (start, learning rate) of `settings`.

    Columns start, learning_rate, rule, random_state, held_out_gap and training_gap, both after
    `n_iter`. `options` go to `selection_run`.
    """
    rows = []
    for seed in random_states:
        train, validation, _ = split_three(ratings, n_given, random_state=seed)
        for (start, rate), rule in product(settings, rules):
            run = selection_run(
                train, validation, rule, k, start=start, learning_rate=rate, n_iter=n_iter,
                every=max(1, n_iter - 1), random_state=seed, **options,
            )  # fmt: skip
            end = run.iloc[-1][["held_out_gap", "training_gap"]].to_dict()
            keys = {"start": start, "learning_rate": rate, "rule": rule}
            rows.append(keys | {"random_state": seed} | end)
    return pd.DataFrame(rows)


def selection_visits(
    train: Ratings, rule: str, k: int = 20, *, learning_rate: float = 0.003, n_iter: int = 50,
    since: int = 20, reg: float = 0.001, random_state=0,
) -> pd.DataFrame:  # fmt: skip
    """How often each item is among the k picked, after `since` iterations of training.

    Columns title, n_ratings, weighted (Σ_m Δ(y_mi)), visited (the share of its ratings picked,
    the mean over iterations). One row an item, in item order.
    """
    rng, counts = check_random_state(random_state), []

    def select(problem: TrainingData, scores: np.ndarray) -> np.ndarray:
        marks = _marks(Lists.of(problem, scores), rule, rng, k)
        counts.append(np.bincount(problem.items, marks, minlength=train.n_items))
        return marks

    ascend(
        train, None, small_start(train, random_state), learning_rate=learning_rate, reg=reg, n_iter=n_iter, every=n_iter,
        select=select,
    )  # fmt: skip
    rated = np.bincount(train.indices, minlength=train.n_items)
    worth = cumulative_weights(thresholding_probabilities(train.max_grade))
    weighted = np.bincount(train.indices, worth[train.grades], minlength=train.n_items)
    visited = np.mean(counts[since:], axis=0) / np.maximum(rated, 1)
    columns = {"n_ratings": rated, "weighted": weighted, "visited": visited}
    return pd.DataFrame({"title": train.titles, **columns})


def selection_explorable(user: int = 2, k: int = 5) -> dict:
    """What the explorable "select" is made of: simulated ratings, Given 20, ten held out a user.

    Also one user's films, their grades, and their scores a few iterations after the small start.
    """
    ratings = simulate_ratings(300, 200, mean_ratings=45, random_state=1)
    train, held_out, _ = split_three(ratings, 20, random_state=0)
    early = GAPfm(learning_rate=0.02, n_iter=10, random_state=0).fit(train)
    items, grades = train.row(user)
    return {
        "films": [f"Invented film {item + 1}" for item in items], "grades": grades,
        "scores": early.predict(user, items).round(4), "k": k, "seed": 1,
        "nItems": train.n_items, "maxGrade": train.max_grade, "given": rows_for_page(train),
        "held": rows_for_page(held_out),
    }  # fmt: skip
