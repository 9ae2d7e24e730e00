"""Figure 4: what updating only K items a user costs and brings, and why."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from ..checks import check_random_state
from ..metrics import ranks, thresholding_probabilities
from ..model import GAPfm
from ..ratings import Ratings
from ..smooth import smoothed_gap_gradient
from ..training import Problem
from .common import ascend, held_out_gap, small_start, split_three


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
        gap = held_out_gap(train, validation)
        for k in n_selected:
            for selection in ("adaptive", "random") if k < n_given else ("all",):
                model = GAPfm(
                    learning_rate=learning_rate, n_iter=n_iter, random_state=seed,
                    n_selected=k, n_threads=1,
                    selection="random" if selection == "random" else "adaptive", **options,
                ).fit(train)  # fmt: skip
                rows.append({
                    "selection": selection, "n_selected": k, "random_state": seed,
                    "held_out_gap": gap(model),
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


# What to sort by, highest first, given how many ranks each item stands too low (< 0: too high).
RULES: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "random": lambda too_low, rng: rng.random(too_low.shape),
    "most misranked (Algorithm 1)": lambda too_low, rng: np.abs(too_low),
    "least misranked": lambda too_low, rng: -np.abs(too_low),
    "most too low": lambda too_low, rng: too_low,
    "most too high": lambda too_low, rng: -too_low,
}


def selection_rules(
    ratings: Ratings, random_states=range(3), *, k: int = 20, n_given: int = 50,
    learning_rate: float = 0.003, n_iter: int = 51, reg: float = 0.001,
) -> pd.DataFrame:  # fmt: skip
    """Held-out GAP after training with each of `RULES` choosing the k items: which half hurts?

    Columns rule, random_state, held_out_gap (after `n_iter`).
    """
    rows = []
    for seed in random_states:
        train, validation, _ = split_three(ratings, n_given, random_state=seed)
        for name, rule in RULES.items():
            run = ascend(
                Problem(train, validation), small_start(train, seed), reg=reg,
                learning_rate=learning_rate, n_iter=n_iter, every=n_iter - 1,
                select=_selector(rule, k, n_given, np.random.default_rng(seed)),
            )  # fmt: skip
            gap = run["held_out_gap"].iloc[-1]
            rows.append({"rule": name, "random_state": seed, "held_out_gap": gap})
    return pd.DataFrame(rows)


def _selector(rule, k: int, n_given: int, rng) -> Callable[[Problem], np.ndarray]:
    """Marks the k highest of `rule` for each user, where all have `n_given` ratings."""

    def select(problem: Problem) -> np.ndarray:
        # A user's ratings stand in descending order of grade, so the due rank is the place.
        scores = problem.scores.reshape(-1, n_given)
        rank = np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1, kind="stable")
        priority = rule(rank - np.arange(n_given), rng)
        best = np.argsort(-priority, axis=1, kind="stable")[:, :k]
        marks = np.zeros(scores.shape, dtype=bool)
        np.put_along_axis(marks, best, True, axis=1)
        return marks.ravel()

    return select
