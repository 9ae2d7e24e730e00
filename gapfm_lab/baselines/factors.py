"""What the systems that learn factors share: four parameters, and the error of a divergence."""

import numpy as np

from gapfm_teach._support.checks import check_count, check_random_state, check_real
from gapfm_teach.training.recommender import Recommender


class FactorModel(Recommender):
    """The parameters that these systems share: each is checked and kept under its own name."""

    def __init__(self, n_factors: int, reg: float, n_iter: int, random_state):
        self.n_factors = check_count(n_factors, "n_factors")
        self.reg = check_real(reg, "reg")
        self.n_iter = check_count(n_iter, "n_iter")
        self.random_state = random_state
        check_random_state(random_state)

    def _refuse_non_finite(self, *learned: np.ndarray) -> None:
        if not all(np.isfinite(values).all() for values in learned):
            names = ("confidence", "unobserved_weight", "unrated_weight", "learning_rate")
            cause = next(name for name in names if hasattr(self, name))
            raise FloatingPointError(
                f"{type(self).__name__} left the finite numbers; lower "
                f"{cause}={getattr(self, cause):g}, or change reg={self.reg:g}"
            )
