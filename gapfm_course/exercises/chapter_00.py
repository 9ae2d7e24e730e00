"""Exercises of notebook 00."""

import numpy as np

from gapfm_teach.paper import ranks

from .core import Exercise

EXERCISES: list[Exercise] = [
    Exercise(
        name="share-empty",
        solution=lambda n_users, n_items, n_ratings: 1 - n_ratings / (n_users * n_items),
        inputs=[(943, 1682, 100_000), (4, 5, 5), (10, 3, 30)],
        right="Right. The films that we want to recommend are in these empty cells.",
        mistakes={
            "This is the share of cells that are *filled*. "
            "The empty cells are the rest.": lambda n_users, n_items, n_ratings: (
                n_ratings / (n_users * n_items)
            ),
            "This is the *number* of empty cells. "
            "Divide it by the number of all cells.": lambda n_users, n_items, n_ratings: (
                n_users * n_items - n_ratings
            ),
            "This is right in percent, but a share is between 0 and 1. "
            "Leave out the 100.": lambda n_users, n_items, n_ratings: (
                100 * (1 - n_ratings / n_users / n_items)
            ),
            "The table has users *times* items cells, "
            "not users plus items.": lambda n_users, n_items, n_ratings: (
                1 - n_ratings / (n_users + n_items)
            ),
            "This is the share of *filled* cells, "
            "and it is in percent.": lambda n_users, n_items, n_ratings: (
                100 * n_ratings / (n_users * n_items)
            ),
            "You divided by the number of filled cells. "
            "Divide by the number of *all* cells.": lambda n_users, n_items, n_ratings: (
                (n_users * n_items - n_ratings) / n_ratings
            ),
            "Python reads `a / b * c` as `(a / b) * c`. "
            "Divide by `(n_users * n_items)`, in brackets.": lambda n_users, n_items, n_ratings: (
                1 - n_ratings / n_users * n_items
            ),
            "You divided by the users alone. The table has users *times* films cells.": [
                lambda n_users, n_items, n_ratings: 1 - n_ratings / n_users,
                lambda n_users, n_items, n_ratings: n_ratings / n_users,
            ],
            "`//` divides and rounds down. "
            "A share needs `/`.": lambda n_users, n_items, n_ratings: (
                1 - n_ratings // (n_users * n_items)
            ),
        },
    ),
    Exercise(
        name="ranks",
        solution=ranks,
        inputs=[
            (np.array([0.2, 1.7, -0.4, 0.9]),),
            (np.array([3.0, 2.0, 5.0, 4.0, 1.0]),),
            (np.array([-2.0, -9.0, -1.0]),),
        ],
        right="Right. From here on, the rank R_i of item i is all that a metric sees of "
        "the scores.",
        mistakes={
            "`argsort` answers another question: *which item* is at each rank. You "
            "need the inverse of that: "
            "*at which rank* each item is.": lambda scores: np.argsort(-scores) + 1,
            "There are two mistakes. `argsort` gives the item at each rank, not the "
            "rank of each item. And ranks begin at 1.": lambda scores: np.argsort(-scores),
            "This is upside down. Rank 1 belongs to the *highest* score.": lambda scores: (
                ranks(-scores)
            ),
            "Your ranks begin at 0. The paper's ranks begin at 1, "
            "and we are going to divide by them.": lambda scores: ranks(scores) - 1,
            "There are two mistakes. `argsort` gives the item at each rank, not the "
            "rank of each item. "
            "And it puts the *lowest* score first.": lambda scores: np.argsort(scores) + 1,
            "There are three mistakes. `argsort` gives the item at each rank, not the "
            "rank of each item. It puts the *lowest* score first. "
            "And ranks begin at 1.": lambda scores: np.argsort(scores),
            "There are two mistakes. Ranks begin at 1, "
            "and rank 1 belongs to the *highest* score.": lambda scores: ranks(-scores) - 1,
            "These are the scores themselves, sorted. You need the rank of each item.": [
                lambda s: -np.sort(-s),
                np.sort,
            ],
            "You numbered the items in the order in which they come. "
            "A rank depends on the score: the highest has rank 1.": lambda scores: (
                np.arange(scores.size)
            ),
        },
    ),
]
