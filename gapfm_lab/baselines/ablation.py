"""`GAPfm` with one thing or several changed that it takes as given: an objective, an optimizer and
a start for each, as values.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

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
    gap_gains,
    grade_fractions,
    user_columns,
)
from gapfm_teach.training.optimizers import Adagrad, GradientAscent, Optimizer
from gapfm_teach.training.recommender import Recommender
from gapfm_teach.training.sampling import IterationContext

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

    Attributes after `fit`: `user_factors_` and `item_factors_`, whose products are the scores: where
    there is a bias, they end in a column of 1 and in b.
    """

    def __init__(
        self, objective, n_factors: int = 10, *, reg: float, learning_rate: float,
        init_scale: float, n_iter: int = 60, optimizer: Optimizer | None = None,
        random_state=None,
    ):  # fmt: skip
        self.objective = objective
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
            training = self.training(train)
            state = training.start(self.n_factors, self.init_scale, rng)
            for done in fit_factors(training, state, n_iter=self.n_iter):
                state = done.state
        self.user_factors_, self.item_factors_ = training.score_factors(state)

    def training(self, train: Ratings) -> Training:
        """What `fit` goes through."""
        return Training(
            TrainingData(train),
            self.objective,
            self.optimizer,
            self.reg,
            self.learning_rate,
        )

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
