"""What is trained by `ascend` on an objective of its own, with item biases."""

from abc import abstractmethod

import numpy as np

from ..._support.checks import check_random_state
from ...learning.consistent import ConsistentObjective
from ...learning.machine import threads
from ...learning.recommender import Recommender
from ...learning.training import ascend
from ...ratings import Ratings


class Climber(Recommender):
    """A factor model whose objective is `_goal`'s; has n_factors, n_iter and random_state.

    Attributes after `fit`: `user_factors_` (n_users, D + 1), whose last column is 1;
    `item_factors_` (n_items, D + 1), whose last column is the bias, 0 without one.
    """

    n_factors: int
    n_iter: int
    random_state: int | np.random.Generator | None

    @abstractmethod
    def _goal(self, train: Ratings, rng) -> tuple[ConsistentObjective, float]:
        """What to climb, and the standard deviation of the start."""

    def _fit(self, train: Ratings, validation: Ratings | None) -> None:
        rng = check_random_state(self.random_state)
        goal, init_scale = self._goal(train, rng)
        state = goal.start(train, self.n_factors, init_scale, rng)
        with threads(None, train):
            for done in ascend(goal, state, n_iter=self.n_iter):
                state = done.state
        self.user_factors_, self.item_factors_ = goal.factors(state)

    def _scores(self, user: int, items: np.ndarray | slice) -> np.ndarray:
        return self.item_factors_[items] @ self.user_factors_[user]
