"""One model, and all that this book calls its GAP: the number depends on the list."""

import numpy as np
import pandas as pd

from ...evaluation import top_n_per_user
from ...metrics import graded_average_precision, thresholding_probabilities
from ...model import GAPfm
from ...ratings import Ratings
from .common import held_out_gap

TEN, REST = "ten held-out", "all that are held out"
EACH_OTHER, NOT_TRAINED, DRAWN, CATALOGUE = (
    "each other", "all not in training", "1,000 unrated", "all that somebody rated",
)  # fmt: skip


def names_of_gap(
    model: GAPfm, train: Ratings, validation: Ratings, test: Ratings
) -> pd.DataFrame:
    """GAP of one model in seven ways: a row each, with what is ranked, against what, how divided.

    `validation` has ten ratings a user, `test` the rest, as from `split_three`; means over users.
    """
    hidden, known = together(validation, test), together(train, test)

    def among_themselves(ratings):
        delta = thresholding_probabilities(ratings.max_grade)
        rows = ((user, *ratings.row(user)) for user in range(ratings.n_users))
        return np.mean([
            graded_average_precision(y, model.predict(user, items), delta=delta)
            for user, items, y in rows
        ])  # fmt: skip

    def first_five(seen, held_out, n_candidates):
        lists = top_n_per_user(
            model, seen, held_out, n_candidates=n_candidates, random_state=0
        )
        return lists["GAP@5 (ideal)"].mean()

    rows = [
        ("training lists", "ten in training", EACH_OTHER, "all", among_themselves(train)),
        ("held out, chapter 2", REST, EACH_OTHER, "all", among_themselves(hidden)),
        ("held-out GAP, here", TEN, NOT_TRAINED, "all", held_out_gap(model, validation)),
        ("held-out GAP, start", REST, NOT_TRAINED, "all", held_out_gap(model, hidden)),
        ("GAP@5, here", "the test part", DRAWN, "ideal", first_five(train, test, 1000)),
        ("GAP@5, chapter 6", TEN, DRAWN, "ideal", first_five(known, validation, 1000)),
        ("GAP@5, chapter 9", REST, CATALOGUE, "ideal", first_five(train, hidden, None)),
    ]
    return pd.DataFrame(
        rows, columns=["name", "ranked", "against", "Z", "value"]
    ).set_index("name")


def together(one: Ratings, other: Ratings) -> Ratings:
    """The ratings of both, which have the same users and items and share no rating."""
    rows = (one.to_scipy() + other.to_scipy()).tocsr()
    rows.sort_indices()
    return Ratings(
        rows.indptr, rows.indices, rows.data, n_items=one.n_items,
        max_grade=max(one.max_grade, other.max_grade), users=one.users, items=one.items,
        titles=one.titles,
    )  # fmt: skip
