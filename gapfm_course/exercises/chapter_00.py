"""Exercises of notebook 00."""

import numpy as np

from gapfm_teach.paper import ranks

from .core import Exercise

EXERCISES: list[Exercise] = [
    Exercise(
        name="share-empty",
        solution=lambda n_users, n_items, n_ratings: 1 - n_ratings / (n_users * n_items),
        inputs=[(943, 1682, 100_000), (4, 5, 5), (10, 3, 30)],
        right="Right. The list that we want to build is made of these empty cells.",
        mistakes={
            "This is the share of cells that are *filled*; "
            "the empty ones are the rest.": lambda n_users, n_items, n_ratings: (
                n_ratings / (n_users * n_items)
            ),
            "This is the *number* of empty cells; "
            "divide by the number of all cells.": lambda n_users, n_items, n_ratings: (
                n_users * n_items - n_ratings
            ),
            "Right in percent, but a share lies between 0 and 1: "
            "leave out the 100.": lambda n_users, n_items, n_ratings: (
                100 * (1 - n_ratings / n_users / n_items)
            ),
            "The table has users *times* items cells, "
            "not users plus items.": lambda n_users, n_items, n_ratings: (
                1 - n_ratings / (n_users + n_items)
            ),
            "This is the share of cells that are *filled*, "
            "and in percent.": lambda n_users, n_items, n_ratings: (
                100 * n_ratings / (n_users * n_items)
            ),
            "You divided by the number of filled cells. "
            "Divide by the number of all cells.": lambda n_users, n_items, n_ratings: (
                (n_users * n_items - n_ratings) / n_ratings
            ),
            "Brackets: `a / b * c` is `(a / b) * c`. "
            "Divide by `(n_users * n_items)`.": lambda n_users, n_items, n_ratings: (
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
        right="Right. From here on R_i, the rank of item i, is all that a metric sees of "
        "the scores.",
        mistakes={
            "`argsort` answers another question: *which item* stands at each rank. You "
            "need at *which rank* each item stands, "
            "the inverse of that.": lambda scores: np.argsort(-scores) + 1,
            "Two slips: `argsort` says which item stands at each rank, not the "
            "other way round; and ranks begin at 1.": lambda scores: np.argsort(-scores),
            "Upside down: rank 1 belongs to the *highest* score.": lambda scores: ranks(
                -scores
            ),
            "Your ranks begin at 0. The paper's begin at 1, "
            "and we are going to divide by them.": lambda scores: ranks(scores) - 1,
            "Two slips: `argsort` says which item stands at each place, not the other way "
            "round; "
            "and it sorts the *lowest* score first.": lambda scores: np.argsort(scores) + 1,
            "Three slips: `argsort` says which item stands at each place, not the other "
            "way round; it sorts the *lowest* score first; "
            "and ranks begin at 1.": lambda scores: np.argsort(scores),
            "Upside down, and from 0: "
            "rank 1 belongs to the *highest* score.": lambda scores: ranks(-scores) - 1,
            "These are the scores themselves, sorted. Asked for is the place of each.": [
                lambda s: -np.sort(-s),
                np.sort,
            ],
            "You numbered the items as they come. "
            "A rank depends on the score: the highest has rank 1.": lambda scores: (
                np.arange(scores.size)
            ),
        },
    ),
]
