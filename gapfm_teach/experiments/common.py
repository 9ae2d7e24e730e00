"""What the experiments share: the three-way split, watching a training, the batch iteration."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from ..checks import check_count, check_random_state
from ..model import GAPfm
from ..ratings import Ratings
from ..splits import split_given
from ..training import Problem, threads

# Steps that leave the start within a few dozen iterations, for each number of given ratings.
LEARNING_RATES = {10: 0.02, 20: 0.006, 30: 0.003, 50: 0.003}


def split_three(
    ratings: Ratings, n_given: int, *, n_validation: int = 10, random_state=None
) -> tuple[Ratings, Ratings, Ratings]:
    """Split into train (`n_given` ratings a user), validation (`n_validation`) and test (the rest).

    Two calls of `split_given`, so all three have the same users, those with at least
    n_given + n_validation + 10 ratings, and the same items. Raises ValueError as it does.
    """
    rng = check_random_state(random_state)
    n_validation = check_count(n_validation, "n_validation")
    n_given = check_count(n_given, "n_given")
    known, test = split_given(ratings, n_given + n_validation, random_state=rng)
    train, validation = split_given(known, n_given, min_test=n_validation, random_state=rng)
    return train, validation, test


def trace(
    model: GAPfm, train: Ratings, measure: Callable[[GAPfm], dict], *, every: int = 1
) -> pd.DataFrame:
    """Fit `model` to `train` and note iteration, objective and `measure(model)` on the way.

    A row for iterations 1, 1 + every, 1 + 2·every, ...; `measure` returns names and numbers.
    """
    check_count(every, "every")
    rows = []

    def note(iteration: int, fitted: GAPfm) -> None:
        if (iteration - 1) % every == 0:
            objective = fitted.history_["objective"].iloc[-1]
            rows.append({"iteration": iteration, "objective": objective} | measure(fitted))

    model.fit(train, callback=note)
    return pd.DataFrame(rows)


def held_out_gap(train: Ratings, validation: Ratings) -> Callable[[GAPfm], float]:
    """A function that gives the held-out GAP of a model of these users and items."""
    problem = Problem(train, validation)
    return lambda model: problem.validation_gap(model.user_factors_, model.item_factors_)


def ascend(
    problem: Problem, factors: Sequence[np.ndarray], *, learning_rate: float, reg: float,
    n_iter: int, every: int = 2, select: Callable[[Problem], np.ndarray] | None = None,
    measure: Callable[[Problem], dict] | None = None,
) -> pd.DataFrame:  # fmt: skip
    """The batch iteration of `GAPfm.fit` from given factors U, V; rows as `trace` notes them.

    `select` marks the ratings, in `problem`'s order, whose items move; None moves all. Columns
    iteration, objective, held_out_gap, and what `measure` returns by name.
    """
    (U, V), rows = factors, []
    with threads(1, problem.train):
        problem.gradients(U, V, reg)
        for iteration in range(1, n_iter + 1):
            if select is not None:
                problem.gradients(U, V, reg, marks=select(problem))
            U = U + learning_rate * problem.user_gradient
            V = V + learning_rate * problem.item_gradient
            objective = problem.gradients(U, V, reg)
            if (iteration - 1) % every == 0:
                row = {"iteration": iteration, "objective": objective}
                row["held_out_gap"] = problem.validation_gap(U, V)
                rows.append(row | (measure(problem) if measure else {}))
    return pd.DataFrame(rows)


def small_start(train: Ratings, random_state, n_factors: int = 10) -> list[np.ndarray]:
    """U and V as `GAPfm` starts them by default."""
    rng = check_random_state(random_state)
    return [rng.normal(0.0, 0.01, (n, n_factors)) for n in (train.n_users, train.n_items)]


def tidy(runs: list[pd.DataFrame], keys: list[str]) -> pd.DataFrame:
    """One table of all runs, what tells them apart first."""
    table = pd.concat(runs, ignore_index=True)
    return table[[*keys, *(name for name in table.columns if name not in keys)]]
