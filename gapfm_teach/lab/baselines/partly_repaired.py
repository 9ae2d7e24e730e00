"""`GAPfm` between the printed objective and the repaired ones: with some of the repairs."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from ..._support.checks import check_choice, check_count, check_real
from ...learning.consistent import Consistent, ConsistentObjective, SampledProblem
from ...learning.training import State, distance
from ...ratings import Ratings
from .climber import Climber

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


def without(name: str) -> tuple[str, ...]:
    """The repairs of the consistent objective but for one, and those that need it."""
    gone = {name}
    for other in REPAIRS:  # whatever one needs stands before it
        if _NEEDS.get(other) in gone:
            gone.add(other)
    return tuple(other for other in CONSISTENT if other not in gone)


class PartlyRepaired(Climber):
    """`GAPfm` between objective="paper", with no repairs, and "geometric", with all.

    repairs : names of `REPAIRS`; "stars for weights" takes the place of "1/Z". n_factors, reg,
    learning_rate, n_iter, random_state : as of `GAPfm`. With `REPAIRS[:7]` and `unrated_weight`
    0.05 it is "consistent", with all "geometric", with none "paper".
    """

    def __init__(
        self, repairs: Sequence[str] = (), n_factors: int = 10, *, reg: float,
        learning_rate: float, n_iter: int = 60, random_state=None,
    ):  # fmt: skip
        self.repairs = tuple(check_choice(name, "repairs", REPAIRS) for name in repairs)
        self.n_factors = check_count(n_factors, "n_factors")
        self.reg, self.n_iter = check_real(reg, "reg"), check_count(n_iter, "n_iter")
        self.learning_rate = check_real(learning_rate, "learning_rate", low_open=True)
        self.random_state = random_state
        if missing := [
            name for name in self.repairs if _NEEDS.get(name, name) not in repairs
        ]:
            raise ValueError(
                f"{missing[0]!r} makes no sense without {_NEEDS[missing[0]]!r}; add it to repairs"
            )

    def _goal(self, train: Ratings, rng) -> tuple[ConsistentObjective, float]:
        goal = _Goal(self, train, rng)
        return goal, goal.init_scale


class _Goal(ConsistentObjective):
    """The objective of a `PartlyRepaired`, for `training.ascend`."""

    def __init__(self, model: PartlyRepaired, train: Ratings, rng):
        has = {name: name in model.repairs for name in REPAIRS}
        weight = UNRATED_WEIGHT if has["unrated count less"] else 1.0
        options = Consistent(
            n_negatives=N_NEGATIVES if has["unrated in ranks"] else 1,
            unrated_weight=weight if has["unrated in ranks"] else IN_NO_RANK,
        )
        super().__init__("consistent", train, model.reg, model.learning_rate, options, rng)
        self.problem = (
            _Sums(train, has) if has["smooth ranks"] else _Printed(train, has["1/Z"])
        )
        self._bias, self._adagrad = has["item bias"], has["Adagrad"]
        self.init_scale = 0.3 if has["large start"] else 0.01

    def gradients(self, state: State, iteration: int) -> tuple[float, State]:
        value, gradient = super().gradients(state, iteration)
        if not self._bias:
            gradient["item_bias"][:] = 0.0
        return value, gradient

    def step(self, state: State, gradient: State, iteration: int) -> tuple[State, float]:
        if self._adagrad:
            return super().step(state, gradient, iteration)
        rate = self.learning_rate
        new = state | {name: state[name] + rate * g for name, g in gradient.items()}
        return new, distance(new, state, self.learned)


class _Sums(SampledProblem):
    """Objectives with smooth ranks: Σ_i Δ(y_i) P̂_i, that over Z, Σ_i v_i P̂_i or Σ_i v_i log P̂_i."""

    def __init__(self, train: Ratings, has: dict[str, bool]):
        by_stars, over_z = has["stars for weights"], has["1/Z"]
        of_power = by_stars or not over_z
        super().__init__(
            train,
            "geometric" if of_power else "consistent",
            0.0 if has["logarithm"] else 1.0,
        )
        if not by_stars:
            self._shares = self._gains


class _Printed(SampledProblem):
    """The gradients of (8), each user's divided by her Z or not; no sample is looked at.

    Their first value is no objective: `ascend` asks it only whether training is still finite.
    """

    def __init__(self, train: Ratings, over_z: bool):
        super().__init__(train)
        worth = self.accumulated[self.grades]
        owner = np.repeat(np.arange(train.n_users), np.diff(self.indptr))
        z = np.bincount(owner, worth, minlength=train.n_users)[owner]
        self._share = 1 / z if over_z else np.ones(z.size)

    def sampled_gradients(self, U, V, uniforms, tau, unrated_weight) -> tuple:
        c = self.coefficients(self.scores(U, V)) * self._share
        shape = (U.shape[0], V.shape[0])
        matrix = sparse.csr_matrix((c, self.items, self.indptr), shape=shape)
        by_user, by_item = matrix @ V, matrix.T @ U
        return float(np.sum(by_user * U)), by_user, by_item
