"""What the experiments share: the three-way split, watching a training, the batch iteration."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from gapfm_teach._support.checks import check_count, check_random_state
from gapfm_teach.model import GAPfm
from gapfm_teach.ratings import Ratings
from gapfm_teach.splits import split_given
from gapfm_teach.training import loop
from gapfm_teach.training.data import TrainingData
from gapfm_teach.training.loop import State, Training
from gapfm_teach.training.machine import threads
from gapfm_teach.training.objectives import PaperObjective
from gapfm_teach.training.optimizers import GradientAscent

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
    return loop.held_out_gap(U, V, model.train_, validation)


# Marks the ratings whose items an iteration moves, in `data`'s order, at their scores.
Select = Callable[[TrainingData, np.ndarray], np.ndarray]


def _training(
    train: Ratings, reg: float, learning_rate: float, select: Select | None
) -> Training:
    """Algorithm 2 with a selection of one's own."""
    return Training(
        TrainingData(train), PaperObjective(), GradientAscent(), reg, learning_rate, select
    )


def _state(factors: Sequence[np.ndarray]) -> State:
    U, V = factors
    return State(U, V, np.empty(0, np.int64))


def ascend(
    train: Ratings, validation: Ratings | None, factors: Sequence[np.ndarray], *,
    learning_rate: float, reg: float, n_iter: int, every: int = 2,
    select: Select | None = None,
    measure: Callable[[TrainingData, np.ndarray], dict] | None = None,
) -> pd.DataFrame:  # fmt: skip
    """The batch iteration of `GAPfm.fit` from given factors U, V; rows as `trace` notes them.

    `select` marks the ratings whose items move; None moves all. Columns iteration, objective,
    held_out_gap (nan without `validation`), and what `measure` returns by name.
    """
    training, rows = _training(train, reg, learning_rate, select), []
    data = training.data
    with threads(1, train):
        for done in loop.fit_factors(training, _state(factors), n_iter=n_iter):
            if (done.number - 1) % every == 0:
                U, V = training.parameters(done.state)
                row = {"iteration": done.number, "objective": done.objective}
                row["held_out_gap"] = float("nan")
                if validation is not None:
                    row["held_out_gap"] = loop.held_out_gap(U, V, train, validation)
                if measure is not None:
                    row |= measure(data, data.scores(U, V))
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
    training, state = _training(train, reg, learning_rate, select), _state(factors)
    with threads(1, train):
        for done in loop.fit_factors(training, state, n_iter=n_iter):
            state = done.state
    return Factors(*training.parameters(state))


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
