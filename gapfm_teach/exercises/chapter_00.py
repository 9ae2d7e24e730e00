"""Exercises of notebook 00."""

import numpy as np

from ..metrics import ranks
from .core import Exercise, Mistake


def _shrunken(grades, overall, strength):
    return (np.sum(grades) + strength * overall) / (len(grades) + strength)


EXERCISES: list[Exercise] = [
    Exercise(
        name="share-empty",
        solution=lambda n_users, n_items, n_ratings: 1 - n_ratings / (n_users * n_items),
        inputs=[(943, 1682, 100_000), (4, 5, 5), (10, 3, 30)],
        right="Right. The list that we want to build is made of these empty cells.",
        mistakes=[
            Mistake(
                lambda n_users, n_items, n_ratings: n_ratings / (n_users * n_items),
                "This is the share of cells that are *filled*; the empty ones are the rest.",
            ),
            Mistake(
                lambda n_users, n_items, n_ratings: n_users * n_items - n_ratings,
                "This is the *number* of empty cells; divide by the number of all cells.",
            ),
            Mistake(
                lambda n_users, n_items, n_ratings: (
                    100 * (1 - n_ratings / n_users / n_items)
                ),
                "Right in percent, but a share lies between 0 and 1: leave out the 100.",
            ),
            Mistake(
                lambda n_users, n_items, n_ratings: 1 - n_ratings / (n_users + n_items),
                "The table has users *times* items cells, not users plus items.",
            ),
            Mistake(
                lambda n_users, n_items, n_ratings: 100 * n_ratings / (n_users * n_items),
                "This is the share of cells that are *filled*, and in percent.",
            ),
            Mistake(
                lambda n_users, n_items, n_ratings: (
                    (n_users * n_items - n_ratings) / n_ratings
                ),
                "You divided by the number of filled cells. Divide by the number of all cells.",
            ),
            Mistake(
                lambda n_users, n_items, n_ratings: 1 - n_ratings / n_users * n_items,
                "Brackets: `a / b * c` is `(a / b) * c`. Divide by `(n_users * n_items)`.",
            ),
            Mistake(
                lambda n_users, n_items, n_ratings: 1 - n_ratings // (n_users * n_items),
                "`//` divides and rounds down. A share needs `/`.",
            ),
        ],
    ),
    Exercise(
        name="shrunken-mean",
        solution=_shrunken,
        inputs=[
            (np.array([5]), 3.5, 5),
            (np.array([5, 4, 4, 5, 3, 5, 5, 4]), 3.5, 5),
            (np.array([1, 2]), 3.0, 2),
        ],
        right="Right. One enthusiast no longer beats the whole crowd.",
        mistakes=[
            Mistake(
                lambda grades, overall, strength: np.mean(grades),
                "This is the plain mean; it never looks at `overall` and `strength`.",
            ),
            Mistake(
                lambda grades, overall, strength: (
                    (np.sum(grades) + strength * overall) / len(grades)
                ),
                "The pretended ratings are in the sum, but you forgot to count them in the "
                "number of ratings that you divide by.",
            ),
            Mistake(
                lambda grades, overall, strength: (
                    (np.sum(grades) + overall) / (len(grades) + strength)
                ),
                "You count `strength` pretended ratings below the line but add only one of "
                "them above it.",
            ),
            Mistake(
                lambda grades, overall, strength: (np.mean(grades) + overall) / 2,
                "Half and half for every film: but the more real ratings a film has, the "
                "less should `overall` weigh.",
            ),
            Mistake(
                lambda grades, overall, strength: (
                    np.sum(grades) + strength * overall / (len(grades) + strength)
                ),
                "Brackets: only the pretended ratings are divided. Put brackets around the whole sum.",
            ),
            Mistake(
                lambda grades, overall, strength: (
                    (np.mean(grades) + strength * overall) / (1 + strength)
                ),
                "The film's own mean counts as one rating here, however many it stands for. Begin "
                "with the sum of the grades.",
            ),
            Mistake(
                lambda grades, overall, strength: (
                    (np.mean(grades) + strength * overall) / (len(grades) + strength)
                ),
                "You divide by the number of all ratings, but above the line there is the *mean* of "
                "the film's own ones. Take their sum.",
            ),
            Mistake(
                lambda grades, overall, strength: (
                    (strength * np.mean(grades) + len(grades) * overall)
                    / (len(grades) + strength)
                ),
                "The weights have changed places: the film's own mean counts `len(grades)` times, "
                "`overall` counts `strength` times.",
            ),
        ],
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
        mistakes=[
            Mistake(
                lambda scores: np.argsort(-scores) + 1,
                "`argsort` answers another question: *which item* stands at each rank. You "
                "need at *which rank* each item stands, the inverse of that.",
            ),
            Mistake(
                lambda scores: np.argsort(-scores),
                "Two slips: `argsort` says which item stands at each rank, not the other way "
                "round; and ranks begin at 1.",
            ),
            Mistake(
                lambda scores: ranks(-scores),
                "Upside down: rank 1 belongs to the *highest* score.",
            ),
            Mistake(
                lambda scores: ranks(scores) - 1,
                "Your ranks begin at 0. The paper's begin at 1, and we are going to divide "
                "by them.",
            ),
            Mistake(
                lambda scores: np.argsort(scores) + 1,
                "Two slips: `argsort` says which item stands at each place, not the other way round; "
                "and it sorts the *lowest* score first.",
            ),
            Mistake(
                lambda scores: np.argsort(scores),
                "Three slips: `argsort` says which item stands at each place, not the other way "
                "round; it sorts the *lowest* score first; and ranks begin at 1.",
            ),
            Mistake(
                lambda scores: ranks(-scores) - 1,
                "Upside down, and from 0: rank 1 belongs to the *highest* score.",
            ),
            Mistake(
                lambda scores: -np.sort(-scores),
                "These are the scores themselves, sorted. Asked for is the place of each.",
            ),
        ],
    ),
]
