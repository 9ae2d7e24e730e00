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


def _misranked(difference):
    """The part of a difference in Δ(y) that is lost: where the lower place has the higher grade."""
    return np.tril(np.maximum(difference, 0.0))


def _list_loss(
    grades, *, weigh=_WORTH.__getitem__, over=None, lost=_misranked, divisor=np.transpose
):
    """What a list loses, with places where a slip can be put in.

    over : what Z sums up, `weigh` unless given
    divisor : of each pair, from the ranks as a row
    """
    weights = weigh(grades)
    pairs = lost(weights[:, None] - weights)
    ranks_in_a_row = np.arange(1, len(grades) + 1)[None, :]
    return np.sum(pairs / divisor(ranks_in_a_row)) / np.sum((over or weigh)(grades))


def _single(grades):
    return _DELTA[grades - 1]


def _put(grades, places, values):
    out = grades.copy()
    out[places] = values
    return out


def _descending(grades):
    return -np.sort(-grades)


def _to_the_top(grades, selected):
    return np.concatenate([_descending(grades[selected]), np.delete(grades, selected)])


def _too_high(grades, scores):
    return ranks(scores) < ranks(grades)


def _raised(grades, scores):
    return smoothed_gap_gradient(scores, grades, _DELTA) > 0


def _pushed_up(grades, scores):
    return np.sum(_too_high(grades, scores) & _raised(grades, scores))


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
        right="Yes, and 1 minus this number is the list's GAP. Among rated films, "
        "misranked pairs are the only loss.",
        inputs=[
            (np.array([2, 5, 1, 4]),),
            (np.array([5, 4, 2, 1]),),
            (np.array([1, 3, 3, 5, 2, 5]),),
        ],
        mistakes={
            "Divide by Z, the sum of Δ(y). Without it, the number is not in units of "
            "GAP.": partial(_list_loss, over=lambda grades: 1.0),
            "You divided by the rank of the higher film of the pair. The factor 1/R_i "
            "belongs to the lower film, i.": partial(_list_loss, divisor=np.asarray),
            "The factor 1/R_i is missing. The same pair costs less further down the "
            "list.": partial(_list_loss, divisor=np.ones_like),
            "You also counted pairs in the right order, with the opposite sign. Such "
            "pairs cost nothing and gain nothing.": partial(_list_loss, lost=np.tril),
            "This is the list's GAP. Return the loss, which is 1 minus GAP.": lambda grades: (
                1 - _list_loss(grades)
            ),
            "You used δ_y alone as the weight of a grade y. Δ(y) adds up δ from the "
            "first grade to y.": [
                partial(_list_loss, weigh=_single),
                partial(_list_loss, weigh=_single, over=_WORTH.__getitem__),
            ],
            "The pairs are right, but Z is not. Z adds up Δ(y), and you added up δ_y.": partial(
                _list_loss, over=_single
            ),
            "You used the grades themselves as weights. A pair costs the difference "
            "of their Δ.": partial(_list_loss, weigh=np.asarray),
            "You counted the pairs in the right order, with a better film above a "
            "worse one. A pair costs something if the film *below* has the higher "
            "grade.": partial(_list_loss, lost=lambda d: np.triu(np.maximum(d, 0.0))),
            "Positions are counted from 0, but ranks from 1. The film at position i "
            "has rank i + 1.": partial(
                _list_loss, divisor=lambda row: np.maximum(row.T - 1, 1)
            ),
            "You divided by the number of films. Divide by Z, the sum of their Δ(y).": partial(
                _list_loss, over=np.ones_like
            ),
        },
    ),
    Exercise(
        name="sort-selected",
        solution=lambda grades, selected: _put(
            grades, selected, _descending(grades[selected])
        ),
        right="Yes. Only the selected films move, and they exchange positions among "
        "themselves.",
        keeps_inputs=True,
        inputs=[
            (np.array([2, 5, 1, 4, 3]), np.array([0, 1, 3])),
            _selection(0, 9, 4),
            _selection(1, 12, 6),
        ],
        mistakes={
            "You sorted the whole list. The films that are not selected keep their "
            "positions.": lambda grades, selected: _descending(grades),
            "You moved the selected films to the top. They only exchange the "
            "positions that they already have.": _to_the_top,
            "Nothing has moved, because the grades went back to where they came from. "
            "(`x[selected]` is a copy, so `x[selected].sort()` sorts the copy and "
            "does not change `x`.)": lambda grades, selected: _put(
                grades, np.sort(selected), grades[selected]
            ),
            "This is the wrong way round. The highest grade belongs at the first of "
            "the positions.": lambda grades, selected: _put(
                grades, selected, np.sort(grades[selected])
            ),
            "There are two mistakes. You sorted the whole list, and from low to high. "
            "The films that are not selected keep their positions.": lambda grades, selected: (
                np.sort(grades)
            ),
            "These are only the selected films. Return the whole list, with all other "
            "films where they were.": lambda grades, selected: _descending(
                grades[selected]
            ),
        },
    ),
    Exercise(
        name="pushed-up",
        solution=_pushed_up,
        right="Yes. These films are already too high for their grade, and a step along "
        "the gradient of (8) raises them further.",
        inputs=[_user(0, 8, 0.1), _user(1, 12, 1.0), _user(2, 15, 3.0), _user(5, 20, 4.0)],
        mistakes={
            "You counted the films that are too low. Rank 1 is the top, so a film is "
            "too high if its rank by score is the smaller one.": lambda grades, scores: (
                np.sum((ranks(scores) > ranks(grades)) & _raised(grades, scores))
            ),
            "You counted the films with a negative gradient. In gradient ascent, the "
            "step has the sign of the gradient, so a positive gradient raises the "
            "score.": lambda grades, scores: np.sum(
                _too_high(grades, scores) & ~_raised(grades, scores)
            ),
            "You counted every film that is pushed up. Count only those that are too "
            "high.": lambda grades, scores: np.sum(_raised(grades, scores)),
            "You counted every film that is too high. Not all of them are pushed up.": lambda grades, scores: (
                np.sum(_too_high(grades, scores))
            ),
            "This is a share. Return the number of films.": lambda grades, scores: (
                _pushed_up(grades, scores) / len(grades)
            ),
            "This is a share of the films that are too high. Return the number of "
            "films.": lambda grades, scores: np.mean(
                _raised(grades, scores)[_too_high(grades, scores)]
            ),
            "`|` counts the films for which at least one of the two conditions holds. "
            "Both have to hold, so use `&`.": lambda grades, scores: np.sum(
                _too_high(grades, scores) | _raised(grades, scores)
            ),
            "Both of your rankings give rank 1 to the lowest value. Rank 1 belongs to "
            "the highest.": lambda grades, scores: np.sum(
                (ranks(-scores) < ranks(-grades)) & _raised(grades, scores)
            ),
        },
    ),
]
