"""`GAPfm` with one thing or several changed that it takes as given: an objective, an optimizer and
a start for each, as values.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from gapfm_teach import kernels
from gapfm_teach._support.checks import (
    check_choice,
    check_count,
    check_random_state,
    check_real,
)
from gapfm_teach.ratings import Ratings
from gapfm_teach.training.data import TrainingData
from gapfm_teach.training.loop import Training, fit_factors
from gapfm_teach.training.machine import threads
from gapfm_teach.training.objectives import (
    SMOOTH_RANKS,
    Select,
    SmoothRankObjective,
    gap_gains,
    grade_fractions,
    user_columns,
)
from gapfm_teach.training.optimizers import Adagrad, GradientAscent, Optimizer
from gapfm_teach.training.recommender import Recommender
from gapfm_teach.training.sampling import IterationContext, uniforms

# In the order in which they are made: the first seven turn the printed objective into the
# consistent one, the last two that into the geometric one.
REPAIRS = (
    "smooth ranks", "unrated in ranks", "unrated count less", "1/Z", "item bias", "Adagrad",
    "large start", "stars for weights", "logarithm",
)  # fmt: skip
CONSISTENT = REPAIRS[:7]
# What a repair makes no sense without.
_NEEDS = {
    "unrated in ranks": "smooth ranks", "unrated count less": "unrated in ranks",
    "stars for weights": "smooth ranks", "logarithm": "stars for weights",
}  # fmt: skip
IN_NO_RANK = 1e-12  # the weight of the unrated where they take up no ranks
N_NEGATIVES, UNRATED_WEIGHT = 200, 0.05


class AblationModel(Recommender):
    """Factors that maximise any objective, by any optimizer.

    objective : has what `training.objectives` lists. n_factors, reg, learning_rate, n_iter,
    init_scale, random_state : as of `GAPfm`. optimizer : one of `training.optimizers`.
    select : marks the ratings whose items a step moves, from the data, their scores and the
    generator; None for all.

    Attributes after `fit`: `user_factors_` and `item_factors_`, whose products are the scores: where
    there is a bias, they end in a column of 1 and in b.
    """

    def __init__(
        self, objective, n_factors: int = 10, *, reg: float, learning_rate: float,
        init_scale: float, n_iter: int = 60, optimizer: Optimizer | None = None,
        select=None, random_state=None,
    ):  # fmt: skip
        self.objective, self.select = objective, select
        self.optimizer = optimizer or Adagrad()
        self.n_factors = check_count(n_factors, "n_factors")
        self.reg, self.n_iter = check_real(reg, "reg"), check_count(n_iter, "n_iter")
        self.learning_rate = check_real(learning_rate, "learning_rate", low_open=True)
        self.init_scale = check_real(init_scale, "init_scale", low_open=True)
        self.random_state = random_state
        check_random_state(random_state)

    def _fit(self, train: Ratings, validation: Ratings | None) -> None:
        rng = check_random_state(self.random_state)
        with threads(None, train):
            training = self.training(train, rng)
            state = training.start(self.n_factors, self.init_scale, rng)
            for done in fit_factors(training, state, n_iter=self.n_iter):
                state = done.state
        self.user_factors_, self.item_factors_ = training.score_factors(state)

    def training(self, train: Ratings, rng: np.random.Generator) -> Training:
        """What `fit` goes through."""
        select: Select | None = None
        if self.select is not None:
            chosen = self.select
            select = lambda data, scores: chosen(data, scores, rng)  # noqa: E731
        return Training(
            TrainingData(train), self.objective, self.optimizer, self.reg, self.learning_rate,
            select,
        )  # fmt: skip

    def _scores(self, user: int, items: np.ndarray | slice) -> np.ndarray:
        return self.item_factors_[items] @ self.user_factors_[user]


# ------------------------------------------------------------------ repair after repair


def without(name: str) -> tuple[str, ...]:
    """The repairs of the consistent objective but for one, and those that need it."""
    gone = {name}
    for other in REPAIRS:  # whatever one needs stands before it
        if _NEEDS.get(other) in gone:
            gone.add(other)
    return tuple(other for other in CONSISTENT if other not in gone)


def partly_repaired(
    repairs: Sequence[str] = (), n_factors: int = 10, *, reg: float, learning_rate: float,
    n_iter: int = 60, random_state=None,
) -> AblationModel:  # fmt: skip
    """`GAPfm` between objective="paper", with no repairs, and "geometric", with all.

    repairs : names of `REPAIRS`; "stars for weights" takes the place of "1/Z". The others as of
    `GAPfm`. With `CONSISTENT` it is "consistent", with all "geometric" with unrated_weight 0.05, with
    none "paper".
    """
    repairs = tuple(check_choice(name, "repairs", REPAIRS) for name in repairs)
    if missing := [name for name in repairs if _NEEDS.get(name, name) not in repairs]:
        raise ValueError(
            f"{missing[0]!r} makes no sense without {_NEEDS[missing[0]]!r}; add it to repairs"
        )
    return AblationModel(
        repaired_objective(repairs), n_factors, reg=reg, learning_rate=learning_rate, n_iter=n_iter,
        init_scale=0.3 if "large start" in repairs else 0.01,
        optimizer=Adagrad() if "Adagrad" in repairs else GradientAscent(),
        random_state=random_state,
    )  # fmt: skip


def repaired_objective(repairs: Sequence[str]):
    """Σ_i Δ(y_i) P̂_i, that over Z, Σ_i v_i P̂_i or Σ_i v_i log P̂_i with smooth ranks; else (8)."""
    has_bias, over_z = "item bias" in repairs, "1/Z" in repairs
    if "smooth ranks" not in repairs:
        return DividedObjective(over_z, has_bias)
    weight = UNRATED_WEIGHT if "unrated count less" in repairs else 1.0
    ranked = "unrated in ranks" in repairs
    changes: dict[str, Any] = {
        "n_negatives": N_NEGATIVES if ranked else 1,
        "unrated_weight": weight if ranked else IN_NO_RANK, "has_bias": has_bias,
    }  # fmt: skip
    by_stars = "stars for weights" in repairs
    if over_z and not by_stars:
        return replace(SMOOTH_RANKS["consistent"], **changes)
    changes["exponent"] = 0.0 if "logarithm" in repairs else 1.0
    changes["item_weights"] = grade_fractions if by_stars else gap_gains
    return replace(SMOOTH_RANKS["geometric"], **changes)


@dataclass(frozen=True)
class DividedObjective:
    """(8) with each user's gradient divided by the user's Z, or not, and with or without a bias.

    Its value is no objective: the loop asks it only whether training is still finite.
    """

    over_z: bool
    has_bias: bool

    name: ClassVar[str] = "paper"
    n_negatives: ClassVar[int | None] = None
    in_turn: ClassVar[bool] = False

    def gradients(self, data: TrainingData, U, V, context: IterationContext, marks=None):
        rows = user_columns(U, self.has_bias)
        c = data.coefficients(data.scores(rows, V))
        if self.over_z:
            n_rated = np.diff(data.indptr)
            owner = np.repeat(np.arange(n_rated.size), n_rated)
            gains = data.cumulative_weights[data.grades]
            z = np.bincount(owner, gains, minlength=n_rated.size)[owner]
            c = c * (1 / z)
        shape = (U.shape[0], V.shape[0])
        matrix = sparse.csr_matrix((c, data.items, data.indptr), shape=shape)
        by_user, by_item = matrix @ V, matrix.T @ rows
        return float(np.sum(by_user * rows)), by_user[:, : U.shape[1]], by_item


# ------------------------------------------------------------------ one thing changed


def linear_gains(max_grade: int) -> np.ndarray:
    return np.arange(max_grade + 1.0)


def relative_gains(max_grade: int) -> np.ndarray:
    """Δ(y) / Δ(L)."""
    gains = gap_gains(max_grade)
    return gains / gains[max_grade]


def varied(
    objective: str = "geometric", *, gains: str = "exponential", item_weights: str = "stars",
    n_selected: int | None = None, selection: str = "adaptive", random_state=None, **settings,
) -> AblationModel:  # fmt: skip
    """`GAPfm` with objective "consistent" or "geometric", and one thing changed or more.

    gains : Δ(y), "exponential" as (5) has it, or "linear", y.
    item_weights : v, what the precision at a film counts in the geometric mean: "stars", y / L, or
    "gains", Δ(y) / Δ(L). "consistent" has no v.
    n_selected : int K >= 1, or None for all: of how many rated items of each user the gradient moves
    V and b, as in Algorithm 1; U moves by all, unrated items as ever.
    selection : "adaptive", the most misranked, or "random".
    settings : of `GAPfm`, which this is when nothing is changed: n_factors, reg, n_iter.
    """
    own = SMOOTH_RANKS[check_choice(objective, "objective", ("consistent", "geometric"))]
    linear = check_choice(gains, "gains", ("exponential", "linear")) == "linear"
    by_gains = check_choice(item_weights, "item_weights", ("stars", "gains")) == "gains"
    check_choice(selection, "selection", ("adaptive", "random"))
    if objective == "consistent" and by_gains:
        raise ValueError("'consistent' has no item_weights='gains'; leave it out")
    changed = replace(own, gains=linear_gains) if linear else own
    if by_gains and not linear:  # y / L is both, where the gains are linear
        changed = replace(changed, item_weights=relative_gains)
    select = None
    if n_selected is not None:
        k = check_count(n_selected, "n_selected")
        select = lambda data, scores, rng: data.select(scores, k, selection, rng)  # noqa: E731
        changed = SelectiveObjective(**vars(changed))
    rates = {"learning_rate": own.learning_rate, "init_scale": own.init_scale}
    return AblationModel(
        changed, select=select, random_state=random_state,
        **{"reg": own.reg, **rates, **settings},
    )  # fmt: skip


class SelectiveObjective(SmoothRankObjective):
    """A `SmoothRankObjective` whose V and b move by marked ratings, and by all unrated items."""

    def gradients(self, data: TrainingData, U, V, context: IterationContext, marks=None):
        value, by_user, by_item = super().gradients(data, U, V, context)
        if marks is not None:
            by_item -= self._by_ratings(~marks, data, U, V, context)
        return value, by_user, by_item

    def _by_ratings(self, marks, data: TrainingData, U, V, context) -> np.ndarray:
        """What the ratings that `marks` (n_ratings,) marks contribute to ∂/∂V, (n_items, D + 1)."""
        rows, n_items = user_columns(U, self.has_bias), V.shape[0]
        numbers = uniforms(context, self.n_negatives, n_items)
        slopes, drawn = (
            np.empty(data.items.size),
            np.empty(numbers.shape[1], dtype=np.int64),
        )
        for user in range(rows.shape[0]):
            row = slice(data.indptr[user], data.indptr[user + 1])
            ascending = data.train.indices[row]
            n = kernels.draw_unrated(ascending, numbers[user], n_items, drawn)
            listed = np.concatenate([data.items[row], drawn[:n]])
            n_rated = listed.size - n
            each = self.unrated_weight * (n_items - n_rated) / max(1, n)
            slope = self.user_gradient(data.grades[row], data.train.max_grade, listed.size)
            slopes[row] = slope(V[listed] @ rows[user], each)[:n_rated]
        shape = (rows.shape[0], n_items)
        matrix = sparse.csr_array((slopes * marks, data.items, data.indptr), shape=shape)
        return matrix.T @ rows
