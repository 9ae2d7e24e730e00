"""What `GAPfm` can maximise, each with its own way of climbing.

Each class offers the same to the training loop. Where training stands is a `State`: arrays by
name. Those named in `learned` make the model; others are what the steps need to remember.
`defaults` are what the parameters are that a model was not given.

    start(model, train, rng) -> State        before the first iteration
    gradients(state, iteration) -> float     the objective; the gradients stay, for `step`
    step(state, rng) -> State                one iteration further
    validation_gap(state) -> float
    fold_in(model, items, grades) -> (D,)    a new user's factors
"""

from collections.abc import Callable, Mapping

import numpy as np

from . import kernels
from .metrics import thresholding_probabilities
from .ratings import Ratings
from .relatives import stopping_probabilities
from .smooth import user_gradient
from .steps import suitable_learning_rate
from .training import Problem

State = dict[str, np.ndarray]

FIRST_MOVE = 0.3  # "auto" for Adagrad
_TINY = 1e-12  # keeps 0/0 out where a gradient has always been 0


class PrintedObjective:
    """(9), by Algorithm 2: plain gradient ascent."""

    defaults: Mapping[str, float] = {
        "reg": 0.001,
        "learning_rate": 0.01,
        "init_scale": 0.01,
    }
    learned = ("user_factors", "item_factors")

    def __init__(self, model, train: Ratings, validation: Ratings | None):
        self._model, self._problem = model, Problem(train, validation)
        rate = model.learning_rate
        if rate == "auto":
            rate = suitable_learning_rate(self._problem, model.reg)
        self.learning_rate = float(rate)

    @staticmethod
    def start(model, train: Ratings, rng) -> State:
        U = rng.normal(0.0, model.init_scale, (train.n_users, model.n_factors))
        V = rng.normal(0.0, model.init_scale, (train.n_items, model.n_factors))
        return {"user_factors": U, "item_factors": V}

    def gradients(self, state: State, iteration: int) -> float:
        return self._gradients(state["user_factors"], state["item_factors"])

    def _gradients(self, U, V, marks=None) -> float:
        """F at U, V, whose gradients the problem then holds; V's from the selected ratings."""
        model = self._model
        return self._problem.gradients(
            U, V, model.reg, marks=marks, inner_selected=model.inner_sum == "selected",
            n_selected=model.n_selected if model.selection == "adaptive" else None,
        )  # fmt: skip

    def step(self, state: State, rng) -> State:
        """One iteration of Algorithm 2 from U^(t), V^(t)."""
        model, problem, rate = self._model, self._problem, self.learning_rate
        U, V = state["user_factors"], state["item_factors"]
        U_new = U + rate * problem.user_gradient
        random = model.selection == "random" and model.n_selected is not None
        if random or model.update == "sequential":
            selected = problem.select(model.n_selected, model.selection, rng)
        if model.update == "sequential":
            V_new = V.copy()
            kernels.update_items_in_turn(
                U, V_new, problem.indptr, problem.items, problem.grades, problem.cumulative,
                selected, model.inner_sum == "selected", model.reg, rate,
            )  # fmt: skip
        else:
            if random:
                self._gradients(U, V, marks=selected)
            V_new = V + rate * problem.item_gradient
        return {"user_factors": U_new, "item_factors": V_new}

    def validation_gap(self, state: State) -> float:
        return self._problem.validation_gap(state["user_factors"], state["item_factors"])

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


def _accumulated(max_grade: int) -> np.ndarray:
    """Δ(y) for y = 0..max_grade."""
    return np.append(0.0, np.cumsum(thresholding_probabilities(max_grade)))


def _relevance(max_grade: int) -> np.ndarray:
    return np.append(0.0, np.ones(max_grade))


# For each measure the kernel's kind, and the gains for grades 0..max_grade.
WEIGHTINGS: dict[str, tuple[int, Callable[[int], np.ndarray]]] = {
    "consistent": (kernels.PAIRS, _accumulated),
    "average_precision": (kernels.PAIRS, _relevance),
    "graded_precision": (kernels.PRECISION, _accumulated),
    "graded_recall": (kernels.RECALL, _accumulated),
    "expected_reciprocal_rank": (kernels.CASCADE, stopping_probabilities),
}


class ConsistentObjective:
    """Σ_m (measure of user m) - λ/2 (‖U‖² + ‖V‖² + ‖b‖²) of `consistent`, by Adagrad.

    `model.objective` names the measure, a row of `WEIGHTINGS`; all else is the same for all.

    Adagrad divides each coordinate of a gradient by the root of the sum of the squares that
    this coordinate has had. The size of the gradient tells little here: 1/R̂ makes it hundreds
    of times larger once an item has come to the top.

    Scores <U_m, V_i> + b_i are products of the rows (U_m, 1) and (V_i, b_i): one kernel does for
    both. The unrated items of an iteration depend on `sample_key` and its number alone, so that
    a resumed training sees the same ones.
    """

    # Found by tuning on MovieLens 100K. A large start and much λ: from a small one the factors
    # may never leave 0, where with items far from the top the gradient is less than λ takes.
    defaults: Mapping[str, float] = {
        "reg": 0.06, "learning_rate": FIRST_MOVE, "init_scale": 0.3
    }  # fmt: skip
    learned = ("user_factors", "item_factors", "item_bias")

    def __init__(self, model, train: Ratings, validation: Ratings | None):
        self._model = model
        self._problem = SampledProblem(train, validation, model.objective, model.cutoff)
        rate = model.learning_rate
        self.learning_rate = FIRST_MOVE if rate == "auto" else float(rate)
        self._gradient: State = {}

    @staticmethod
    def start(model, train: Ratings, rng) -> State:
        state = PrintedObjective.start(model, train, rng)
        state["item_bias"] = np.zeros(train.n_items)
        state |= {f"{name}_squares": np.zeros_like(x) for name, x in state.items()}
        return state | {"sample_key": rng.integers(2**32, size=4)}

    def gradients(self, state: State, iteration: int) -> float:
        model, rows = self._model, _with_bias(state)
        rng = np.random.default_rng([*state["sample_key"], iteration])
        # Of a catalogue no larger than the sample all items come, whatever the numbers are.
        n = min(model.n_negatives, rows[1].shape[0])
        uniforms = rng.random((rows[0].shape[0], n))
        value, by_user, by_item = self._problem.sampled_gradients(
            *rows, uniforms, model.temperature, model.unrated_weight
        )
        self._gradient = {
            "user_factors": by_user[:, :-1],
            "item_factors": by_item[:, :-1],
            "item_bias": by_item[:, -1],
        }
        for name in self.learned:
            self._gradient[name] -= model.reg * state[name]
            value -= model.reg / 2 * float(np.sum(state[name] ** 2))
        return value

    def step(self, state: State, rng) -> State:
        new = dict(state)
        for name, gradient in self._gradient.items():
            squares = state[f"{name}_squares"] + gradient**2
            new[f"{name}_squares"] = squares
            new[name] = state[name] + _adagrad(self.learning_rate, gradient, squares)
        return new

    def validation_gap(self, state: State) -> float:
        return self._problem.validation_gap(*_with_bias(state))

    @staticmethod
    def fold_in(model, items: np.ndarray, grades: np.ndarray) -> np.ndarray:
        """Adagrad from 0, on the whole catalogue instead of a sample."""
        if not items.size:
            return np.zeros(model.n_factors)
        best_first = np.argsort(-grades, kind="stable")
        others = np.setdiff1d(np.arange(model.train_.n_items), items)
        listed = np.concatenate([items[best_first], others])
        V, b = model.item_factors_[listed], model.item_bias_[listed]
        kind, by_grade = WEIGHTINGS[model.objective]
        gains = by_grade(model.train_.max_grade)[grades[best_first]]
        kernels.normalize_gains(kind, model.cutoff, gains)
        scratch, c = np.empty((3, listed.size)), np.empty(listed.size)
        u, squares = np.zeros(model.n_factors), np.zeros(model.n_factors)
        for _ in range(model.n_iter_):
            kernels.consistent_sums(
                V @ u + b, gains, kind, model.cutoff, model.unrated_weight,
                model.temperature, scratch, c,
            )  # fmt: skip
            gradient = c @ V - model.reg * u
            squares += gradient**2
            u = u + _adagrad(model.learning_rate_, gradient, squares)
        return u


OBJECTIVES: dict[str, type[PrintedObjective] | type[ConsistentObjective]] = {
    "paper": PrintedObjective,
    **dict.fromkeys(WEIGHTINGS, ConsistentObjective),
}


class SampledProblem(Problem):
    """`Problem` with the gradients of a consistent objective; each row of U ends with 1."""

    def __init__(
        self, train: Ratings, validation: Ratings | None, objective="consistent", cutoff=5
    ):
        super().__init__(train, validation)
        self._kind, by_grade = WEIGHTINGS[objective]
        self._gains, self._cutoff = by_grade(train.max_grade), cutoff

    def sampled_gradients(self, U, V, uniforms, tau, unrated_weight) -> tuple:
        """Σ_m (measure of m) with `uniforms` (n_users, n) for the samples, ∂/∂U and ∂/∂V."""
        blocks = self._blocks(V.shape[1])
        values, parts = np.empty(U.shape[0]), np.empty((blocks.size - 1, *V.shape))
        by_user, by_item = np.empty_like(U), np.empty_like(V)
        kernels.consistent_gradients(
            U, V, self.indptr, self.items, self.grades, self._gains, self.train.indices,
            uniforms, self._kind, self._cutoff, tau, unrated_weight, blocks,
            values, by_user, parts,
        )  # fmt: skip
        kernels.add_blocks(parts, by_item)
        return float(values.sum()), by_user, by_item


def _with_bias(state: State) -> tuple[np.ndarray, np.ndarray]:
    U, V = state["user_factors"], state["item_factors"]
    ones = np.ones(U.shape[0])
    return np.column_stack([U, ones]), np.column_stack([V, state["item_bias"]])


def _adagrad(rate: float, gradient: np.ndarray, squares: np.ndarray) -> np.ndarray:
    return rate * gradient / (np.sqrt(squares) + _TINY)
