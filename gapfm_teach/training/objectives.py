"""What `GAPfm` can maximise. An objective is a value: a formula, its options, its defaults.

All offer the same to the loop, to fold-in, and to the tasks of a cluster:

    gradients(data, U, V, context, marks)   the value and its gradients in U and V, without λ
    list_gradient(items, grades, train)     of one user: items, and ∂/∂f of them by their scores
    options                                 what the user may choose, by name
    optimizer, reg, learning_rate, init_scale    what training takes where it is not told
    has_bias                                whether scores are <U_m, V_i> + b_i; V then ends in b
    n_negatives                             unrated items in a sample; None where none are drawn
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from .. import kernels
from .._support.checks import HIGHEST_POSITION, check_choice, check_count, check_real
from ..consistent.related_measures import stopping_probabilities
from ..paper import cumulative_weights, smoothed_gap_gradient, thresholding_probabilities
from ..ratings import Ratings
from .data import TrainingData
from .optimizers import Adagrad, GradientAscent, Optimizer
from .sampling import IterationContext, uniforms

# Marks the ratings whose items a step moves, in the order of `data`, at their scores.
Select = Callable[[TrainingData, np.ndarray], np.ndarray]
ListGradient = tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]
Gradients = tuple[float, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class PaperObjective:
    """(9), the sum of smoothed GAP (8), and how Algorithm 2 moves the items by it.

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

    name: ClassVar[str] = "paper"
    has_bias: ClassVar[bool] = False
    n_negatives: ClassVar[int | None] = None
    optimizer: ClassVar[Optimizer] = GradientAscent()
    # A small start: popularity must come first.
    reg: ClassVar[float] = 0.001
    learning_rate: ClassVar[float] = 0.01
    init_scale: ClassVar[float] = 0.01

    @property
    def options(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def in_turn(self) -> bool:
        """Whether the items move user after user, and not by the sum over users."""
        return self.update == "sequential"

    def gradients(
        self, data: TrainingData, U, V, context: IterationContext | None = None, marks=None
    ) -> Gradients:
        """(8) of all users, its gradients (10) and (11), all without λ.

        (11) comes from all ratings, from those that `marks` (n_ratings,) marks or, where the K
        most misranked are selected, from those.
        """
        adaptive = self.n_selected is not None and self.selection == "adaptive"
        selection = None
        if marks is not None or adaptive:
            none = np.empty(0, dtype=np.bool_)
            chosen = (none, self.n_selected) if marks is None else (marks, 0)
            selection = (data.train.grades, *chosen, self.inner_sum == "selected")
        blocks = data.blocks(V.shape[1])
        return data.add_up(
            kernels.gradients, blocks.size - 1, U, V, data.indptr, data.items, data.grades,
            data.cumulative_weights, blocks, data.tolerance, selection,
        )  # fmt: skip

    def selector(self, rng: np.random.Generator) -> Select | None:
        """What marks the ratings whose items move, where the kernel does not as it goes."""
        if self.n_selected is None or (self.selection == "adaptive" and not self.in_turn):
            return None
        k, selection = self.n_selected, self.selection
        return lambda data, scores: data.select(scores, k, selection, rng)

    def items_in_turn(
        self, data: TrainingData, U, V, marks, reg: float, rate: float
    ) -> np.ndarray:
        """V^(t+1), each user seeing the V that the last one left."""
        if marks is None:
            marks = np.ones(data.items.shape[0], dtype=np.bool_)
        V_new, inner = V.copy(), self.inner_sum == "selected"
        kernels.update_items_in_turn(
            U, V_new, data.indptr, data.items, data.grades, data.cumulative_weights, marks,
            inner, reg, rate,
        )  # fmt: skip
        return V_new

    def list_gradient(self, items: np.ndarray, grades: np.ndarray, train: Ratings):
        delta = thresholding_probabilities(train.max_grade)
        return items, lambda scores: smoothed_gap_gradient(scores, grades, delta)


def gap_gains(max_grade: int) -> np.ndarray:
    """Δ(y) for grades 0..max_grade: the gains of GAP."""
    return cumulative_weights(thresholding_probabilities(max_grade))


def binary_gains(max_grade: int) -> np.ndarray:
    return np.append(0.0, np.ones(max_grade))


def grade_fractions(max_grade: int) -> np.ndarray:
    """v = y / L for grades 0..L: what the precision at an item counts in the power mean."""
    return np.arange(max_grade + 1) / max_grade


def tolerance_for(n_rated: int, n_listed: int) -> float | None:
    """Of the kernels: None where no sum over these items is long enough to be interpolated."""
    return kernels.TOLERANCE if n_rated * n_listed > kernels.FEWEST_TERMS else None


@dataclass(frozen=True)
class SmoothRankObjective:
    """Σ_m (measure of user m) with the smooth ranks of `consistent`, among all items.

    kind, gains, item_weights : which measure: the kernel's kind, G and v for grades 0..max_grade.
    Their options:
    temperature : float τ > 0, in the unit of the scores. "expected_reciprocal_rank" needs a low
        one, such as 0.1, where users have rated dozens of items; see `consistent.related_measures`.
    n_negatives : int n >= 1, unrated items of each user that an iteration sees, drawn anew; all
        where there are no more. An iteration holds n_users · n random numbers, 8 bytes each.
    unrated_weight : float > 0, what an unrated item counts in a rank where a rated one counts 1.
        Below 1 where what is unrated may well be liked.
    cutoff : int n >= 1, of graded precision and recall at n; exponent : float p >= -1, of the power
        mean (0: geometric, 1: arithmetic). None where the measure has none.
    """

    name: str
    kind: int
    gains: Callable[[int], np.ndarray] = field(repr=False)
    item_weights: Callable[[int], np.ndarray] = field(default=grade_fractions, repr=False)
    temperature: float = 1.0
    n_negatives: int = 200
    unrated_weight: float = 0.05
    cutoff: int | None = None
    exponent: float | None = None
    reg: float = 0.06
    learning_rate: float = 0.3
    has_bias: bool = True

    optimizer: ClassVar[Optimizer] = Adagrad()
    # From a small start the factors may never leave 0: far from the top of the list the gradient
    # is less than λ takes.
    init_scale: ClassVar[float] = 0.3
    in_turn: ClassVar[bool] = False

    @property
    def options(self) -> dict[str, Any]:
        named = ("temperature", "n_negatives", "unrated_weight", "cutoff", "exponent")
        return {
            name: getattr(self, name) for name in named if getattr(self, name) is not None
        }

    @property
    def shape(self) -> float:
        """The one number that a measure may have besides, as the kernels take it."""
        return float(self.cutoff or self.exponent or 0.0)

    def gradients(
        self, data: TrainingData, U, V, context: IterationContext, marks=None
    ) -> Gradients:
        """The value from a sample of the unrated items, and its gradients in U and V."""
        drawn = uniforms(context, self.n_negatives, V.shape[0])
        return self.sampled_gradients(data, U, V, drawn)

    def sampled_gradients(self, data: TrainingData, U, V, drawn: np.ndarray) -> Gradients:
        """The same with `drawn` (n_users, n) in [0, 1) for the samples."""
        blocks, top = data.blocks(V.shape[1]), data.train.max_grade
        value, by_user, by_item = data.add_up(
            kernels.consistent_gradients, blocks.size - 1, user_columns(U, self.has_bias), V,
            data.indptr, data.items, data.grades, self.gains(top), self.item_weights(top),
            data.train.indices, drawn, self.kind, self.shape, self.temperature,
            self.unrated_weight, tolerance_for(data.longest, data.longest + drawn.shape[1]),
            blocks,
        )  # fmt: skip
        return value, by_user[:, : U.shape[1]], by_item

    def selector(self, rng: np.random.Generator) -> Select | None:
        return None

    def list_gradient(self, items: np.ndarray, grades: np.ndarray, train: Ratings):
        """With the whole catalogue for a sample."""
        best_first = np.argsort(-grades, kind="stable")
        others = np.setdiff1d(np.arange(train.n_items), items)
        listed = np.concatenate([items[best_first], others])
        slope = self.user_gradient(grades[best_first], train.max_grade, listed.size)
        return listed, partial(slope, unrated_weight=self.unrated_weight)

    def user_gradient(self, grades: np.ndarray, max_grade: int, n_listed: int):
        """∂/∂f of a list, (n_listed,), as a function of its scores and the `unrated_weight`.

        The rated items come first, in descending order of their `grades`.
        """
        gains, weights = self.gains(max_grade)[grades], self.item_weights(max_grade)[grades]
        kernels.normalize_gains(self.kind, self.shape, gains)
        scratch, slope = np.empty((3, n_listed)), np.empty(n_listed)
        tolerance = tolerance_for(grades.size, n_listed)

        def at(scores: np.ndarray, unrated_weight: float) -> np.ndarray:
            kernels.consistent_sums(
                scores, gains, weights, self.kind, self.shape, unrated_weight,
                self.temperature, tolerance, scratch, slope,
            )  # fmt: skip
            return slope

        return at


Objective = PaperObjective | SmoothRankObjective


def user_columns(U: np.ndarray, has_bias: bool) -> np.ndarray:
    """U, with a 1 behind each row where V ends in b: products of the rows are then the scores."""
    return np.column_stack([U, np.ones(U.shape[0])]) if has_bias else U


_MEASURES = (
    SmoothRankObjective("consistent", kernels.PAIRS, gap_gains),
    SmoothRankObjective(
        "geometric", kernels.POWER, gap_gains,
        unrated_weight=0.1, exponent=0.0, reg=2.5, learning_rate=1.0,
    ),
    SmoothRankObjective("average_precision", kernels.PAIRS, binary_gains),
    SmoothRankObjective("graded_precision", kernels.PRECISION, gap_gains, cutoff=5),
    SmoothRankObjective("graded_recall", kernels.RECALL, gap_gains, cutoff=5),
    SmoothRankObjective("expected_reciprocal_rank", kernels.CASCADE, stopping_probabilities),
)  # fmt: skip
SMOOTH_RANKS = {measure.name: measure for measure in _MEASURES}
OBJECTIVES: dict[str, Objective] = {"paper": PaperObjective(), **SMOOTH_RANKS}

_above_0 = partial(check_real, low_open=True)
# Each option's default, where the objective has it, and what checks a value for it.
OPTIONS: dict[str, tuple[Any, Callable[[Any, str], Any]]] = {
    "n_selected": (None, check_count),
    "selection": ("adaptive", partial(check_choice, choices=("adaptive", "random"))),
    "inner_sum": ("rated", partial(check_choice, choices=("rated", "selected"))),
    "update": ("batch", partial(check_choice, choices=("batch", "sequential"))),
    "temperature": (1.0, _above_0),
    "n_negatives": (200, check_count),
    "unrated_weight": (None, _above_0),  # of the objective
    "cutoff": (5, partial(check_count, high=HIGHEST_POSITION)),
    "exponent": (0.0, partial(check_real, low=-1.0)),
}


def configured(objective: str, options: Mapping[str, Any]) -> Objective:
    """An objective by its name, with its options, None for its own.

    Raises ValueError for an unknown name; TypeError for an option that this objective does not
    have, unless it is left at its default; TypeError or ValueError for a bad value.
    """
    known = OBJECTIVES[check_choice(objective, "objective", tuple(OBJECTIVES))]
    chosen = {}
    for name, value in options.items():
        default, check = OPTIONS[name]
        if name in known.options:
            if value is not None:
                chosen[name] = check(value, name)
        elif value is not default and value != default:
            own = ", ".join(other for other in known.options if other in options)
            raise TypeError(
                f"objective={objective!r} knows no {name}={value!r}; it has {own or 'none here'}"
            )
    return replace(known, **chosen)
