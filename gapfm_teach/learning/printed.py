"""The objective as the paper prints it, (9), climbed by Algorithm 2."""

from dataclasses import dataclass

import numpy as np

from .. import kernels
from .._support.checks import check_choice, check_count
from ..metrics import thresholding_probabilities
from ..ratings import Ratings
from ..smooth import user_gradient
from .automatic_step import suitable_learning_rate
from .training import Problem, State, distance


@dataclass(frozen=True)
class Printed:
    """What `GAPfm` takes besides with objective="paper".

    n_selected : int K >= 1, or None for all: rated items of a user whose V an iteration updates.
    selection : "adaptive" (Algorithm 1: the K most misranked) or "random"; without effect when
        `n_selected` is None.
    inner_sum : "rated" or "selected": which items j the inner sums of (11) run over. (11) as
        printed sums over all rated items, and one shared pass then serves U and V; the cost
        O(D K^2 M) stated in section 4.3 needs "selected".
    update : "batch" (sum the gradients over users, then step) or "sequential" (user after user in
        place, where λ shrinks an item at each visit of a user, as (11) and Algorithm 2 read).
    """

    n_selected: int | None = None
    selection: str = "adaptive"
    inner_sum: str = "rated"
    update: str = "batch"

    def __post_init__(self):
        if self.n_selected is not None:
            # numpy's whole numbers are none for JSON
            object.__setattr__(
                self, "n_selected", check_count(self.n_selected, "n_selected")
            )
        check_choice(self.selection, "selection", ("adaptive", "random"))
        check_choice(self.inner_sum, "inner_sum", ("rated", "selected"))
        check_choice(self.update, "update", ("batch", "sequential"))


class PrintedObjective:
    """(9), by Algorithm 2: plain gradient ascent."""

    learned = ("user_factors", "item_factors")

    def __init__(
        self, name: str, train: Ratings, reg: float, learning_rate: float | str,
        options: Printed, rng: np.random.Generator,
    ):  # fmt: skip
        self.problem, self.reg, self.options, self._rng = Problem(train), reg, options, rng
        if learning_rate == "auto":
            learning_rate = suitable_learning_rate(self.problem, reg)
        self.learning_rate = float(learning_rate)

    @staticmethod
    def start(train: Ratings, n_factors: int, init_scale: float, rng) -> State:
        U = rng.normal(0.0, init_scale, (train.n_users, n_factors))
        V = rng.normal(0.0, init_scale, (train.n_items, n_factors))
        return {"user_factors": U, "item_factors": V}

    def gradients(self, state: State, iteration: int) -> tuple[float, State]:
        """F, ∂F/∂U of all ratings, ∂F/∂V of the most misranked ones where those are selected."""
        adaptive = self.options.selection == "adaptive"
        value, by_user, by_item = self._gradients(
            state, n_selected=self.options.n_selected if adaptive else None
        )
        return value, {"user_factors": by_user, "item_factors": by_item}

    def _gradients(self, state: State, **selected) -> tuple[float, np.ndarray, np.ndarray]:
        inner = self.options.inner_sum == "selected"
        return self.problem.gradients(
            *self.factors(state), self.reg, inner_selected=inner, **selected
        )

    def step(self, state: State, gradient: State, iteration: int) -> tuple[State, float]:
        """One iteration of Algorithm 2 from U^(t), V^(t)."""
        (U, V), rate = self.factors(state), self.learning_rate
        by_item = gradient["item_factors"]
        if self.drawn:
            by_item = self._gradients(state, marks=self.marks(state))[2]
        in_turn = self.options.update == "sequential"
        new = {
            "user_factors": U + rate * gradient["user_factors"],
            "item_factors": self._in_turn(state) if in_turn else V + rate * by_item,
        }
        return new, distance(new, state, self.learned)

    @property
    def drawn(self) -> bool:
        """Whether the ratings whose items move are chosen before a batch step, and not by the
        kernel as it goes."""
        options = self.options
        chosen = options.n_selected is not None and options.selection == "random"
        return chosen and options.update == "batch"

    def marks(self, state: State) -> np.ndarray:
        """The ratings whose items a step moves, (n_ratings,)."""
        problem, k = self.problem, self.options.n_selected
        if k is None:
            return np.ones(problem.items.shape[0], dtype=np.bool_)
        scores = problem.scores(*self.factors(state))
        return problem.select(scores, k, self.options.selection, self._rng)

    def _in_turn(self, state: State) -> np.ndarray:
        """V^(t+1), each user seeing the V that the last one left."""
        (U, V), problem = self.factors(state), self.problem
        V_new = V.copy()
        kernels.update_items_in_turn(
            U, V_new, problem.indptr, problem.items, problem.grades, problem.accumulated,
            self.marks(state), self.options.inner_sum == "selected", self.reg, self.learning_rate,
        )  # fmt: skip
        return V_new

    @staticmethod
    def factors(state: State) -> tuple[np.ndarray, np.ndarray]:
        return state["user_factors"], state["item_factors"]

    @staticmethod
    def fold_in(model, items: np.ndarray, grades: np.ndarray) -> np.ndarray:
        """Gradient ascent by (10) from 0."""
        delta, V = thresholding_probabilities(model.train_.max_grade), model.item_factors_
        u = np.zeros(model.n_factors)
        for _ in range(model.n_iter_):
            u = u + model.learning_rate_ * user_gradient(
                u, V[items], grades, delta=delta, reg=model.reg
            )
        return u
