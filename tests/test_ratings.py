"""Ratings and split_given against pandas, SciPy and the definition."""

import pickle
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from gapfm_teach import splits
from gapfm_teach.ratings import Ratings
from gapfm_teach.splits import split_given


@st.composite
def frames(draw, max_users=8, max_items=12):
    """Tables of distinct (user, item) pairs in random order, ids with gaps, as text or number."""
    pairs = draw(
        st.lists(
            st.tuples(st.integers(0, max_users), st.integers(0, max_items)),
            min_size=1,
            max_size=40,
            unique=True,
        )
    )
    grades = draw(st.lists(st.integers(1, 10), min_size=len(pairs), max_size=len(pairs)))
    users, items = np.array(pairs).T
    as_text = draw(st.booleans())
    return pd.DataFrame(
        {
            "user": [f"u{user}" for user in users] if as_text else users * 7 + 3,
            "item": items * 2 + 100,
            "grade": grades,
        }
    )


def sorted_rows(frame):
    columns = ["user", "item", "grade"]
    return sorted(frame[columns].itertuples(index=False, name=None))


@given(frames())
def test_frame_round_trip_keeps_every_rating(frame):
    ratings = Ratings.from_frame(frame)
    assert sorted_rows(ratings.to_frame()) == sorted_rows(frame)
    assert ratings.n_ratings == len(frame)
    assert list(ratings.users) == sorted(set(frame["user"]))
    assert list(ratings.items) == sorted(set(frame["item"]))
    again = Ratings.from_frame(ratings.to_frame())
    for name in ("indptr", "indices", "grades"):
        np.testing.assert_array_equal(getattr(again, name), getattr(ratings, name))


@given(frames())
def test_scipy_agrees_with_a_pandas_pivot(frame):
    ratings = Ratings.from_frame(frame)
    pivot = frame.pivot_table(index="user", columns="item", values="grade", fill_value=0)
    matrix = ratings.to_scipy()
    assert isinstance(matrix, sparse.csr_array)
    assert matrix.has_canonical_format
    np.testing.assert_array_equal(matrix.toarray(), pivot.to_numpy())


@given(frames())
def test_row_agrees_with_selecting_one_user(frame):
    ratings = Ratings.from_frame(frame)
    for user, identifier in enumerate(ratings.users):
        items, grades = ratings.row(user)
        expected = frame[frame["user"] == identifier].sort_values("item")
        assert list(ratings.items[items]) == list(expected["item"])
        assert list(grades) == list(expected["grade"])
        assert items.dtype == np.int32
        assert grades.dtype == np.int64


def test_scipy_matrix_does_not_overflow_and_is_the_callers_own():
    ratings = Ratings([0, 3], [0, 1, 2], [100, 100, 100])
    matrix = ratings.to_scipy()
    assert (matrix @ matrix.T).toarray().tolist() == [[30_000]]
    matrix.data[0] = 1
    matrix.indices[0] = 2
    assert ratings.row(0)[0].tolist() == [0, 1, 2]
    assert ratings.row(0)[1].tolist() == [100, 100, 100]


def test_columns_can_have_any_names_and_titles_come_from_a_column_or_a_mapping():
    frame = pd.DataFrame(
        {
            "who": ["b", "a", "b"],
            "what": [7, 7, 3],
            "stars": [1, 2, 3],
            "name": ["S", "S", None],
        }
    )
    names = {"user": "who", "item": "what", "grade": "stars"}
    assert Ratings.from_frame(frame, **names).titles.tolist() == ["3", "7"]
    assert Ratings.from_frame(frame, **names, title="name").titles.tolist() == ["3", "S"]
    by_mapping = Ratings.from_frame(frame, **names, title={3: "Three", 99: "not rated"})
    assert by_mapping.titles.tolist() == ["Three", "7"]
    without = Ratings.from_frame(frame, **names, title={3: None, 7: np.nan})
    assert without.titles.tolist() == ["3", "7"]


def test_half_stars_times_two_are_accepted_as_the_message_says():
    frame = pd.DataFrame({"user": [1, 1], "item": [1, 2], "grade": [0.5, 5.0]})
    with pytest.raises(ValueError, match=r"grade.*multiply half stars by 2.*0\.5"):
        Ratings.from_frame(frame)
    doubled = Ratings.from_frame(frame.assign(grade=frame["grade"] * 2), max_grade=10)
    assert doubled.row(0)[1].tolist() == [1, 10]


def test_empty_users_one_item_users_and_no_ratings_at_all_are_fine():
    ratings = Ratings([0, 0, 1, 1], [2], [4], n_items=5)
    assert (ratings.n_users, ratings.n_items, ratings.max_grade) == (3, 5, 4)
    assert ratings.row(0)[0].size == 0
    assert ratings.row(1)[0].tolist() == [2]
    assert ratings.to_scipy().shape == (3, 5)
    assert len(ratings.to_frame()) == 1
    assert Ratings([0, 0], [], [], n_items=3, max_grade=5).to_frame().empty


def test_nothing_can_be_changed_and_the_callers_arrays_stay_writeable():
    indices = np.array([0, 1])
    ratings = Ratings([0, 2], indices, [1, 2], titles=["A", "B"])
    indices[0] = 9
    assert ratings.indices.tolist() == [0, 1]
    for name in ("indptr", "indices", "grades", "users", "items", "titles"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(ratings, name)[0] = 0
    with pytest.raises(AttributeError, match="max_grade"):
        ratings.max_grade = 9
    copy = pickle.loads(pickle.dumps(ratings))
    assert copy.titles.tolist() == ["A", "B"]
    with pytest.raises(ValueError, match="read-only"):
        copy.grades[0] = 0


def test_repr_says_where_the_ratings_came_from():
    assert "from a survey" in repr(Ratings([0, 1], [0], [1], source="from a survey"))
    assert "not stated" in repr(Ratings([0, 1], [0], [1]))


def masked(values):
    """With the last one hidden: NumPy would bring it back to light."""
    return np.ma.array(values, mask=[False] * (len(values) - 1) + [True])


GOOD = {"indptr": [0, 2, 3], "indices": [0, 1, 0], "grades": [1, 2, 3]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"grades": [1, 2]}, "indices has 3 entries but grades has 2"),
        ({"grades": [1, 2, np.nan]}, r"grades.*grades\[2\] is nan"),
        ({"grades": [1, -2, 3]}, r"grades.*grades\[1\] is -2"),
        ({"grades": [1, 0, 3]}, r"grades.*1 or above.*grades\[1\] is 0"),
        ({"grades": [1, 2.5, 3]}, r"grades.*multiply half stars by 2.*2\.5"),
        ({"grades": [1, 2, 200]}, "max_grade must be from 1 to 127, got 200"),
        ({"indptr": [0, 2]}, "indptr must run from 0 to the 3 grades, got 0 to 2"),
        ({"indptr": [0, 3, 2, 3]}, "never decrease; it does after user 1"),
        ({"indices": [0, 1.5, 0]}, "indices must be whole numbers.*float64"),
        ({"indices": [0, -1, 0]}, r"indices.*-1"),
        ({"indices": [0, 2**31, 0]}, r"indices.*0 to 2147483646.*indices\[1\]"),
        ({"indices": [0, 0, 0]}, "user 0 has item 0 twice"),
        ({"indices": [1, 0, 0]}, "user 0 has item 0 out of order"),
        ({"n_items": 1}, "n_items is 1 but indices reaches 1; pass at least 2"),
        ({"max_grade": 2}, "max_grade is 2 but grades reaches 3; pass at least 3"),
        ({"max_grade": 0}, "max_grade must be at least 1"),
        ({"titles": ["one"]}, r"titles has shape \(1,\) but there are 2 items"),
        ({"users": [1, 2, 3]}, r"users has shape \(3,\) but there are 2 users"),
        ({"users": ["a", "a"]}, "users must be distinct, but 'a' is there twice.*1"),
        ({"items": [7, 7]}, "items must be distinct, but 7 is there twice"),
        ({"grades": [1, 2, 3j]}, "grades must be numbers, got .*3j"),
        ({"grades": np.array([1, 2, 3], "M8[s]")}, "grades must be numbers"),
        ({"grades": masked([1, 2, 3])}, "grades has masked entries; leave them out"),
        ({"indices": masked([0, 1, 0])}, "indices has masked entries"),
        ({"indices": np.array([0, 1, 0], complex)}, "indices must be whole numbers"),
        ({"users": masked([5, 6])}, "users has masked entries"),
    ],
)
def test_bad_arrays_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        Ratings(**(GOOD | change))


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"user": [1], "item": [1]}, "no column 'grade'"),
        ({"user": [], "item": [], "grade": []}, "no rows"),
        (
            {"user": [1, None], "item": [1, 2], "grade": [1, 1]},
            "user must not be missing; row 1",
        ),
        ({"user": [1, 1], "item": [1, 2], "grade": [1, None]}, r"grade\[1\] is nan"),
        ({"user": [1], "item": [1], "grade": ["a"]}, "grade must be numbers, got 'a'"),
        ({"user": [1], "item": [1], "grade": [0]}, "grade must be 1 or above"),
    ],
)
def test_bad_tables_are_named(frame, message):
    with pytest.raises(ValueError, match=message):
        Ratings.from_frame(pd.DataFrame(frame))


def test_titles_from_a_mapping():
    frame = pd.DataFrame({"user": [1], "item": [1], "grade": [1]})
    assert Ratings.from_frame(frame, title=pd.Series({1: "A"})).titles.tolist() == ["A"]


def test_a_column_that_is_there_twice_is_named():
    frame = pd.DataFrame([[1, 1, 1, 2]], columns=["user", "item", "grade", "user"])
    with pytest.raises(ValueError, match="df has 2 columns 'user'"):
        Ratings.from_frame(frame)


@pytest.mark.parametrize(
    ("ids", "changed"),
    [
        ([2**53 + 1, 0.5], r"9007199254740993 would become 9007199254740992\.0"),
        ([1, "1"], "1 would become '1'"),
    ],
)
@pytest.mark.parametrize("name", ["users", "items"])
def test_ids_that_numpy_would_change_are_refused(name, ids, changed):
    with pytest.raises(ValueError, match=f"{name} must be of one type, but {changed}; ma"):
        Ratings([0, 1, 2], [0, 1], [3, 4], n_items=2, **{name: ids})


def test_ids_of_one_type_are_kept():
    for ids in ([1.5, 2], [2**53, 1], [-5, 2**62], np.array([2**63, 1], np.uint64)):
        found = Ratings([0, 1, 2], [0, 1], [3, 4], users=ids).users
        assert found.tolist() == list(ids)


@pytest.mark.parametrize("ordered", [False, True])
def test_categories_are_ids_in_sorted_order_like_others(ordered):
    for plain in (["b", "a", "b"], [10, 9, 10], [0.5, 2.5, 0.5]):
        own_order = pd.Categorical(
            plain, categories=[*plain[:2], plain[0] * 9], ordered=ordered
        )
        table = {"user": plain, "item": [1, 2, 3], "grade": [1, 2, 3]}
        expected = Ratings.from_frame(pd.DataFrame(table))
        found = Ratings.from_frame(pd.DataFrame(table | {"user": own_order}))
        assert found.users.tolist() == expected.users.tolist() == sorted(set(plain))
        assert found.users.dtype == expected.users.dtype
        assert found.to_frame().equals(expected.to_frame())


def test_ids_that_cannot_be_sorted_are_refused():
    ids = pd.Series([pd.Timestamp(2020, 1, 1), 1], dtype=object)
    table = pd.DataFrame({"user": [1, 2], "item": ids, "grade": [1, 1]})
    with pytest.raises(
        ValueError, match=r"item has ids that cannot be sorted .*; make them"
    ):
        Ratings.from_frame(table)


@pytest.mark.parametrize(
    ("title", "words"),
    [
        (pd.Series(["A", "B"], index=[5, 5]), "title has item 5 more than once; keep"),
        ({5: ["A", "B"]}, r"title of item 5 must be text, got \['A', 'B'\]"),
    ],
    ids=["twice", "a list"],
)
def test_titles_that_are_none_are_named(title, words):
    table = pd.DataFrame({"user": [1, 2], "item": [5, 6], "grade": [1, 1]})
    with pytest.raises(ValueError, match=words):
        Ratings.from_frame(table, title=title)


def test_a_series_of_titles_is_asked_for_ids_and_never_for_places():
    table = pd.DataFrame({"user": [1, 2], "item": [0, 1], "grade": [1, 1]})
    titles = pd.Series(["A", "B"], index=["0", "1"])
    assert Ratings.from_frame(table, title=titles).titles.tolist() == ["0", "1"]


def test_repeated_ratings_are_named_by_their_original_ids():
    frame = pd.DataFrame(
        {"user": ["ann", "bob", "bob"], "item": [5, 9, 9], "grade": [1, 2, 3]}
    )
    with pytest.raises(
        ValueError, match=r"1 repeated ratings, the first by user 'bob' for item 9"
    ):
        Ratings.from_frame(frame)


def test_what_is_no_table_and_users_out_of_range_are_refused():
    with pytest.raises(TypeError, match="DataFrame"):
        Ratings.from_frame([1, 2, 3])
    ratings = Ratings([0, 1], [0], [1])
    with pytest.raises(ValueError, match="user must be from 0 to 0, got 1"):
        ratings.row(1)
    with pytest.raises(TypeError, match="user must be a whole number"):
        ratings.row("ann")


def triples(ratings):
    return Counter(ratings.to_frame().itertuples(index=False, name=None))


@given(frames(max_users=4), st.integers(1, 4), st.integers(1, 4), st.integers(0, 3))
def test_split_given_holds_its_definition(frame, n_given, min_test, seed):
    ratings = Ratings.from_frame(frame)
    counts = frame.groupby("user").size()
    wanted = sorted(counts[counts >= n_given + min_test].index)
    if not wanted:
        with pytest.raises(ValueError, match="n_given"):
            split_given(ratings, n_given, min_test=min_test, random_state=seed)
        return
    train, test = split_given(ratings, n_given, min_test=min_test, random_state=seed)
    assert list(train.users) == list(test.users) == wanted
    assert set(np.diff(train.indptr)) == {n_given}
    assert np.diff(test.indptr).min() >= min_test
    kept = frame[frame["user"].isin(wanted)]
    assert triples(train) + triples(test) == triples(Ratings.from_frame(kept))
    for part in (train, test):
        assert list(part.items) == list(ratings.items)
        assert part.titles.tolist() == ratings.titles.tolist()
        assert part.max_grade == ratings.max_grade
        assert "given" in part.source


def test_split_given_draws_each_rating_equally_often():
    ratings = Ratings([0, 8], np.arange(8), np.ones(8))
    rng = np.random.default_rng(0)
    drawn = np.zeros(8)
    for _ in range(800):
        drawn[split_given(ratings, 2, min_test=6, random_state=rng)[0].indices] += 1
    # Binomial(800, 1/4): standard deviation 12.2, so 60 is five of them.
    assert np.abs(drawn - 200).max() < 60


def test_split_given_repeats_itself_for_one_seed_only():
    ratings = Ratings([0, 60], np.arange(60), np.ones(60))
    first, again, other = (split_given(ratings, 30, random_state=s)[0] for s in (1, 1, 2))
    assert first.indices.tolist() == again.indices.tolist()
    assert first.indices.tolist() != other.indices.tolist()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_given": 0}, ValueError, "n_given must be at least 1, got 0"),
        ({"n_given": 2.5}, TypeError, "n_given must be a whole number"),
        ({"n_given": 1, "min_test": 0}, ValueError, "min_test must be at least 1, got 0"),
        (
            {"n_given": 50},
            ValueError,
            "at least 60 ratings, and the most active one has 12",
        ),
        ({"n_given": 1, "random_state": -1}, ValueError, "random_state"),
    ],
)
def test_split_given_names_bad_arguments(options, error, message):
    ratings = Ratings([0, 12, 12], np.arange(12), np.ones(12))
    with pytest.raises(error, match=message):
        split_given(ratings, **options)
    with pytest.raises(TypeError, match="ratings must be Ratings"):
        split_given(ratings.to_frame(), 1)


@given(frames(), frames(), st.integers(1, 3))
def test_shared_marks_the_pairs_that_both_have(one, other, at_once):
    one, other = (frame.assign(user=frame["user"].map(str)) for frame in (one, other))
    both = pd.concat([one, other])
    users, items = sorted(both["user"].unique()), sorted(both["item"].unique())

    def place(frame):
        frame = frame.assign(
            user=frame["user"].map(users.index), item=frame["item"].map(items.index)
        ).sort_values(["user", "item"])
        counts = np.bincount(frame["user"], minlength=len(users))
        return frame, Ratings(
            np.append(0, np.cumsum(counts)),
            frame["item"],
            frame["grade"],
            n_items=len(items),
        )

    (mine, ours), (yours, theirs) = place(one), place(other)
    pairs = set(zip(yours["user"], yours["item"], strict=True))
    expected = [pair in pairs for pair in zip(mine["user"], mine["item"], strict=True)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splits, "USERS_AT_ONCE", at_once)
        assert splits.overlap_mask(ours, theirs).tolist() == expected
