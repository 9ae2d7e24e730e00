"""What each objective does in its own way, where `tasks` do the same for all.

A row of an array holds all that training knows of a user or an item: the numbers learned, and for
Adagrad, behind them, the sum of the squares that the gradient of each has had. Only what is learned
of the items travels, and a sum of its size.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from ..learning.consistent import Consistent, SampledProblem, adagrad, sample_key
from ..learning.training import Problem
from ..ratings import Ratings


class Turn(NamedTuple):
    """Whose pass this is: the iteration, from 1 on, and the part's users among all; and the
    training's `sample_key`."""

    iteration: int
    users: range
    key: list[int]


@dataclass(frozen=True)
class Plain:
    """(9), along its gradient."""

    n_factors: int

    numbers: ClassVar[int] = 1  # kept for each one learned
    has_bias: ClassVar[bool] = False

    def key(self, rng: np.random.Generator) -> list[int]:
        return []

    def problem(self, train: Ratings) -> Problem:
        return Problem(train)

    def first_users(self, U: np.ndarray) -> np.ndarray:
        """Rows of users who begin with these factors."""
        return U

    def first_items(self, V: np.ndarray) -> np.ndarray:
        return V

    def learned(self, rows: np.ndarray) -> np.ndarray:
        return rows

    def gradients(self, problem: Problem, U, V, turn: Turn) -> tuple:
        """The objective, and its gradients in what is learned of users and items, without λ."""
        return problem.gradients(U, V, 0.0)

    def step(self, rows: np.ndarray, gradient: np.ndarray, rate: float) -> np.ndarray:
        return rows + rate * gradient


@dataclass(frozen=True)
class Adagrad:
    """An objective of `repaired`. An item's row begins with (V_i, b_i)."""

    n_factors: int
    objective: str
    options: Consistent

    numbers: ClassVar[int] = 2
    has_bias: ClassVar[bool] = True

    def key(self, rng: np.random.Generator) -> list[int]:
        return sample_key(rng).tolist()

    def problem(self, train: Ratings) -> SampledProblem:
        return SampledProblem(train, self.objective, self.options.shape)

    def first_users(self, U: np.ndarray) -> np.ndarray:
        return np.hstack([U, np.zeros_like(U)])

    def first_items(self, V: np.ndarray) -> np.ndarray:
        return self.first_users(np.column_stack([V, np.zeros(V.shape[0])]))

    def learned(self, rows: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(np.hsplit(rows, 2)[0])

    def gradients(self, problem, U, V, turn: Turn) -> tuple:
        options = self.options
        uniforms = options.uniforms(turn.key, turn.iteration, V.shape[0], turn.users)
        U = np.column_stack([U, np.ones(U.shape[0])])  # 1 for b
        value, by_user, by_item = problem.sampled_gradients(
            U, V, uniforms, options.temperature, options.unrated_weight
        )
        return value, by_user[:, :-1], by_item

    def step(self, rows: np.ndarray, gradient: np.ndarray, rate: float) -> np.ndarray:
        before, squares = np.hsplit(rows, 2)
        squares = squares + gradient**2
        return np.hstack([before + adagrad(rate, gradient, squares), squares])


Climb = Plain | Adagrad
