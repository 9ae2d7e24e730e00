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
        right="Yes. A counting sort finds these positions in two passes, one to count "
        "and one to move. It never compares two users, and each user's ratings "
        "keep the order of the file.",
        inputs=[
            (np.array([2, 0, 2, 1, 0]), 3),
            (np.array([4, 4, 1, 0, 4, 1]), 5),
            (np.array([1, 3, 3, 0, 3, 1, 2]), 4),
        ],
        mistakes={
            "This is the opposite direction: it says which rating each position of "
            "the rows holds. The exercise asks for the position that each rating "
            "moves to.": lambda users, n_users: np.argsort(users, kind="stable"),
            "All ratings of a user move to the same position. Add 1 to it after "
            "each of them.": lambda users, n_users: _begins(users, n_users)[users],
            "Your rows begin where they should end, because `cumsum` includes the "
            "user's own ratings. Subtract the counts.": lambda users, n_users: (
                _new_places(users, n_users) + np.bincount(users)[users]
            ),
            "You count only within the user's row. Add the position where the row "
            "begins.": lambda users, n_users: (
                _new_places(users, n_users) - _begins(users, n_users)[users]
            ),
            "The rows are right, but you fill each from its end, so a user's films "
            "come out in the reverse order of the file.": _filled_from_the_end,
            "These are the users in the order of the rows. The exercise asks for "
            "the position of each rating.": lambda users, n_users: np.sort(users),
            "Your positions begin at 1, but those of an array begin at 0.": lambda users, n_users: (
                _new_places(users, n_users) + 1
            ),
        },
    ),
    Exercise(
        name="counts-ratio",
        solution=_spread_of_counts,
        right="Yes. The ratio is 1 + (standard deviation / mean)². It is 1 only if "
        "all users rate equally much, which is the case that the paper's count "
        "describes.",
        inputs=[
            (np.array([1, 2, 3]),),
            (np.array([10, 10, 10, 10]),),
            (np.array([5, 40, 7, 300, 12]),),
        ],
        mistakes={
            "This is upside down. Divide the true count by the paper's, so that the "
            "ratio is never below 1.": lambda counts: 1 / _spread_of_counts(counts),
            "A factor M is missing. The paper's count is M times the square of the "
            "mean.": lambda counts: np.sum(counts**2) / np.sum(counts) ** 2,
            "You took the sum of the squares instead of their mean, so a factor M "
            "is missing below the line.": lambda counts: (
                np.sum(counts**2) / np.mean(counts) ** 2
            ),
            "This is the variance divided by the squared mean. The mean of the "
            "squares is the variance plus the squared mean.": lambda counts: (
                _spread_of_counts(counts) - 1
            ),
            "Square the standard deviation divided by the mean.": lambda counts: (
                1 + np.std(counts) / np.mean(counts)
            ),
            "This is upside down, and it has the sum of the squares instead of "
            "their mean.": lambda counts: np.mean(counts) ** 2 / np.sum(counts**2),
            "Square the mean below the line, because the paper's count is S̄² M.": lambda counts: (
                np.mean(counts**2) / np.mean(counts)
            ),
            "The variance here divides by M − 1. Divide by M, because these are all "
            "users and not a sample of them.": lambda counts: (
                1 + np.var(counts, ddof=1) / np.mean(counts) ** 2
            ),
        },
    ),
]
