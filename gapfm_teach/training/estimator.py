"""What `GAPfm` and `DistributedGAPfm` share: parameters as scikit-learn has them, and a history."""

from collections.abc import Callable
from inspect import signature
from operator import index
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from .._support.checks import check_count, check_random_state, check_real
from .automatic_step import check_learning_rate
from .objectives import OPTIONS, Objective, PaperObjective, configured
from .recommender import Fitted

HISTORY = ("iteration", "objective", "gradient_norm", "validation_gap")


class Settings(NamedTuple):
    """Checked parameters, the objective's own where None was given."""

    objective: Objective
    n_factors: int
    reg: float
    learning_rate: float | str
    n_iter: int
    init_scale: float
    random_state: int | np.random.Generator | None

    def rate(self, automatic: Callable[[], float]) -> float:
        """γ as a number: "auto" is what `automatic()` finds for "paper", and else the default."""
        if self.learning_rate != "auto":
            return float(self.learning_rate)
        paper = isinstance(self.objective, PaperObjective)
        return automatic() if paper else self.objective.learning_rate

    def item_arrays(self, V: np.ndarray) -> dict[str, np.ndarray]:
        """V as training has it, as what a model keeps of it, by name."""
        found = {"item_factors": np.ascontiguousarray(V[:, : self.n_factors])}
        if self.objective.has_bias:
            found["item_bias"] = np.ascontiguousarray(V[:, self.n_factors])
        return found

    def row_shapes(self, n_users: int, n_items: int) -> dict[str, tuple[int, int]]:
        """Of the arrays "users" and "items" that training keeps; see `optimizers`."""
        n = self.objective.optimizer.n_arrays
        D, n_columns = self.n_factors, self.n_factors + self.objective.has_bias
        return {"users": (n_users, n * D), "items": (n_items, n * n_columns)}

    def by_name(self) -> dict[str, Any]:
        """All that decides where a training goes, as JSON can hold it: a Generator is not kept."""
        named = self._asdict() | {"objective": self.objective.name} | self.objective.options
        seed = self.random_state
        if seed is None or isinstance(seed, np.random.Generator):
            return named | {"random_state": None}
        return named | {"random_state": index(seed)}


class Estimator(Fitted):
    """Factors that maximise an objective. `__init__` only assigns; `fit` checks.

    `_rows` : the history, a row an iteration, in the columns `_columns`.
    """

    _columns: tuple[str, ...] = HISTORY

    random_state: int | np.random.Generator | None
    objective_: Objective
    reg_: float
    learning_rate_: float
    n_iter_: int
    _fitted: Settings
    _rows: list[tuple]

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        parameters = signature(cls).parameters.values()
        return {parameter.name: parameter.default for parameter in parameters}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name, as they were given; `deep` is scikit-learn's, and does nothing."""
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **params) -> Self:
        """Change parameters, for the next `fit`; returns self. Raises ValueError for an unknown one."""
        known = self._defaults()
        for name, value in params.items():
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        """With the parameters that are not at their defaults, as scikit-learn prints them."""
        defaults = self._defaults().items()
        changed = [
            f"{name}={getattr(self, name)!r}"
            for name, default in defaults
            if repr(getattr(self, name)) != repr(default)
        ]
        state = f"fitted, {self.n_iter_} iterations" if self._is_fitted else "not fitted"
        return (
            f"{type(self).__name__}({', '.join(changed)}{'; ' if changed else ''}{state})"
        )

    @property
    def history_(self) -> pd.DataFrame:
        self._check_fitted()
        return pd.DataFrame(self._rows, columns=list(self._columns))

    @property
    def _is_fitted(self) -> bool:
        return hasattr(self, "n_iter_")

    def _learn(self, settings: Settings, rate: float, learned: dict, rows: list) -> None:
        """Be what a training with these settings came to: γ as a number, arrays by name, history."""
        self._fitted = settings
        self.objective_, self.reg_ = settings.objective, settings.reg
        vars(self).pop("item_bias_", None)  # of an earlier fit
        for name, array in learned.items():
            setattr(self, f"{name}_", array)
        self.learning_rate_, self._rows, self.n_iter_ = rate, rows, len(rows)

    def settings(self) -> Settings:
        """The parameters, checked. Raises TypeError or ValueError, naming the first bad one."""
        params = self.get_params()
        objective = configured(
            params["objective"], {name: params[name] for name in params if name in OPTIONS}
        )
        own = ("reg", "learning_rate", "init_scale")
        params |= {name: getattr(objective, name) for name in own if params[name] is None}
        check_random_state(self.random_state)
        return Settings(
            objective,
            check_count(params["n_factors"], "n_factors"),
            check_real(params["reg"], "reg"),
            check_learning_rate(params["learning_rate"]),
            check_count(params["n_iter"], "n_iter"),
            check_real(params["init_scale"], "init_scale", low_open=True),
            self.random_state,
        )
