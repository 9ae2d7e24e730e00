"""Exercises of notebook 05: Appendix C's loss, sorting the selected, and which way (8) pushes."""

from functools import partial

import numpy as np

from gapfm_teach.paper import (
    cumulative_weights,
    ranks,
    smoothed_gap_gradient,
    thresholding_probabilities,
)

from .core import Exercise

_DELTA = thresholding_probabilities(5)
_WORTH = cumulative_weights(_DELTA)


def _pair_losses(grades):
    """Loss of each pair of places of a ranked list, (n, n): row i stands below column j."""
    worth = _WORTH[np.asarray(grades)]
    return np.tril(np.maximum(worth[:, None] - worth[None, :], 0.0))


def _list_loss(grades, *, weighed=None, over=None, lost=np.tril):
    """What a list loses, with places where a slip can be put in: weights, Z, which pairs."""
    worth = _WORTH[grades] if weighed is None else weighed(grades)
    pairs = lost(np.maximum(worth[:, None] - worth[None, :], 0.0))
    rank = np.arange(1, len(grades) + 1)
    return np.sum(pairs / rank[:, None]) / np.sum(worth if over is None else over(grades))


def _without_normaliser(grades):
    return _list_loss(grades) * np.sum(_WORTH[grades])


def _upper_rank(grades):
    rank = np.arange(1, len(grades) + 1)
    return np.sum(_pair_losses(grades) / rank[None, :]) / np.sum(_WORTH[grades])


def _without_rank(grades):
    return np.sum(_pair_losses(grades)) / np.sum(_WORTH[grades])


def _signed(grades):
    weights = _WORTH[np.asarray(grades)]
    rank = np.arange(1, len(grades) + 1)
    both = np.tril(weights[:, None] - weights[None, :])
    return np.sum(both / rank[:, None]) / np.sum(weights)


def _single(grades):
    return _DELTA[grades - 1]


def _zero_based_rank(grades):
    rank = np.maximum(np.arange(len(grades)), 1)  # the film at place 0 has nobody above it
    return np.sum(_pair_losses(grades) / rank[:, None]) / np.sum(_WORTH[grades])


def _sort_selected(grades, selected):
    out = grades.copy()
    out[selected] = -np.sort(-grades[selected])
    return out


def _sort_everything(grades, selected):
    return -np.sort(-grades)


def _to_the_top(grades, selected):
    rest = np.delete(grades, selected)
    return np.concatenate([-np.sort(-grades[selected]), rest])


def _in_the_order_selected(grades, selected):
    out = grades.copy()
    out[np.sort(selected)] = grades[selected]
    return out


def _ascending(grades, selected):
    out = grades.copy()
    out[selected] = np.sort(grades[selected])
    return out


def _too_high(grades, scores):
    return ranks(scores) < ranks(grades)


def _pushes(grades, scores):
    return smoothed_gap_gradient(scores, grades, _DELTA)


def _pushed_up(grades, scores):
    return np.sum(_too_high(grades, scores) & (_pushes(grades, scores) > 0))


def _pushed_down(grades, scores):
    return np.sum(_too_high(grades, scores) & (_pushes(grades, scores) < 0))


def _too_low_pushed_up(grades, scores):
    too_low = ranks(scores) > ranks(grades)
    return np.sum(too_low & (_pushes(grades, scores) > 0))


def _any_pushed_up(grades, scores):
    return np.sum(_pushes(grades, scores) > 0)


def _user(seed: int, n_rated: int, spread: float) -> tuple:
    """Distinct-looking grades and scores of one user; wide spreads also give negative pushes."""
    rng = np.random.default_rng(seed)
    return rng.integers(1, 6, n_rated), spread * rng.normal(size=n_rated)


def _selection(seed: int, n_rated: int, k: int) -> tuple:
    """Grades in ranked order, and k places in ascending order."""
    rng = np.random.default_rng(seed)
    return rng.integers(1, 6, n_rated), np.sort(rng.permutation(n_rated)[:k])


EXERCISES: list[Exercise] = [
    Exercise(
        name="list-loss",
        solution=_list_loss,
        right="Yes, and 1 minus it is the list's GAP: among rated films, misranked pairs are the "
        "only loss there is.",
        inputs=[
            (np.array([2, 5, 1, 4]),),
            (np.array([5, 4, 2, 1]),),
            (np.array([1, 3, 3, 5, 2, 5]),),
        ],
        mistakes={
            "Divide by Z, the sum of Δ(y): "
            "without it this is not in units of GAP.": _without_normaliser,
            "You divided by the rank of the film that stands above. "
            "It is the lower one, i, that brings the factor 1/R_i.": _upper_rank,
            "The factor 1/R_i is missing: "
            "the same pair costs less further down.": _without_rank,
            "You also counted pairs that stand in the right order, with the other sign. "
            "They cost nothing, and they earn nothing.": _signed,
            "This is the list's GAP, what is left of 1. "
            "What does it lose?": lambda grades: 1 - _list_loss(grades),
            "You weighed a grade y by δ_y alone. "
            "Δ(y) adds up δ from the first grade to y.": [
                lambda grades: _list_loss(grades, weighed=_single),
                lambda grades: _list_loss(grades, weighed=_single, over=_WORTH.__getitem__),
            ],
            "The pairs are right, Z is not: "
            "it adds up Δ(y), where you have δ_y alone.": partial(_list_loss, over=_single),
            "You weighed the grades themselves. A pair "
            "costs the difference of their Δ.": partial(_list_loss, weighed=np.asarray),
            "You charged the pairs in the right order, a better film above a worse one. A "
            "loss is where the film "
            "*below* has the higher grade.": partial(_list_loss, lost=np.triu),
            "Places count from 0, ranks from 1: "
            "the film at place i has rank i + 1.": _zero_based_rank,
            "You divided by the number of films. Z is the "
            "sum of their Δ(y).": lambda grades: _without_normaliser(grades) / len(grades),
        },
    ),
    Exercise(
        name="sort-selected",
        solution=_sort_selected,
        right="Yes. Only the selected films move, and they change places among themselves.",
        keeps_inputs=True,
        inputs=[
            (np.array([2, 5, 1, 4, 3]), np.array([0, 1, 3])),
            _selection(0, 9, 4),
            _selection(1, 12, 6),
        ],
        mistakes={
            "You sorted the whole list. "
            "The films that are not selected keep their places.": _sort_everything,
            "You moved the selected films to the top. "
            "They share out the places they hold.": _to_the_top,
            "Nothing has moved: the grades went back where they came from. (`x[selected]` "
            "is a copy, so `x[selected].sort()` "
            "sorts that and leaves `x` alone.)": _in_the_order_selected,
            "The wrong way round: "
            "the highest grade belongs on the first of the places.": _ascending,
            "Two slips: you sorted the whole list, and from low to high. The films that "
            "are not selected keep their places.": lambda grades, selected: np.sort(grades),
            "These are the selected films alone. Return the whole list, all "
            "others where they were.": lambda grades, selected: -np.sort(-grades[selected]),
        },
    ),
    Exercise(
        name="pushed-up",
        solution=_pushed_up,
        right="Yes. They already stand too high for their grade, and a step along (8) raises them "
        "further.",
        inputs=[_user(0, 8, 0.1), _user(1, 12, 1.0), _user(2, 15, 3.0), _user(5, 20, 4.0)],
        mistakes={
            "You counted the films that stand too low. Rank 1 is the top: "
            "too high means that the rank by score is the smaller one.": _too_low_pushed_up,
            "You counted those with a negative gradient. We climb: the step has "
            "the sign of the gradient, so a positive one raises the score.": _pushed_down,
            "You counted every film that is pushed up; "
            "only those that stand too high are asked for.": _any_pushed_up,
            "You counted every film that stands too high; not all of "
            "them are pushed up.": lambda grades, scores: np.sum(_too_high(grades, scores)),
            "This is a share. How many films are there?": lambda grades, scores: (
                _pushed_up(grades, scores) / len(grades)
            ),
            "This is the share among the films that stand too high. "
            "How many are they?": lambda grades, scores: np.mean(
                (_pushes(grades, scores) > 0)[_too_high(grades, scores)]
            ),
            "`|` counts the films for which one of the two holds. "
            "Both have to: `&`.": lambda grades, scores: np.sum(
                _too_high(grades, scores) | (_pushes(grades, scores) > 0)
            ),
            "Both of your rankings have the lowest value first. "
            "Rank 1 is the highest.": lambda grades, scores: np.sum(
                (ranks(-scores) < ranks(-grades)) & (_pushes(grades, scores) > 0)
            ),
        },
    ),
]
