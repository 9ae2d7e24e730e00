"""Pairwise logistic loss weighted by grade: what `GAPfm` climbs, but for the objective."""

import numpy as np

from ..._support.checks import check_random_state, check_real
from ...learning.consistent import Consistent, ConsistentObjective, SampledProblem
from ...ratings import Ratings
from .factors import FactorModel
from .pairwise_kernels import pairwise_gradients


class PairwiseLogistic(FactorModel):
    """Matrix factors with an item bias, trained on pairs of items, the better of them by its grade.

    Minimises the sum over users of

        Σ_i v_i [Σ_j ln(1 + e^(f_j − f_i)) + w Σ_l ln(1 + e^(f_l − f_i))],   v_i = y_i / y_max,

    plus λ/2 (‖U‖² + ‖V‖² + ‖b‖²): i over the user's rated items, j over those with a lower grade,
    l over the unrated items; f_mi = ⟨U_m, V_i⟩ + b_i. Starts and steps as
    GAPfm(objective="consistent") does, by Adagrad, and sees the same unrated items: what is left
    between the two is the objective.

    Parameters
    ----------
    n_factors : int, D >= 1.
    reg : float, λ >= 0. The loss is a sum over the users' pairs, so what works grows with the
        data and with w: MovieLens 100K wants some 2,000 w at Given 10 and 4,000 w at Given 50.
    learning_rate : float > 0, what a coordinate moves by in the first iteration.
    n_iter : int >= 1.
    init_scale : float > 0, standard deviation of the normal start of U and V.
    n_negatives : int >= 1, unrated items of each user that an iteration sees, drawn anew, to stand
        for all of them; all where there are no more.
    unrated_weight : float, w > 0, what an unrated item counts where a rated one counts 1.
    random_state : None, int or numpy Generator; it draws the start and the unrated items.

    Attributes after `fit`: `user_factors_` (n_users, D), `item_factors_` (n_items, D) and
    `item_bias_` (n_items,).

    Source: the loss of a pair is that of RankNet (Burges et al., ICML 2005) and of BPR; weights,
    sums and steps are ours.
    """

    def __init__(
        self,
        n_factors: int = 10,
        *,
        reg: float = 100.0,
        learning_rate: float = 0.3,
        n_iter: int = 200,
        init_scale: float = 0.3,
        n_negatives: int = 200,
        unrated_weight: float = 0.05,
        random_state=None,
    ):
        super().__init__(n_factors, reg, n_iter, random_state)
        self.learning_rate = check_real(learning_rate, "learning_rate", low_open=True)
        self.init_scale = check_real(init_scale, "init_scale", low_open=True)
        self._options = Consistent(n_negatives=n_negatives, unrated_weight=unrated_weight)
        self.n_negatives = self._options.n_negatives
        self.unrated_weight = self._options.unrated_weight

    def _fit(self, train: Ratings, validation: Ratings | None) -> None:
        rng = check_random_state(self.random_state)
        goal = _PairwiseObjective(train, self.reg, self.learning_rate, self._options, rng)
        state = goal.start(train, self.n_factors, self.init_scale, rng)
        with np.errstate(over="ignore", invalid="ignore"):  # refused below
            for number in range(1, self.n_iter + 1):
                _, gradient = goal.gradients(state, number)
                state, _ = goal.step(state, gradient, number)
        learned = [state[name] for name in goal.learned]
        self._refuse_non_finite(*learned)
        self.user_factors_, self.item_factors_, self.item_bias_ = learned

    def _scores(self, user: int, items: np.ndarray | slice) -> np.ndarray:
        return self.item_factors_[items] @ self.user_factors_[user] + self.item_bias_[items]


class _PairwiseObjective(ConsistentObjective):
    """The loss, its sign changed, in the place of the measure."""

    def __init__(self, train: Ratings, reg: float, learning_rate: float, options, rng):
        super().__init__("consistent", train, reg, learning_rate, options, rng)
        self.problem = _Pairs(train)


class _Pairs(SampledProblem):
    """The ratings as `SampledProblem` lays them out; there is no temperature in this loss."""

    def sampled_gradients(self, U, V, uniforms, tau, unrated_weight) -> tuple:
        by_user, by_item = np.empty_like(U), np.empty_like(V)
        worth = np.arange(self.train.max_grade + 1) / self.train.max_grade
        loss = pairwise_gradients(
            U, V, self.indptr, self.items, self.grades, worth, self.train.indices, uniforms,
            unrated_weight, by_user, by_item,
        )  # fmt: skip
        return -loss, by_user, by_item
