"""The objectives with ranks that are ranks: GAP and its relatives of `repaired`, by Adagrad."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import kernels
from .._support.checks import HIGHEST_POSITION, check_count, check_real
from ..metrics import accumulated, thresholding_probabilities
from ..ratings import Ratings
from ..repaired.relatives import stopping_probabilities
from .printed import PrintedObjective
from .training import Problem, State, distance

_TINY = 1e-12  # keeps 0/0 out where a gradient has always been 0


@dataclass(frozen=True)
class Consistent:
    """What `GAPfm` takes besides with any objective but "paper".

    n_negatives : int n >= 1, unrated items of each user that an iteration sees, drawn anew; all
        where there are no more. An iteration holds n_users · n random numbers, 8 bytes each.
    temperature : float τ > 0, in the unit of the scores. "expected_reciprocal_rank" needs a low
        one, such as 0.1, where users have rated dozens of items; see `repaired.relatives`.
    unrated_weight : float > 0, what an unrated item counts in a rank where a rated one counts 1.
        Below 1 where what is unrated may well be liked.
    """

    n_negatives: int = 200
    temperature: float = 1.0
    unrated_weight: float = 0.05

    def __post_init__(self):
        for name, value in self.checked().items():
            object.__setattr__(self, name, value)

    def checked(self) -> dict[str, Any]:
        """The options by name, each as a plain number; raises for a bad one."""
        temperature = check_real(self.temperature, "temperature", low_open=True)
        weight = check_real(self.unrated_weight, "unrated_weight", low_open=True)
        return {
            "n_negatives": check_count(self.n_negatives, "n_negatives"),
            "temperature": temperature, "unrated_weight": weight,
        }  # fmt: skip

    @property
    def shape(self) -> float:
        """The one number that a measure may have besides, as the kernels take it."""
        return 0.0

    def uniforms(
        self, key: Sequence[int] | np.ndarray, iteration: int, n_items: int, users: range
    ) -> np.ndarray:
        """Numbers in [0, 1) from which an iteration draws unrated items, (n_users, n).

        They are one stream in which each user has her own place: some of the `users` get the
        numbers that they get among all.
        """
        # Of a catalogue no larger than the sample all items come, whatever the numbers are.
        n = min(self.n_negatives, n_items)
        stream = np.random.PCG64([*key, iteration])
        stream.advance(users.start * n)
        return np.random.Generator(stream).random((len(users), n))


@dataclass(frozen=True)
class Cutoff(Consistent):
    """`Consistent`, for graded precision and recall at n.

    cutoff : int n >= 1.
    """

    cutoff: int = 5

    def checked(self) -> dict[str, Any]:
        return super().checked() | {
            "cutoff": check_count(self.cutoff, "cutoff", high=HIGHEST_POSITION)
        }

    @property
    def shape(self) -> float:
        return float(self.cutoff)


@dataclass(frozen=True)
class Geometric(Consistent):
    """`Consistent`, for the power mean of graded precisions; see `repaired.power_mean`.

    exponent : float p >= -1; 0 is the geometric mean, 1 the arithmetic one.
    """

    unrated_weight: float = 0.1
    exponent: float = 0.0

    def checked(self) -> dict[str, Any]:
        return super().checked() | {
            "exponent": check_real(self.exponent, "exponent", low=-1.0)
        }

    @property
    def shape(self) -> float:
        return self.exponent


def first_move(objective: str) -> float:
    """γ where it is "auto": what a coordinate moves by in the first iteration of Adagrad."""
    return 1.0 if objective == "geometric" else 0.3


def _worth(max_grade: int) -> np.ndarray:
    return accumulated(thresholding_probabilities(max_grade))


def _relevance(max_grade: int) -> np.ndarray:
    return np.append(0.0, np.ones(max_grade))


# For each measure the kernel's kind, and the gains for grades 0..max_grade.
WEIGHTINGS: dict[str, tuple[int, Callable[[int], np.ndarray]]] = {
    "consistent": (kernels.PAIRS, _worth),
    "geometric": (kernels.POWER, _worth),
    "average_precision": (kernels.PAIRS, _relevance),
    "graded_precision": (kernels.PRECISION, _worth),
    "graded_recall": (kernels.RECALL, _worth),
    "expected_reciprocal_rank": (kernels.CASCADE, stopping_probabilities),
}


def shares(max_grade: int) -> np.ndarray:
    """v for grades 0..max_grade: what the precision at an item counts in the power mean."""
    return np.arange(max_grade + 1) / max_grade


def tolerance_for(n_rated: int, n_listed: int) -> float | None:
    """Of the kernels: None where no sum over these items is long enough to be interpolated."""
    return kernels.TOLERANCE if n_rated * n_listed > kernels.FEWEST_TERMS else None


def sample_key(rng: np.random.Generator) -> np.ndarray:
    """What all samples of a training depend on, (4,): drawn once, after U and V."""
    return rng.integers(2**32, size=4)


class ConsistentObjective:
    """Σ_m (measure of user m) - λ/2 (‖U‖² + ‖V‖² + ‖b‖²) of `repaired`, by Adagrad.

    `name` is the measure, a row of `WEIGHTINGS`; all else is the same for all.

    Adagrad divides each coordinate of a gradient by the root of the sum of the squares that
    this coordinate has had. The size of the gradient tells little here: 1/R̂ makes it hundreds
    of times larger once an item has come to the top.

    Scores <U_m, V_i> + b_i are products of the rows (U_m, 1) and (V_i, b_i): one kernel does for
    both. The unrated items of an iteration depend on `sample_key` and its number alone, so that
    a resumed training sees the same ones.
    """

    learned = ("user_factors", "item_factors", "item_bias")

    def __init__(
        self, name: str, train: Ratings, reg: float, learning_rate: float | str,
        options: Consistent, rng: np.random.Generator,
    ):  # fmt: skip
        self.problem = SampledProblem(train, name, options.shape)
        self.reg, self.options = reg, options
        self.learning_rate = (
            first_move(name) if learning_rate == "auto" else float(learning_rate)
        )

    @staticmethod
    def start(train: Ratings, n_factors: int, init_scale: float, rng) -> State:
        state = PrintedObjective.start(train, n_factors, init_scale, rng)
        state["item_bias"] = np.zeros(train.n_items)
        state |= {f"{name}_squares": np.zeros_like(x) for name, x in state.items()}
        return state | {"sample_key": sample_key(rng)}

    def gradients(self, state: State, iteration: int) -> tuple[float, State]:
        options, rows = self.options, self.factors(state)
        n_users, n_items = (x.shape[0] for x in rows)
        uniforms = options.uniforms(state["sample_key"], iteration, n_items, range(n_users))
        value, by_user, by_item = self.problem.sampled_gradients(
            *rows, uniforms, options.temperature, options.unrated_weight
        )
        gradient = {
            "user_factors": by_user[:, :-1],
            "item_factors": by_item[:, :-1],
            "item_bias": by_item[:, -1],
        }
        for name in self.learned:
            gradient[name] -= self.reg * state[name]
            value -= self.reg / 2 * float(np.sum(state[name] ** 2))
        return value, gradient

    def step(self, state: State, gradient: State, iteration: int) -> tuple[State, float]:
        new = dict(state)
        for name, slope in gradient.items():
            squares = state[f"{name}_squares"] + slope**2
            new[f"{name}_squares"] = squares
            new[name] = state[name] + adagrad(self.learning_rate, slope, squares)
        return new, distance(new, state, self.learned)

    @staticmethod
    def factors(state: State) -> tuple[np.ndarray, np.ndarray]:
        U, V = state["user_factors"], state["item_factors"]
        ones = np.ones(U.shape[0])
        return np.column_stack([U, ones]), np.column_stack([V, state["item_bias"]])

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
        options = model.options
        max_grade, given = model.train_.max_grade, grades[best_first]
        gains, share = by_grade(max_grade)[given], shares(max_grade)[given]
        kernels.normalize_gains(kind, options.shape, gains)
        scratch, c = np.empty((3, listed.size)), np.empty(listed.size)
        tolerance = tolerance_for(items.size, listed.size)
        u, squares = np.zeros(model.n_factors), np.zeros(model.n_factors)
        for _ in range(model.n_iter_):
            kernels.consistent_sums(
                V @ u + b, gains, share, kind, options.shape, options.unrated_weight,
                options.temperature, tolerance, scratch, c,
            )  # fmt: skip
            gradient = c @ V - model.reg * u
            squares += gradient**2
            u = u + adagrad(model.learning_rate_, gradient, squares)
        return u


class SampledProblem(Problem):
    """`Problem` with the gradients of a consistent objective; each row of U ends with 1."""

    def __init__(self, train: Ratings, objective: str = "consistent", shape: float = 0.0):
        super().__init__(train)
        self._kind, by_grade = WEIGHTINGS[objective]
        self._gains, self._shares = by_grade(train.max_grade), shares(train.max_grade)
        self._shape = shape

    def sampled_gradients(self, U, V, uniforms, tau, unrated_weight) -> tuple:
        """Σ_m (measure of m) with `uniforms` (n_users, n) for the samples, ∂/∂U and ∂/∂V."""
        blocks = self.blocks(V.shape[1])
        longest, n_drawn = np.diff(self.indptr).max(initial=0), uniforms.shape[1]
        values, by_user = np.empty(U.shape[0]), np.empty_like(U)
        parts = np.empty((blocks.size - 1, *V.shape))
        kernels.share_out(
            kernels.consistent_gradients, blocks.size - 1, U, V, self.indptr, self.items,
            self.grades, self._gains, self._shares, self.train.indices, uniforms, self._kind,
            self._shape, tau, unrated_weight, tolerance_for(longest, longest + n_drawn), blocks,
            values, by_user, parts,
        )  # fmt: skip
        return float(values.sum()), by_user, parts.sum(axis=0)


def adagrad(rate: float, gradient: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """What each coordinate moves by; `squares`, the sums of its squares, with this gradient's."""
    return rate * gradient / (np.sqrt(squares) + _TINY)
