"""Exercises of notebook 08: a counting sort, and the mean of squares."""

import numpy as np

from .core import Exercise


def _begins(users, n_users):
    """Where the row of each user begins."""
    counts = np.bincount(users, minlength=n_users)
    return np.cumsum(counts) - counts


def _new_places(users, n_users):
    begins, places = _begins(users, n_users), np.empty_like(users)
    for k, user in enumerate(users):
        places[k] = begins[user]
        begins[user] += 1
    return places


def _filled_from_the_end(users, n_users):
    ends, places = np.cumsum(np.bincount(users, minlength=n_users)), np.empty_like(users)
    for k, user in enumerate(users):
        ends[user] -= 1
        places[k] = ends[user]
    return places


def _spread_of_counts(counts):
    return np.mean(counts**2) / np.mean(counts) ** 2


EXERCISES: list[Exercise] = [
    Exercise(
        name="new-places",
        solution=_new_places,
        right="Yes. A counting sort finds these places in one pass to count and one to move, without "
        "comparing two users anywhere, and a user's ratings keep the order of the file.",
        inputs=[
            (np.array([2, 0, 2, 1, 0]), 3),
            (np.array([4, 4, 1, 0, 4, 1]), 5),
            (np.array([1, 3, 3, 0, 3, 1, 2]), 4),
        ],
        mistakes={
            "This is the opposite direction: which rating stands at each place of the "
            "rows. Asked for is the place that "
            "each rating goes to.": lambda users, n_users: np.argsort(users, kind="stable"),
            "All ratings of a user go to the same place. After each one, "
            "move the place on.": lambda users, n_users: _begins(users, n_users)[users],
            "Your rows begin where they should end: `cumsum` counts "
            "the user's own ratings, too. Subtract the counts.": lambda users, n_users: (
                _new_places(users, n_users) + np.bincount(users)[users]
            ),
            "You count within the user's row. "
            "Add the place where the row begins.": lambda users, n_users: (
                _new_places(users, n_users) - _begins(users, n_users)[users]
            ),
            "The rows are right, but each is filled from its end: a "
            "user's films come out in the reverse order of the file.": _filled_from_the_end,
            "These are the users in the order of the rows. "
            "Asked for is the place of each rating.": lambda users, n_users: np.sort(users),
            "Your places begin at 1; an array's begin at 0.": lambda users, n_users: (
                _new_places(users, n_users) + 1
            ),
        },
    ),
    Exercise(
        name="counts-ratio",
        solution=_spread_of_counts,
        right="Yes: 1 + (standard deviation / mean)². It is 1 only if all users rate equally much, "
        "and that is the case the paper's count describes.",
        inputs=[
            (np.array([1, 2, 3]),),
            (np.array([10, 10, 10, 10]),),
            (np.array([5, 40, 7, 300, 12]),),
        ],
        mistakes={
            "Upside down: the true count is divided by the paper's. "
            "It is never below 1.": lambda counts: 1 / _spread_of_counts(counts),
            "M is missing. The paper's count is M times the "
            "square of the mean.": lambda counts: np.sum(counts**2) / np.sum(counts) ** 2,
            "You summed the squares, where their mean belongs: the "
            "M below is missing.": lambda counts: np.sum(counts**2) / np.mean(counts) ** 2,
            "That is the variance over the squared mean. The mean of the squares is the "
            "variance "
            "and the squared mean together.": lambda counts: _spread_of_counts(counts) - 1,
            "The standard deviation over the mean has to be squared.": lambda counts: (
                1 + np.std(counts) / np.mean(counts)
            ),
            "Upside down, and a sum of squares where their mean belongs.": lambda counts: (
                np.mean(counts) ** 2 / np.sum(counts**2)
            ),
            "The mean below the line has to be squared: S̄² M.": lambda counts: (
                np.mean(counts**2) / np.mean(counts)
            ),
            "The variance here divides by M − 1. "
            "Divide by M: these are all users, not a sample of them.": lambda counts: (
                1 + np.var(counts, ddof=1) / np.mean(counts) ** 2
            ),
        },
    ),
]
