"""What `GAPfm` and `DistributedGAPfm` share: the parameters of an ascent, and what it leaves."""

from operator import index

import numpy as np
import pandas as pd

from .._support.checks import check_choice, check_count, check_random_state, check_real
from .automatic_step import check_learning_rate
from .objectives import OBJECTIVES
from .recommender import Fitted

HISTORY = ("iteration", "objective", "gradient_norm", "validation_gap")


class Ascent(Fitted):
    """Factors found by climbing an objective; each parameter is kept under its own name.

    None for λ, γ or the start's size means the objective's own.

    `_rows` : the history, a row an iteration, in the columns `_columns`.
    """

    _columns: tuple[str, ...] = HISTORY

    learning_rate_: float
    n_iter_: int
    _rows: list[tuple]

    def __init__(
        self, n_factors: int, objective: str, reg: float | None,
        learning_rate: float | str | None, n_iter: int, init_scale: float | None, random_state,
    ):  # fmt: skip
        self.objective = check_choice(objective, "objective", tuple(OBJECTIVES))
        own = OBJECTIVES[objective]
        self.n_factors = check_count(n_factors, "n_factors")
        self.reg = check_real(own.reg if reg is None else reg, "reg")
        rate = own.learning_rate if learning_rate is None else learning_rate
        self.learning_rate = check_learning_rate(rate)
        self.n_iter = check_count(n_iter, "n_iter")
        scale = own.init_scale if init_scale is None else init_scale
        self.init_scale = check_real(scale, "init_scale", low_open=True)
        self.random_state = random_state
        check_random_state(random_state)

    @property
    def history_(self) -> pd.DataFrame:
        self._check_fitted()
        return pd.DataFrame(self._rows, columns=list(self._columns))

    @property
    def _is_fitted(self) -> bool:
        return hasattr(self, "n_iter_")

    @property
    def _state(self) -> str:
        return f"fitted, {self.n_iter_} iterations" if self._is_fitted else "not fitted"

    def _params(self) -> dict:
        """The parameters by name, as JSON can hold them: a Generator is not kept."""
        names = ("n_factors", "reg", "learning_rate", "n_iter", "init_scale")
        seed = self.random_state
        keeps = seed is not None and not isinstance(seed, np.random.Generator)
        params = {name: getattr(self, name) for name in names}
        return params | {"random_state": index(seed) if keeps else None}
