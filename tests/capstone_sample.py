"""The capstone of projects.qmd, solved for rank-biased precision: what a team hands in.

A reader looks at the first film and goes on to each next one with probability p. What she gains
on average, with Δ(y)/Δ(L) for a film of grade y, is

    RBP = (1 − p) Σ_i Δ(y_i)/Δ(L) p^(R_i − 1)

(Moffat and Zobel, "Rank-biased precision for measurement of retrieval effectiveness", 2008). With
the consistent smooth rank R̂ for R it is a function that can be climbed.
"""

import numpy as np
from numba import njit

from gapfm_teach import cumulative_weights, thresholding_probabilities
from gapfm_teach.consistent.ranks import consistent_rank, pair_gradient
from gapfm_teach.training.recommender import Recommender

STAY = 0.8  # p


def exact(gains, scores):
    """RBP of a list whose scores all differ, by walking down it."""
    shown = gains[np.argsort(-scores)]
    return (1 - STAY) * sum(gain * STAY**place for place, gain in enumerate(shown))


def value(scores, gains, tau, weights):
    """Smooth RBP; `gains` (N,), 0 for the unrated, `weights` (N,), what each counts in a rank."""
    rank = consistent_rank(scores, tau, weights)
    return (1 - STAY) * np.sum(gains * STAY ** (rank - 1))


def gradient(scores, gains, tau, weights):
    """∂value/∂f: no pair earns anything directly; a lost rank costs −(1 − p) ln p G_i p^(R̂_i − 1)."""
    rank = consistent_rank(scores, tau, weights)
    cost = -(1 - STAY) * np.log(STAY) * gains * STAY ** (rank - 1)
    return pair_gradient(scores, np.zeros((len(cost), len(cost))), cost, tau, weights)


@njit
def twin(scores, gains, tau, weights):
    """`gradient` once more, compiled, and only for the pairs that have a film with a gain in them."""
    n = scores.size
    slope = np.zeros(n)
    for i in range(n):
        if gains[i] == 0.0:
            continue
        rank = 1.0
        for j in range(n):
            if j != i:
                rank += weights[j] / (1.0 + np.exp((scores[i] - scores[j]) / tau))
        cost = -(1.0 - STAY) * np.log(STAY) * gains[i] * STAY ** (rank - 1.0)
        for j in range(n):
            if j != i:
                apart = (scores[i] - scores[j]) / tau
                # Not t (1 − t): no digits are lost where t is near 1.
                both = 1.0 / (1.0 + np.exp(apart)) / (1.0 + np.exp(-apart))
                pull = cost * weights[j] * both / tau
                slope[i] += pull
                slope[j] -= pull
    return slope


class Model(Recommender):
    """Factors that climb smooth RBP, summed over users, by Adagrad, among a sample of the unrated."""

    def __init__(
        self, n_factors=10, *, reg=0.01, learning_rate=0.3, n_iter=20, n_unrated=100, tau=1.0,
        random_state=None,
    ):  # fmt: skip
        self.n_factors, self.reg, self.learning_rate = n_factors, reg, learning_rate
        self.n_iter, self.n_unrated, self.tau = n_iter, n_unrated, tau
        self.random_state = random_state

    def _fit(self, train, validation):
        rng = np.random.default_rng(self.random_state)
        worth = cumulative_weights(thresholding_probabilities(train.max_grade))
        U = rng.normal(0, 0.3, (train.n_users, self.n_factors))
        V = rng.normal(0, 0.3, (train.n_items, self.n_factors))
        squares = [np.full_like(U, 1e-12), np.full_like(V, 1e-12)]
        for _ in range(self.n_iter):
            slopes = [-self.reg * U, -self.reg * V]
            for user in range(train.n_users):
                self._add_user(train, user, worth / worth[-1], U, V, slopes, rng)
            for x, slope, square in zip((U, V), slopes, squares, strict=True):
                square += slope**2
                x += self.learning_rate * slope / np.sqrt(square)
        self.user_factors_, self.item_factors_ = U, V

    def _add_user(self, train, user, worth, U, V, slopes, rng):
        """Add one user's part to the gradients of U and V."""
        rated, grades = train.row(user)
        unrated = np.setdiff1d(np.arange(train.n_items), rated)
        drawn = rng.permutation(unrated)[: self.n_unrated]
        items = np.concatenate([rated, drawn])
        gains = np.concatenate([worth[grades], np.zeros(drawn.size)])
        weights = np.ones(items.size)
        weights[rated.size :] = unrated.size / max(drawn.size, 1)
        c = twin(V[items] @ U[user], gains, self.tau, weights)
        slopes[0][user] += c @ V[items]
        slopes[1][items] += np.outer(c, U[user])

    def _scores(self, user, items):
        return self.item_factors_[items] @ self.user_factors_[user]
