"""What the tests of the evaluation share: models with given scores, a small split."""

import numpy as np

from gapfm_teach import simulate_ratings, split_given


class Fixed:
    """A model with given scores (n_users, n_items) that keeps the lists it was asked about."""

    def __init__(self, scores):
        self.scores = np.asarray(scores, dtype=float)
        self.lists = {}

    def predict(self, user, items=None):
        self.lists[int(user)] = items
        return self.scores[user] if items is None else self.scores[user][items]


class Factors(Fixed):
    """Scores that are products of factors, and a bias when one is given."""

    def __init__(self, U, V, bias=0.0):
        super().__init__(U @ V.T + bias)
        self.user_factors_, self.item_factors_ = U, V


def split(n_items=120, seed=0):
    ratings = simulate_ratings(60, n_items, mean_ratings=25, random_state=seed)
    return split_given(ratings, 8, min_test=3, random_state=1)


def random_scores(test, seed=0):
    return np.random.default_rng(seed).normal(size=(test.n_users, test.n_items))


def by_metric(table):
    return table.set_index("metric")["mean"]


def grades_in_list(test, user, items):
    grades = np.zeros(test.n_items, dtype=int)
    grades[test.row(user)[0]] = test.row(user)[1]
    return grades[items]
