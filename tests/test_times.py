"""When ratings were given, and the split by it, against plain Python on a table of lines."""

import pickle
from collections import defaultdict
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapfm_teach import GAPfm, simulate_ratings, splits
from gapfm_teach.ratings import Ratings
from gapfm_teach.splits import split_latest

GOOD = {"indptr": [0, 2, 3], "indices": [0, 1, 0], "grades": [1, 2, 3]}


@st.composite
def timed(draw, latest=2**53 - 1):
    """Lines (user, item, grade, time) in any order; few different times make many ties."""
    pairs = draw(
        st.lists(
            st.tuples(st.integers(0, 4), st.integers(0, 12)),
            min_size=1,
            max_size=40,
            unique=True,
        )
    )
    n = len(pairs)
    time = st.one_of(st.integers(0, 5), st.integers(-latest, latest))
    grades = draw(st.lists(st.integers(1, 5), min_size=n, max_size=n))
    times = draw(st.lists(time, min_size=n, max_size=n))
    return [(*pair, g, t) for pair, g, t in zip(pairs, grades, times, strict=True)]


def table(lines):
    return pd.DataFrame(lines, columns=["user", "item", "grade", "time"])


def lines_of(ratings):
    return list(ratings.to_frame().itertuples(index=False, name=None))


# --------------------------------------------------------------------------- what is kept


@given(timed())
def test_times_go_in_with_a_table_and_come_out_with_their_ratings(lines):
    ratings = Ratings.from_frame(table(lines), time="time")
    assert lines_of(ratings) == sorted(lines)
    assert ratings.times.dtype == np.int64
    again = Ratings.from_frame(ratings.to_frame(), time="time")
    assert again.times.tolist() == ratings.times.tolist()


def test_without_a_column_named_there_are_none():
    ratings = Ratings.from_frame(table([(1, 1, 5, 99)]))
    assert ratings.times is None
    assert list(ratings.to_frame()) == ["user", "item", "grade"]
    assert splits.subset(ratings, np.array([True]), "all").times is None
    with pytest.raises(ValueError, match="df has no column 'when'; its columns are"):
        Ratings.from_frame(table([(1, 1, 5, 99)]), time="when")


def test_times_cannot_be_changed_and_survive_pickle():
    given_times = np.array([30, 20, 10])
    ratings = Ratings(**GOOD, times=given_times)
    given_times[0] = 0
    arrays = {name: getattr(ratings, name) for name in ("users", "items", "titles")}
    trusted = Ratings.unchecked(
        ratings.indptr, ratings.indices, ratings.grades, **arrays,
        max_grade=3, source="", origin="", times=np.array([30, 20, 10]),
    )  # fmt: skip
    for one in (ratings, trusted, pickle.loads(pickle.dumps(ratings))):
        assert one.times.tolist() == [30, 20, 10]
        with pytest.raises(ValueError, match="read-only"):
            one.times[0] = 0


def test_files_for_training_leave_times_out(tmp_path):
    ratings = Ratings(**GOOD, times=[30, 20, 10])
    GAPfm(2, n_iter=1, random_state=0).fit(ratings).save(tmp_path / "model.npz")
    read = [GAPfm.load(tmp_path / "model.npz").train_]
    if find_spec("pyarrow"):
        ratings.to_parquet(tmp_path / "parts")
        read.append(Ratings.from_parquet(tmp_path / "parts"))
    for again in read:
        assert again.times is None
        assert again.grades.tolist() == GOOD["grades"]


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([1, 2], "times has 2 entries but there are 3 ratings; pass one for each"),
        ([[1, 2, 3]], r"times must be one-dimensional, got shape \(1, 3\)"),
        ([1, 2.5, 3], r"times must be whole seconds.*times\[1\] is 2\.5"),
        ([1, 2, np.nan], r"none missing; times\[2\] is nan"),
        ([1, 881250949 * 10**9, 2], r"not parts of a second; times\[1\] is 8\.8"),
        ([1, "noon", 2], "times must be numbers"),
        (np.array([1, 2, 3], "M8[D]"), r"dates of type datetime64\[D\]; convert"),
        (np.ma.array([1, 2, 3], mask=[0, 1, 0]), "times has masked entries"),
    ],
)
def test_bad_times_are_named(times, message):
    with pytest.raises(ValueError, match=message):
        Ratings(**GOOD, times=times)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([1, None], r"time must be whole seconds.*none missing; time\[1\] is nan"),
        (["soon", "late"], "time must be numbers, got 'soon' first"),
        (pd.to_datetime([1, 2]), "time must be seconds since 1970, got dates"),
    ],
)
def test_a_bad_column_of_times_is_named(column, message):
    frame = table([(1, 1, 5, 0), (1, 2, 4, 0)]).assign(time=column)
    with pytest.raises(ValueError, match=message):
        Ratings.from_frame(frame, time="time")


# --------------------------------------------------------------------------- what is parted


@given(timed(), st.integers(0, 2**32))
def test_every_way_of_parting_keeps_each_rating_with_its_time(lines, bits):
    ratings = Ratings.from_frame(table(lines), time="time")
    chosen = np.array([bits >> k & 1 for k in range(len(lines))], dtype=bool)
    wanted = [line for line, one in zip(sorted(lines), chosen, strict=True) if one]
    part = splits.subset(ratings, chosen, "some")
    assert lines_of(part) == wanted
    assert set(lines_of(splits.sample_n(ratings, 1, random_state=0))) <= set(lines)


@given(timed(), st.integers(1, 4), st.integers(1, 4), st.integers(0, 3))
def test_split_latest_holds_its_definition(lines, n_test, min_train, seed):
    ratings = Ratings.from_frame(table(lines), time="time")
    rated = defaultdict(list)
    for line in sorted(lines):
        rated[line[0]].append(line)
    wanted = [user for user in rated if len(rated[user]) >= n_test + min_train]
    if not wanted:
        with pytest.raises(ValueError, match=f"n_test={n_test} with min_train={min_train}"):
            split_latest(ratings, n_test, min_train=min_train, random_state=seed)
        return
    parts = split_latest(ratings, n_test, min_train=min_train, random_state=seed)
    for part in parts:
        assert part.users.tolist() == wanted
        assert part.items.tolist() == ratings.items.tolist()
        assert part.max_grade == ratings.max_grade
    train, test = map(lines_of, parts)
    assert sorted(train + test) == [line for user in wanted for line in rated[user]]
    for user in wanted:
        earlier, later = ([t for u, *_, t in part if u == user] for part in (train, test))
        assert len(later) == n_test
        assert sorted(later) == sorted(t for *_, t in rated[user])[-n_test:]
        assert max(earlier) <= min(later)


def test_ties_are_drawn_and_the_draw_is_the_seeds():
    """Eight ratings in one second, two for the test: every item equally often."""
    ratings = Ratings([0, 9], range(9), np.ones(9), times=[5] * 8 + [4])
    draws = np.zeros(9)
    for seed in range(800):
        draws[split_latest(ratings, 2, random_state=seed)[1].indices] += 1
    assert draws[8] == 0
    # Binomial(800, 1/4): standard deviation 12.2, so 60 is five of them.
    assert np.abs(draws[:8] - 200).max() < 60
    one, same = (split_latest(ratings, 2, random_state=3)[1].indices for _ in range(2))
    assert one.tolist() == same.tolist()


def test_ratings_without_times_and_bad_numbers_are_named():
    ratings = simulate_ratings(20, 50, mean_ratings=20, random_state=0)
    with pytest.raises(ValueError, match="ratings have no times; take load_movielens"):
        split_latest(ratings, 2)
    timed = Ratings([0, 12], range(12), np.ones(12), times=range(12))
    with pytest.raises(ValueError, match="n_test must be at least 1, got 0"):
        split_latest(timed, 0)
    with pytest.raises(TypeError, match="min_train must be a whole number"):
        split_latest(timed, 1, min_train=2.5)
    with pytest.raises(
        ValueError, match="at least 13 ratings, and the most active one has 12"
    ):
        split_latest(timed, 10, min_train=3)
    with pytest.raises(TypeError, match="ratings must be Ratings, got DataFrame"):
        split_latest(timed.to_frame())


# --------------------------------------------------------------------------- fewer grades


@given(
    st.lists(st.integers(1, 127), min_size=1, max_size=30),
    st.integers(1, 200),
    st.integers(0, 100),
)
def test_coarsened_rounds_every_grade_up(grades, steps, above):
    top = min(max(grades) + above, 127)
    n = len(grades)
    ratings = Ratings([0, n], range(n), grades, max_grade=top, times=range(n), source="x")
    coarse = ratings.coarsened(steps)

    def rounded(grade):
        return next(k for k in range(1, 128) if k * steps >= grade)

    assert coarse.grades.tolist() == [rounded(grade) for grade in grades]
    assert coarse.grades.dtype == np.int8
    assert coarse.max_grade == rounded(top)
    assert coarse.times.tolist() == list(range(n))
    assert coarse.source == f"x; grades / {steps}, rounded up"
    assert ratings.grades.tolist() == grades
    with pytest.raises(ValueError, match="read-only"):
        coarse.grades[0] = 1


def test_half_stars_become_whole_ones():
    stars = np.arange(1, 11) / 2
    ratings = Ratings([0, 10], range(10), stars * 2, max_grade=10)
    assert ratings.coarsened().grades.tolist() == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert "source: not stated; grades / 2, rounded up" in repr(ratings.coarsened())
    with pytest.raises(ValueError, match="steps must be at least 1, got 0"):
        ratings.coarsened(0)
