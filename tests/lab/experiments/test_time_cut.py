"""One cut in time for all: counted for every possible cut, one user after the other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapfm_teach.lab.experiments.time_cut import best_cut, latest_and_earlier
from gapfm_teach.ratings import Ratings


def users_parted(rows, cut, least):
    return sum(
        sum(t < cut for t in row) >= least and sum(t >= cut for t in row) >= least
        for row in rows
    )


def ratings_at(rows):
    """A user for each of `rows`, who rates items 0, 1, ... at these times."""
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    items = [k for row in rows for k in range(len(row))]
    times = [t for row in rows for t in row]
    return Ratings(starts, items, np.ones(len(items)), times=times)


@given(
    st.lists(
        st.lists(st.integers(-10, 30), min_size=0, max_size=9), min_size=1, max_size=8
    ),
    st.integers(1, 3),
)
def test_no_other_cut_leaves_more_users(rows, least):
    ratings = ratings_at(rows)
    if max(map(len, rows)) < 2 * least:
        with pytest.raises(ValueError, match=f"no user has {2 * least} ratings; lower"):
            best_cut(ratings, least)
        return
    n_users, cut = best_cut(ratings, least)
    assert n_users == users_parted(rows, cut, least)
    assert n_users == max(users_parted(rows, other, least) for other in range(-11, 32))


def test_what_cannot_be_cut_is_named():
    ratings = Ratings([0, 2], [0, 1], [1, 2])
    with pytest.raises(ValueError, match="ratings have no times"):
        best_cut(ratings, 1)
    with pytest.raises(ValueError, match="least must be at least 1, got 0"):
        best_cut(ratings, 0)


def test_latest_and_earlier_by_hand():
    hour = 3600
    rows = [[0, 0, 5 * hour, 5 * hour + 60], [0, 600, 600, 660], [1, 2]]
    grades = [1, 2, 3, 5, 4, 4, 2, 2, 1, 1]
    ratings = Ratings(
        [0, 4, 8, 10],
        [0, 1, 2, 3, 0, 1, 2, 4, 0, 1],
        grades,
        times=[*rows[0], *rows[1], *rows[2]],
    )
    found = latest_and_earlier(ratings, n_latest=2, least=4)
    assert found["users"] == 2
    assert found["minutes, all"] == (301 + 11) / 2
    assert found["minutes, latest"] == (301 + 1) / 2
    assert found["cut within an hour"] == found["cut within a second"] == 0.5
    # Raters of the items 0 to 4: 3, 3, 2, 1, 1. The second user's two at 600 are parted by lot.
    assert found["raters, latest"] in [np.mean([1.5, r]) for r in (1.5, 2)]
    assert found["grade, earlier"] in [np.mean([1.5, g]) for g in (4, 3)]
    with pytest.raises(ValueError, match="no user has 5 ratings; lower least=5"):
        latest_and_earlier(ratings, 2, 5)
    with pytest.raises(ValueError, match="least must be at least 3, got 2"):
        latest_and_earlier(ratings, 2, 2)
