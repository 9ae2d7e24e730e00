"""What the experiments share: the three-way split, watching a training, the batch iteration."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..._support.checks import check_count, check_random_state
from ...learning import training
from ...learning.machine import threads
from ...learning.printed import Printed, PrintedObjective
from ...learning.training import Problem, State
from ...model import GAPfm
from ...ratings import Ratings
from ...splits import split_given

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


def held_out_gap(model: GAPfm, validation: Ratings) -> float:
    """The held-out GAP of a model without biases."""
    U, V = model.user_factors_, model.item_factors_
    return training.held_out_gap(U, V, model.train_, validation)


# Marks the ratings whose items an iteration moves, in `problem`'s order, at their scores.
Select = Callable[[Problem, np.ndarray], np.ndarray]


_NO_DRAWS = np.random.default_rng(0)  # what selects here draws for itself


class _Selecting(PrintedObjective):
    """Algorithm 2 with a selection of one's own."""

    drawn = True

    def __init__(self, train: Ratings, reg: float, learning_rate: float, select: Select):
        super().__init__("paper", train, reg, learning_rate, Printed(), _NO_DRAWS)
        self._select = select

    def marks(self, state: State) -> np.ndarray:
        return self._select(self.problem, self.problem.scores(*self.factors(state)))


def _goal(
    train: Ratings, reg: float, learning_rate: float, select: Select | None
) -> PrintedObjective:
    if select is None:
        return PrintedObjective("paper", train, reg, learning_rate, Printed(), _NO_DRAWS)
    return _Selecting(train, reg, learning_rate, select)


def ascend(
    train: Ratings, validation: Ratings | None, factors: Sequence[np.ndarray], *,
    learning_rate: float, reg: float, n_iter: int, every: int = 2,
    select: Select | None = None,
    measure: Callable[[Problem, np.ndarray], dict] | None = None,
) -> pd.DataFrame:  # fmt: skip
    """The batch iteration of `GAPfm.fit` from given factors U, V; rows as `trace` notes them.

    `select` marks the ratings whose items move; None moves all. Columns iteration, objective,
    held_out_gap (nan without `validation`), and what `measure` returns by name.
    """
    goal = _goal(train, reg, learning_rate, select)
    state, rows = dict(zip(goal.learned, factors, strict=True)), []
    with threads(1, train):
        for done in training.ascend(goal, state, n_iter=n_iter):
            if (done.number - 1) % every == 0:
                U, V = goal.factors(done.state)
                row = {"iteration": done.number, "objective": done.objective}
                row["held_out_gap"] = float("nan")
                if validation is not None:
                    row["held_out_gap"] = training.held_out_gap(U, V, train, validation)
                if measure is not None:
                    row |= measure(goal.problem, goal.problem.scores(U, V))
                rows.append(row)
    return pd.DataFrame(rows)


class Factors(NamedTuple):
    """U and V as a model that lists can be made with."""

    user_factors_: np.ndarray
    item_factors_: np.ndarray

    def predict(self, user: int, items: np.ndarray) -> np.ndarray:
        """f of (1)."""
        return self.item_factors_[items] @ self.user_factors_[user]


def ascended(
    train: Ratings, factors: Sequence[np.ndarray], *, learning_rate: float, reg: float,
    n_iter: int, select: Select | None = None,
) -> Factors:  # fmt: skip
    """Where `ascend` ends."""
    goal = _goal(train, reg, learning_rate, select)
    state = dict(zip(goal.learned, factors, strict=True))
    with threads(1, train):
        for done in training.ascend(goal, state, n_iter=n_iter):
            state = done.state
    return Factors(*goal.factors(state))


def small_start(train: Ratings, random_state, n_factors: int = 10) -> list[np.ndarray]:
    """U and V as `GAPfm` starts them by default."""
    rng = check_random_state(random_state)
    return [rng.normal(0.0, 0.01, (n, n_factors)) for n in (train.n_users, train.n_items)]


def tidy(runs: list[pd.DataFrame], keys: list[str]) -> pd.DataFrame:
    """One table of all runs, what tells them apart first."""
    table = pd.concat(runs, ignore_index=True)
    return table[[*keys, *(name for name in table.columns if name not in keys)]]


def rows_for_page(ratings: Ratings) -> dict[str, np.ndarray]:
    """`ratings` as the page's engine takes them, in numbers no larger than they need be."""
    small = np.uint8 if ratings.n_items <= 256 else np.int32
    return {
        "indptr": ratings.indptr.astype(np.int32),
        "items": ratings.indices.astype(small),
        "grades": ratings.grades.astype(np.uint8),
    }
