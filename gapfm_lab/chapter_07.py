"""What notebook 07 leans on: films by how many ratings they have, and of which sum."""

import numpy as np
import pandas as pd

from gapfm_teach.ratings import Ratings


def means_of_films(train: Ratings, ratings: Ratings, n_titles: int = 200) -> dict:
    """Films by number and sum of their ratings, and how many there are of each such pair.

    Of `train`; the `n_titles` films that are most rated in `ratings`, all of them, stand alone, with
    their titles. What the view "shrink" takes as n, sum, many, titles and mu.
    """
    n = np.bincount(train.indices, minlength=train.n_items)
    total = np.bincount(train.indices, train.grades, minlength=train.n_items).astype(int)
    title = np.full(train.n_items, "", dtype=object)
    in_all = np.bincount(ratings.indices, minlength=ratings.n_items)
    often = np.argsort(-in_all, kind="stable")[:n_titles]
    title[often] = [str(name) for name in train.titles[often]]
    films = pd.DataFrame({"n": n, "sum": total, "title": title}).query("n > 0")
    groups = films.groupby(["n", "sum", "title"]).size().reset_index(name="many")
    numbers = {key: groups[key].to_numpy(np.int32) for key in ("n", "sum", "many")}
    mu = float(train.grades.mean())
    return numbers | {"titles": groups["title"].tolist(), "mu": mu}
