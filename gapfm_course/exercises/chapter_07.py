"""Exercises of notebook 07: the level of chance, shrinking a mean, λ at each visit."""

from functools import partial

import numpy as np

from .core import Exercise


def _discounts(n):
    return 1 / np.log2(np.arange(2, n + 2))


def _gains(grades):
    return 2.0**grades - 1


def _best(values, n):
    return np.sort(values)[::-1][:n]


def _random_ndcg(
    grades, n, *, gains=_gains, mean_of=None, ideal_of=_best, discounts=_discounts
):
    """Expected DCG at n over the ideal one, with places where a slip can be put in."""
    values = gains(grades)
    mean = np.mean(mean_of(values, n) if mean_of else values)
    ideal = ideal_of(values, n)
    return mean * discounts(n).sum() / (ideal @ discounts(ideal.size))


def _ratings_needed(mean, rival, k, mu):
    return k * (rival - mu) / (mean - rival)


def _rest_points(pushes, reg):
    return np.array([pushes.sum(), pushes.mean()]) / reg


EXERCISES: list[Exercise] = [
    Exercise(
        name="random-ndcg",
        solution=_random_ndcg,
        right="Yes. The mean gain stands at every rank on average; the ideal list is what it is "
        "measured against.",
        inputs=[
            (np.array([2, 5, 3, 2]), 3),
            (np.array([1, 2, 3, 4, 5, 5, 3]), 1),
            (np.array([4, 1, 4, 2, 5, 3, 3, 1]), 5),
        ],
        mistakes={
            "This is the expected DCG. "
            "Divide by the DCG of the ideal order.": lambda grades, n: (
                _gains(grades).mean() * _discounts(n).sum()
            ),
            "You used the grades themselves as gains. A grade y is worth 2^y − 1.": partial(
                _random_ndcg, gains=np.asarray
            ),
            "The ideal list goes on to its end here. Cut it after n ranks, too.": partial(
                _random_ndcg, ideal_of=lambda values, n: _best(values, values.size)
            ),
            "The ideal DCG takes the films in the order given. "
            "Sort the gains, best first.": partial(
                _random_ndcg, ideal_of=lambda values, n: values[:n]
            ),
            "You averaged the gains of the first n films. By chance any film of the list "
            "may stand there: average "
            "all of them.": partial(_random_ndcg, mean_of=lambda values, n: values[:n]),
            "You averaged the n *best* gains. By chance any film of the list "
            "may stand there: average all of them.": partial(_random_ndcg, mean_of=_best),
            "A grade y is worth 2^y − 1; the −1 is missing.": partial(
                _random_ndcg, gains=np.exp2
            ),
            "You divided by the rank r. The discount is 1/log2(r + 1).": partial(
                _random_ndcg, discounts=lambda n: 1 / np.arange(1, n + 1)
            ),
            "The ideal list has the *worst* films first in yours. "
            "`np.sort` goes from low to high: turn it round, `[::-1]`.": partial(
                _random_ndcg, ideal_of=lambda values, n: np.sort(values)[:n]
            ),
            "The discounts are missing. They do not cancel: the ideal "
            "list has its best film where the discount is largest.": lambda grades, n: (
                _gains(grades).mean() / _best(_gains(grades), n).mean()
            ),
        },
    ),
    Exercise(
        name="ratings-needed",
        solution=_ratings_needed,
        right="Yes: k counts as a unit. The nearer the rival is to the film's own mean, the more "
        "ratings it takes.",
        inputs=[(4.5, 4.0, 5, 3.5), (5.0, 3.75, 9, 3.5), (4.2, 4.1, 2.5, 3.0)],
        mistakes={
            "You rounded up. The number "
            "at which both are equal may have a fraction.": lambda mean, rival, k, mu: (
                np.ceil(_ratings_needed(mean, rival, k, mu))
            ),
            "Upside down: it should take more ratings when the rival is nearer "
            "to the mean.": lambda mean, rival, k, mu: k * (mean - rival) / (rival - mu),
            "The pseudo-counts are worth μ each, not 0: they "
            "lift the film, too.": lambda mean, rival, k, mu: k * rival / (mean - rival),
            "This is n + k, "
            "the real ratings and the pseudo-counts together.": lambda mean, rival, k, mu: (
                k * (mean - mu) / (mean - rival)
            ),
            "Below the line belongs how far the film's own mean is "
            "above the *rival*.": lambda mean, rival, k, mu: k * (rival - mu) / (mean - mu),
            "k is missing: so many pseudo-counts pull "
            "the film towards μ.": lambda mean, rival, k, mu: (rival - mu) / (mean - rival),
        },
    ),
    Exercise(
        name="rest-points",
        solution=_rest_points,
        right="Yes. The two differ by the factor n, the number of visits: that factor is "
        "popularity.",
        inputs=[
            (np.array([0.2, 0.1, 0.3, 0.2]), 0.5),
            (np.array([0.4]), 0.25),
            (np.array([0.1, 0.1, 0.1]), 2.0),
        ],
        mistakes={
            "The two are swapped. λ once: the pushes of all "
            "visits against one λv.": lambda pushes, reg: _rest_points(pushes, reg)[::-1],
            "λ is missing. The larger it is, the nearer "
            "to 0 the film comes to rest.": lambda pushes, reg: _rest_points(pushes, 1.0),
            "With λ at each visit, "
            "λv is subtracted as often as the film is visited.": lambda pushes, reg: (
                np.array([pushes.sum(), pushes.sum()]) / reg
            ),
            "With λ once, all pushes pull against a single λv: "
            "their sum, not their mean.": lambda pushes, reg: (
                np.array([pushes.mean(), pushes.mean()]) / reg
            ),
            "You multiplied by λ. "
            "At rest λv is the sum of the pushes: divide by λ.": lambda pushes, reg: (
                np.array([pushes.sum(), pushes.mean()]) * reg
            ),
        },
    ),
]
