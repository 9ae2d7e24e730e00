"""What explorables of chapters 6 and 7 are made of: sums over users and films, nobody's ratings."""

import json
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ...learning.recommender import Recommender
from ...ratings import Ratings
from ..systems import SYSTEMS


def stored_systems(
    rows: pd.DataFrame, names: Sequence[str], train: Ratings, *, split: int = 0
) -> dict[str, Recommender]:
    """Some systems of a stored table, fitted to `train` with what tuning chose in one split.

    rows : of the table, one a system, with its settings as `reproduce` wrote them.
    """
    settings = rows.set_index("system")["settings"]
    found = {name: json.loads(settings.loc[name])[split] for name in names}
    return {
        name: SYSTEMS[name].build(chosen, split).fit(train)
        for name, chosen in found.items()
    }


def full_ranks(
    systems: Mapping[str, Recommender], known: Ratings, test: Ratings, *,
    n_unrated: int = 1500, random_state=0,
) -> dict:  # fmt: skip
    """How many held-out films have 0, 1, ..., n_unrated unrated ones above them, for each system.

    Each film in `test` alone among `n_unrated` films that the user has rated neither there nor in
    `known`: the same ones for all systems, drawn once, of the users who have so many. Equal scores
    are parted at random. Returns what the view "sample_size" takes.
    """
    rng = np.random.default_rng(random_state)
    counts = {name: np.zeros(n_unrated + 1, np.int32) for name in systems}
    users = 0
    for user in range(test.n_users):
        hidden, seen = test.row(user)[0], known.row(user)[0]
        unrated = np.setdiff1d(np.arange(test.n_items), np.append(hidden, seen))
        if unrated.size < n_unrated:
            continue
        users += 1
        others = rng.permutation(unrated)[:n_unrated]
        lots = rng.random(hidden.size + n_unrated)
        for name, system in systems.items():
            scores = system.predict(user, np.append(hidden, others))
            order = np.lexsort((lots, -scores))
            is_hidden = order < hidden.size
            above = np.cumsum(~is_hidden)[is_hidden]
            np.add.at(counts[name], above, 1)
    # As text: most counts have one digit, which is shorter than packed bytes.
    systems_found = {name: count.tolist() for name, count in counts.items()}
    return {"unrated": n_unrated, "users": users, "systems": systems_found}


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
