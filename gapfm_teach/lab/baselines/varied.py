"""`GAPfm` with smooth ranks, and one of the things changed that it takes as given."""

from typing import cast

import numpy as np

from ..._support.checks import check_choice, check_count, check_random_state, check_real
from ...learning.consistent import Consistent, ConsistentObjective, SampledProblem
from ...learning.objectives import OBJECTIVES, options_of
from ...ratings import Ratings
from .climber import Climber


class Varied(Climber):
    """`GAPfm` with objective "consistent" or "geometric", and one thing changed or more.

    worth : Δ(y), "exponential" as (5) has it, or "linear", y.
    share : v, what the precision at a film counts in the geometric mean: "stars", y / L, or
    "worth", Δ(y) / Δ(L). "consistent" has no v.
    n_factors, reg, n_iter, random_state : as of `GAPfm`, which this is when nothing is changed.
    """

    def __init__(
        self, objective: str = "geometric", *, worth: str = "exponential", share: str = "stars",
        n_factors: int = 10, reg: float | None = None, n_iter: int = 60, random_state=None,
    ):  # fmt: skip
        self.objective = check_choice(objective, "objective", ("consistent", "geometric"))
        self.worth = check_choice(worth, "worth", ("exponential", "linear"))
        self.share = check_choice(share, "share", ("stars", "worth"))
        if objective == "consistent" and share != "stars":
            raise ValueError(f"'consistent' has no share={share!r}; leave it out")
        self.n_factors = check_count(n_factors, "n_factors")
        own = OBJECTIVES[objective].reg
        self.reg = own if reg is None else check_real(reg, "reg")
        self.n_iter = check_count(n_iter, "n_iter")
        self.random_state = random_state
        check_random_state(random_state)

    def _goal(self, train: Ratings, rng) -> tuple[ConsistentObjective, float]:
        return _Goal(self, train, rng), OBJECTIVES[self.objective].init_scale


class _Goal(ConsistentObjective):
    """The objective of a `Varied`, for `training.ascend`."""

    def __init__(self, model: Varied, train: Ratings, rng: np.random.Generator):
        name = model.objective
        options = cast(Consistent, options_of(name, {}))
        rate = OBJECTIVES[name].learning_rate
        super().__init__(name, train, model.reg, rate, options, rng)
        self.problem = _Problem(model, train, options.shape)


class _Problem(SampledProblem):
    """With the gains and shares of a `Varied`."""

    def __init__(self, model: Varied, train: Ratings, shape: float):
        super().__init__(train, model.objective, shape)
        top = train.max_grade
        if model.worth == "linear":
            self._gains = np.arange(top + 1.0)
        if model.share == "worth":
            self._shares = self._gains / self._gains[top]
