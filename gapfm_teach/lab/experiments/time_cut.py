"""Why the split in time is each user's own: how few users one cut for all would leave."""

import numpy as np

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
