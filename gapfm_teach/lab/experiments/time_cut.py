"""What a split in time is: how few users one cut for all would leave, and what is latest."""

import numpy as np
import pandas as pd

from ..._support.checks import check_count
from ...ratings import Ratings
from ...splits import by_time


def best_cut(ratings: Ratings, least: int = 10) -> tuple[int, int]:
    """(n_users, time): the one time for all that leaves most users with ratings on both sides.

    They have `least` ratings before it, and `least` at it or later. There may be other such times.

    Raises ValueError for `least` below 1, where nobody has ratings enough, and without times.

    One user rates from 10 to 30, another from 20 to 40: a cut at 30 parts both.

    >>> from gapfm_teach import Ratings
    >>> from gapfm_teach.lab.experiments.time_cut import best_cut
    >>> best_cut(Ratings([0, 2, 4], [0, 1, 0, 1], [5, 4, 3, 2], times=[10, 30, 20, 40]), least=1)
    (2, 30)
    """
    least = check_count(least, "least")
    able = np.diff(ratings.indptr) >= 2 * least
    if not able.any():
        raise ValueError(f"no user has {2 * least} ratings; lower least={least}")
    order = by_time(ratings, random_state=0)
    assert ratings.times is not None  # else there would be no order
    times = ratings.times[order]
    # A user has enough on both sides of c where first < c <= last; some last is among the best.
    first = np.sort(times[ratings.indptr[:-1][able] + least - 1])
    last = np.sort(times[ratings.indptr[1:][able] - least])
    n_users = np.searchsorted(first, last) - np.searchsorted(last, last)
    return int(n_users.max()), int(last[n_users.argmax()])


def latest_and_earlier(ratings: Ratings, n_latest: int = 10, least: int = 21) -> pd.Series:
    """What sets each user's `n_latest` last ratings apart from the earlier ones.

    Of the users with at least `least` ratings; ties in time are parted at random, as in
    `splits.split_latest`. Returns, by these names: "users", how many they are; "minutes, all" and
    "minutes, latest", the median time from the first rating to the last, and from the last of the
    earlier ones; "cut within an hour" and "cut within a second", the shares of users whose last
    earlier rating and first late one are no further apart; and "raters, latest", "raters,
    earlier", "grade, latest", "grade, earlier", means over users of their means, where raters are
    the film's.

    Raises ValueError for n_latest below 1, for `least` at or below it, where no user has so many
    ratings, and without times.
    """
    n_latest = check_count(n_latest, "n_latest")
    least = check_count(least, "least", low=n_latest + 1)
    able = np.diff(ratings.indptr) >= least
    if not able.any():
        raise ValueError(f"no user has {least} ratings; lower least={least}")
    order = by_time(ratings, random_state=0)
    assert ratings.times is not None  # else there would be no order
    times = ratings.times[order]
    first, end = ratings.indptr[:-1][able], ratings.indptr[1:][able]
    cut = end - n_latest
    across = times[cut] - times[cut - 1]
    raters = np.bincount(ratings.indices, minlength=ratings.n_items)[ratings.indices[order]]
    found = {
        "users": able.sum(),
        "minutes, all": np.median(times[end - 1] - times[first]) / 60,
        "minutes, latest": np.median(times[end - 1] - times[cut - 1]) / 60,
        "cut within an hour": np.mean(across <= 3600),
        "cut within a second": np.mean(across == 0),
    }
    parts = {"latest": zip(cut, end, strict=True), "earlier": zip(first, cut, strict=True)}
    for when, bounds in parts.items():
        rows = [slice(*row) for row in bounds]
        found[f"raters, {when}"] = np.mean([raters[row].mean() for row in rows])
        found[f"grade, {when}"] = np.mean(
            [ratings.grades[order[row]].mean() for row in rows]
        )
    return pd.Series(found)
