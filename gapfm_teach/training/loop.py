"""The loop of Algorithm 2, for any objective and any optimizer."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .. import kernels
from ..paper import thresholding_probabilities
from ..ratings import Ratings
from .data import TrainingData
from .machine import progress
from .objectives import Select, user_columns
from .optimizers import Optimizer, regularised_step
from .sampling import IterationContext, sample_key

_MODEST_RATE = 0.1  # a tenth of a huge rate is no advice


class State(NamedTuple):
    """The state of a training: a row for each user and each item, as its optimizer keeps them, and
    what its samples depend on, empty where it draws none."""

    users: np.ndarray
    items: np.ndarray
    sample_key: np.ndarray


@dataclass
class Training:
    """An objective on some ratings, with an optimizer: what `fit_factors` goes through.

    select : marks the ratings whose items a step moves; None for what the objective itself does.
    """

    data: TrainingData
    objective: Any  # as `objectives` says
    optimizer: Optimizer
    reg: float
    learning_rate: float
    select: Select | None = None

    def start(self, n_factors: int, init_scale: float, rng: np.random.Generator) -> State:
        """U, then V, from a normal distribution with this deviation; b, where there is one, is 0."""
        train, objective = self.data.train, self.objective
        U = rng.normal(0.0, init_scale, (train.n_users, n_factors))
        V = rng.normal(0.0, init_scale, (train.n_items, n_factors))
        if objective.has_bias:
            V = np.column_stack([V, np.zeros(train.n_items)])
        key = np.empty(0, np.int64) if objective.n_negatives is None else sample_key(rng)
        return State(self.optimizer.start(U), self.optimizer.start(V), key)

    def parameters(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """U, and V with b as its last column where there is one."""
        return self.optimizer.parameters(state.users), self.optimizer.parameters(
            state.items
        )

    def score_factors(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """Two matrices whose rows' products are the scores."""
        U, V = self.parameters(state)
        return user_columns(U, self.objective.has_bias), V

    def gradients(self, state: State, iteration: int) -> tuple[float, list[np.ndarray]]:
        """The objective, and its gradients in U and V without λ, as `iteration` sees it."""
        U, V = self.parameters(state)
        value, *gradients = self._gradients(state, iteration)
        return value - self.reg / 2 * float(np.sum(U**2) + np.sum(V**2)), gradients

    def _gradients(self, state: State, iteration: int, marks=None):
        context = IterationContext(
            iteration, range(self.data.train.n_users), state.sample_key
        )
        return self.objective.gradients(self.data, *self.parameters(state), context, marks)

    def step(self, state: State, gradients, iteration: int) -> tuple[State, float]:
        """Where an iteration leads, and how far: U and V both move from `state`."""
        by_user, by_item = gradients
        marks, in_turn = None, self.objective.in_turn
        if self.select is not None:
            marks = self.select(self.data, self.data.scores(*self.score_factors(state)))
            if not in_turn:
                by_item = self._gradients(state, iteration, marks)[2]
        users, moved = self._along(state.users, by_user)
        if in_turn:
            U, V = self.parameters(state)
            items = self.objective.items_in_turn(
                self.data, U, V, marks, self.reg, self.learning_rate
            )
            items_moved = float(np.sum((items - V) ** 2))
        else:
            items, items_moved = self._along(state.items, by_item)
        new = State(users, items, state.sample_key)
        return new, float(np.sqrt(moved + items_moved))

    def _along(self, rows: np.ndarray, gradient: np.ndarray) -> tuple[np.ndarray, float]:
        rate = self.learning_rate
        return regularised_step(self.optimizer, rows, gradient, self.reg, rate)


class Iteration(NamedTuple):
    """What an iteration of `fit_factors` came to: its number, from 1 on; where training then
    stands; the objective there; and the length of the step that led there."""

    number: int
    state: Any
    objective: float
    moved: float


def fit_factors(training, state, *, first: int = 1, n_iter: int) -> Iterator[Iteration]:
    """Iterations `first` to `n_iter` of gradient ascent from `state`: the loop of Algorithm 2.

    `training` : a `Training`, or what has its `gradients`, `step` and `learning_rate`. Raises
    FloatingPointError, naming the iteration and a smaller learning rate, where a value is no longer
    finite.
    """
    _, gradients = training.gradients(state, first)
    for number in progress(first, n_iter):
        with np.errstate(over="ignore", invalid="ignore"):
            new, moved = training.step(state, gradients, number)
            objective, gradients = training.gradients(new, number + 1)
        if not np.isfinite(objective):
            raise diverged(number, training.learning_rate)
        yield Iteration(number, new, objective, moved)
        state = new


def diverged(iteration: int, rate: float) -> FloatingPointError:
    """The error of a training whose values in `iteration` are no longer finite."""
    kept = f"The factors of iteration {iteration - 1} are kept"
    return FloatingPointError(
        f"training left the finite numbers in iteration {iteration}; try a learning_rate "
        f"below {rate:g}, such as {min(rate / 10, _MODEST_RATE):g} or 'auto', and should that "
        "not help, milder values of what else is far from its default (reg, init_scale, "
        "temperature, unrated_weight). "
        + (kept if iteration > 1 else "The model stays as it was before")
    )


def held_out_gap(U, V, train: Ratings, held_out: Ratings) -> float:
    """Mean of `held_out_gaps` over users; nan without any."""
    gap = held_out_gaps(U, V, train, held_out)
    return float(np.nanmean(gap)) if np.isfinite(gap).any() else float("nan")


def held_out_gaps(U, V, train: Ratings, held_out: Ratings) -> np.ndarray:
    """GAP of each user's held-out items among all items not in training; nan for a user without any.

    U (n_users, D), V (n_items, D): factors whose products are the scores. Returns (n_users,).
    """
    ranks = np.empty(held_out.n_ratings, dtype=np.int64)
    users, delta = held_out.n_users, thresholding_probabilities(train.max_grade)
    kernels.parallel_for(
        kernels.held_out_ranks, users, U, V.T.copy(), train.indptr, train.indices,
        held_out.indptr, held_out.indices, ranks,
    )  # fmt: skip
    gaps = np.empty(users)
    kernels.parallel_for(
        kernels.gap_at_ranks, users, ranks, held_out.indptr, held_out.grades, delta, gaps
    )
    return gaps
