"""What chapter 4 trains and measures, and what its explorable is given.

"Held-out GAP" is what `GAPfm.history_` calls `validation_gap`: the mean over users of the GAP of
their held-out items, ranked among all items that are not in training.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from gapfm_teach.datasets import simulate_ratings
from gapfm_teach.intervals import average_splits, compare_splits
from gapfm_teach.metrics import graded_average_precision
from gapfm_teach.model import GAPfm
from gapfm_teach.paper import (
    pair_weights,
    smoothed_gap_gradient,
    thresholding_probabilities,
)
from gapfm_teach.ratings import Ratings
from gapfm_teach.splits import sample_n, split_given
from gapfm_teach.training import loop
from gapfm_teach.training.data import TrainingData
from gapfm_teach.training.objectives import gap_gains

from .experiments.common import (
    Factors,
    ascended,
    held_out_gap,
    rows_for_page,
    small_start,
    trace,
)
from .experiments.convergence import escape_matrix, top_direction
from .experiments.optimum import personality


def algorithm_readings(
    train: Ratings, *, learning_rate: float, reg: float, n_iter: int = 60, random_state=0
) -> dict[str, GAPfm | Factors]:
    """Algorithm 2's V update in three readings, trained from the same start.

    "sum over users" adds up all users' updates and subtracts λ once (`update="batch"`); "in turn"
    changes V in place and subtracts λ at every visit ("sequential"); "last user only" sets
    V^(t+1) anew at each visit, as printed.
    """
    options: dict[str, Any] = {"reg": reg, "learning_rate": learning_rate, "n_iter": n_iter}
    updates = {"sum over users": "batch", "in turn": "sequential"}
    models: dict[str, GAPfm | Factors] = {
        name: GAPfm(update=update, random_state=random_state, **options).fit(train)
        for name, update in updates.items()
    }
    start = small_start(train, random_state)
    models["last user only"] = ascended(train, start, select=_last_visits, **options)
    return models


def _last_visits(problem: TrainingData, scores: np.ndarray) -> np.ndarray:
    """Marks, for each item, the rating of the last user who has it."""
    marks = np.zeros(problem.items.shape[0], dtype=bool)
    _, from_the_end = np.unique(problem.items[::-1], return_index=True)
    marks[-1 - from_the_end] = True
    return marks


def escape(
    train: Ratings, *, learning_rate: float, n_iter: int, random_state=0, **options
) -> pd.DataFrame:
    """The length of the growing part of U and V, measured in training and as C predicts it.

    The growing part is uᵀU + vᵀV, with u and v the first singular vectors of `escape_matrix`.
    Columns iteration, measured, predicted: the prediction starts from the first iteration.
    """
    sigma, u, v = top_direction(escape_matrix(train))
    model = GAPfm(
        learning_rate=learning_rate, n_iter=n_iter, random_state=random_state, **options,
    )  # fmt: skip

    def part(m: GAPfm) -> dict:
        return {
            "measured": float(np.linalg.norm(u @ m.user_factors_ + v @ m.item_factors_))
        }

    run = trace(model, train, part)
    growth = (1 + learning_rate * sigma) ** (run["iteration"] - 1)
    return run.assign(predicted=run["measured"].iloc[0] * growth).drop(columns="objective")


def gap_per_user(model: GAPfm | Factors, train: Ratings, held_out: Ratings) -> pd.DataFrame:
    """The held-out GAP of each user in one column, as `compare_splits` takes it."""
    U, V = model.user_factors_, model.item_factors_
    gaps = loop.held_out_gaps(U, V, train, held_out)
    return pd.DataFrame({"held-out GAP": gaps}, index=train.users)


def leads(
    results: Mapping[str, Sequence[pd.DataFrame]], reference: str, *, overlap: float
) -> pd.DataFrame:
    """One measure of several systems over the same splits, each compared with `reference`.

    results : for each system, a per-user table of one column for each split; overlap : as in
    `compare_splits`. Columns mean, over users and splits; lead, the mean difference from
    `reference` with its 95% interval over users and splits, as text; ahead, the number of splits
    in which the system's mean is the higher one. The last two are empty for `reference` itself.
    """
    rows = {}
    for name, tables in results.items():
        row = {
            "mean": float(average_splits(tables).mean().iloc[0]),
            "lead": "",
            "ahead": "",
        }
        if name != reference:
            against = results[reference]
            compared = compare_splits(tables, against, overlap=overlap).loc[0]
            numbers = compared[["difference", "ci_low", "ci_high"]]
            row["lead"] = "{:+.3f} [{:+.3f}, {:+.3f}]".format(*numbers).replace("-", "−")
            pairs = zip(tables, against, strict=True)
            ahead = sum(mine.mean().iloc[0] > other.mean().iloc[0] for mine, other in pairs)
            row["ahead"] = f"{ahead} of {len(tables)}"
        rows[name] = row
    return pd.DataFrame.from_dict(rows, orient="index")


def stopped_early(
    train: Ratings, validation: Ratings, *, n_iter: int = 100, **options
) -> GAPfm:
    """GAPfm trained for as many iterations as give the highest held-out GAP, at most `n_iter`.

    `options` go to GAPfm. Trained twice: once to find the iteration, once to stop there; with an
    int as `random_state` (0 by default) both trainings are the same.
    """
    options = {"random_state": 0} | options
    history = GAPfm(n_iter=n_iter, **options).fit(train, validation).history_
    best = history["iteration"].iloc[history["validation_gap"].argmax()]
    return GAPfm(n_iter=int(best), **options).fit(train)


def supremum(train: Ratings) -> float:
    """½ Σ_m Σ_ij β_mij: the least upper bound of (9) without 1/M at λ = 0, for any order."""
    delta = thresholding_probabilities(train.max_grade)
    rows = (train.row(m)[1] for m in range(train.n_users))
    return float(sum(pair_weights(grades, delta).sum() / 2 for grades in rows))


def degeneration(
    train: Ratings, validation: Ratings, *, reg: float, learning_rate: float, n_iter: int,
    every: int, random_state=0,
) -> pd.DataFrame:  # fmt: skip
    """What a training improves and what it does not, along the iterations.

    Columns reg, iteration, objective; share_of_supremum; training_gap, exact GAP of the training
    lists by themselves; held_out_gap; push_1 and push_2, the two largest singular values of the
    matrix of score gradients; top_share and agreement as in `personality`.
    """
    top = supremum(train)

    def measure(model: GAPfm) -> dict[str, float]:
        return (
            {
                "share_of_supremum": model.history_["objective"].iloc[-1] / top,
                "training_gap": _gap_of_lists(model, train),
                "held_out_gap": held_out_gap(model, validation),
            }
            | _pushes(model, train)
            | personality(model)
        )

    model = GAPfm(
        reg=reg, learning_rate=learning_rate, n_iter=n_iter, random_state=random_state,
    )  # fmt: skip
    run = trace(model, train, measure, every=every)
    run.insert(0, "reg", reg)
    return run


def _pushes(model: GAPfm, train: Ratings) -> dict[str, float]:
    """The two largest singular values of the matrix ∂F/∂f of score gradients, without λ."""
    delta = thresholding_probabilities(train.max_grade)
    gradients = [
        smoothed_gap_gradient(model.predict(m, items), grades, delta)
        for m, (items, grades) in enumerate(map(train.row, range(train.n_users)))
    ]
    C = escape_matrix(train)
    C.data = np.concatenate(gradients)
    first = np.ones(min(C.shape))  # the solver's own first vector is random
    second, top = sparse.linalg.svds(C, k=2, v0=first, return_singular_vectors=False)
    return {"push_1": float(top), "push_2": float(second)}


def _gap_of_lists(model: GAPfm, ratings: Ratings) -> float:
    rows = (ratings.row(m) for m in range(ratings.n_users))
    values = [
        graded_average_precision(grades, model.predict(m, items))
        for m, (items, grades) in enumerate(rows)
    ]
    return float(np.mean(values))


# ------------------------------------------------------------------ the explorable "train"

ADJECTIVES = (
    "Absent-Minded", "Borrowed", "Clockwork", "Drowsy", "Electric", "Forgetful", "Gilded",
    "Homesick", "Impossible", "Jealous", "Knitted", "Left-Handed", "Melancholy", "Nocturnal",
    "Overdue",
)  # fmt: skip
NOUNS = (
    "Accordion", "Beekeeper", "Cartographer", "Dirigible", "Escalator", "Flamingo", "Gondola",
    "Hedgehog", "Iceberg", "Lighthouse", "Moustache", "Porcupine", "Quartet", "Submarine",
)  # fmt: skip
# Held-out GAP is measured every so many iterations: it costs more than training.
COARSE, FINE = 10, 1


def invented_titles(n: int) -> list[str]:
    """`n` titles of films that nobody has made, all different.

    >>> from gapfm_lab.chapter_04 import invented_titles
    >>> invented_titles(3)
    ['The Absent-Minded Accordion', 'The Borrowed Beekeeper', 'The Clockwork Cartographer']
    """
    both = len(ADJECTIVES), len(NOUNS)
    if n > np.lcm(*both):
        raise ValueError(
            f"n must be at most {np.lcm(*both)}, got {n}; add words to the lists"
        )
    return [f"The {ADJECTIVES[k % both[0]]} {NOUNS[k % both[1]]}" for k in range(n)]


def invented_films(
    n_users: int = 300, n_items: int = 150, *, random_state: int = 0
) -> tuple[dict, Ratings, Ratings]:
    """Simulated ratings as the explorable "train" takes them, and the same as (train, held out).

    Given 10, with ten others of each user held out, and the tastes that they were drawn from.
    """
    ratings, U, V = simulate_ratings(
        n_users, n_items, mean_ratings=60, random_state=random_state, return_truth=True
    )
    train, rest = split_given(ratings, 10, random_state=random_state)
    held = sample_n(rest, 10, random_state=random_state)
    data = {
        "titles": invented_titles(n_items),
        "maxGrade": train.max_grade,
        "given": rows_for_page(train),
        "held": rows_for_page(held),
        "truth": {
            "U": np.ravel(U[train.users].astype(np.float32)),
            "V": np.ravel(V.astype(np.float32)),
            "D": U.shape[1],
        },
    }
    return data, train, held


def training_on_demand(train: Ratings, validation: Ratings) -> Callable[..., dict]:
    """What the explorable "train" asks where there is a kernel: a training of `GAPfm`, by setting.

    The function returned takes rate, reg, K, D, nIter, user and `fine`, and returns columns by
    iteration: objective (as a share of its ceiling), length of the growing part, held-out GAP (nan
    where it was not measured: only a fine answer has all), lists of (title, held-out grade); and
    what does not change along the iterations.
    """
    ceiling = supremum(train)
    sigma, a, b = top_direction(escape_matrix(train))
    worth = gap_gains(train.max_grade)[train.grades]
    counted = np.bincount(train.indices, worth, train.n_items)[:, None]
    counting = loop.held_out_gap(np.ones((train.n_users, 1)), counted, train, validation)

    # The coarse answer and the fine one, and another user, are one training.
    @lru_cache(maxsize=2)
    def trained(rate: float, reg: float, K: int, D: int, nIter: int):
        states: list[tuple[np.ndarray, np.ndarray]] = []
        model = GAPfm(
            D, reg=reg, learning_rate=rate, n_iter=nIter, random_state=0,
            n_selected=None if train.n_ratings <= K else K,
        )  # fmt: skip
        model.fit(
            train,
            callback=lambda _, m: states.append((m.user_factors_, m.item_factors_)),
        )
        return model.history_["objective"].to_numpy() / ceiling, states

    @lru_cache(maxsize=200)
    def gap(iteration: int, **setting) -> float:
        U, V = trained(**setting)[1][iteration]
        return loop.held_out_gap(U, V, train, validation)

    def length(U: np.ndarray, V: np.ndarray) -> float:
        return float(np.linalg.norm(a @ U + b @ V))

    def answer(*, user: int, fine: bool, **setting) -> dict:
        objective, states = trained(**setting)
        user %= train.n_users
        every, n = (FINE if fine else COARSE), len(states)
        gaps = np.full(n, np.nan)
        for t in {*range(0, n, every), n - 1}:
            gaps[t] = gap(t, **setting)
        start = small_start(train, 0, setting["D"])
        return {
            "sigma": sigma,
            "counting": counting,
            "start": length(*start),
            "objective": objective,
            "length": np.array([length(U, V) for U, V in states]),
            "gap": gaps,
            "lists": [_best(train, validation, user, U, V) for U, V in states],
        }

    return answer


def _best(train: Ratings, validation: Ratings, user: int, U, V, n: int = 10) -> list[dict]:
    """The films with the highest scores that `user` has not rated in training, ties to the first."""
    scores = V @ U[user]
    scores[train.row(user)[0]] = -np.inf
    held = dict(zip(*(part.tolist() for part in validation.row(user)), strict=True))
    top = np.argsort(-scores, kind="stable")[:n]
    return [{"text": str(train.titles[i]), "held": held.get(int(i), 0)} for i in top]
