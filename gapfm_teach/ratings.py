"""Ratings of many users in compressed rows, with original ids and titles."""

from collections.abc import Mapping
from typing import Any, SupportsIndex

import numpy as np
import pandas as pd
from scipy import sparse

from ._support import parquet
from ._support.checks import check_count, check_grades, check_positions, check_times
from ._support.columns import (
    check_columns,
    check_ids,
    check_labels,
    factorize,
    grade_column,
    item_titles,
    time_column,
)

HIGHEST_GRADE = 127  # grades are stored in one byte


class Ratings:
    """Graded ratings of `n_users` users for `n_items` items, one compressed row a user.

    User m's ratings stand in `indices[indptr[m]:indptr[m + 1]]` (which items, increasing)
    and in `grades` at the same places: the set N_m and the grades y_m of section 3.1.

    Parameters
    ----------
    indptr : (n_users + 1,) whole numbers from 0 to n_ratings, never decreasing. Two equal
        neighbours make a user without ratings, which is allowed.
    indices : (n_ratings,) item positions 0..n_items-1, strictly increasing inside a row.
    grades : (n_ratings,) whole numbers 1..max_grade; max_grade is at most 127.
    n_items : number of items; by default the highest position in `indices` plus one.
    max_grade : y_max; by default the highest grade that occurs.
    users, items : original ids, (n_users,) and (n_items,), all different; by default the
        positions.
    titles : (n_items,) text for display; by default the ids as text.
    times : (n_ratings,) whole seconds since 1970, for `split_latest`; None where they are not
        known. Models and Parquet files are written without them.
    source : what these ratings are, in words; shown by `repr`.
    origin : which copy they were read from (an archive, the cache, ...).

    Everything is copied on the way in and read-only afterwards.

    Raises ValueError that names the argument and the first offending value.

    >>> from gapfm_teach import Ratings
    >>> Ratings([0, 2, 3], [0, 2, 1], [5, 3, 4])  # one user rated items 0 and 2, another item 1
    <Ratings: 2 users × 3 items, 3 ratings, grades 1 to 5; source: not stated>
    """

    indptr: np.ndarray
    indices: np.ndarray
    grades: np.ndarray
    n_users: int
    n_items: int
    n_ratings: int
    max_grade: int
    users: np.ndarray
    items: np.ndarray
    titles: np.ndarray
    times: np.ndarray | None
    source: str
    origin: str

    def __init__(
        self,
        indptr,
        indices,
        grades,
        *,
        n_items: int | None = None,
        max_grade: int | None = None,
        users=None,
        items=None,
        titles=None,
        times=None,
        source: str = "",
        origin: str = "",
    ) -> None:
        marks = check_grades(grades, allow_unrated=False)
        columns = check_positions(indices, "indices")
        if columns.size != marks.size:
            raise ValueError(
                f"indices has {columns.size} entries but grades has {marks.size}; "
                "pass one item for each grade"
            )
        starts = _check_indptr(indptr, marks.size)
        n_users = starts.size - 1
        n_items = _upper_bound(n_items, "n_items", columns, "indices", extra=1)
        max_grade = _upper_bound(max_grade, "max_grade", marks, "grades", extra=0)
        check_count(max_grade, "max_grade", high=HIGHEST_GRADE)
        _check_increasing(starts, columns)
        item_ids = check_ids(items, "items", n_items, "item")
        names = (
            item_ids if titles is None else check_labels(titles, "titles", n_items, "item")
        )
        when = None if times is None else check_times(times, length=marks.size)
        # A plain attribute write is refused from now on: see __setattr__.
        self.__dict__.update(
            indptr=_frozen(starts, np.int64),
            indices=_frozen(columns, np.int32),
            grades=_frozen(marks, np.int8),
            n_users=n_users,
            n_items=n_items,
            n_ratings=marks.size,
            max_grade=max_grade,
            users=_frozen(check_ids(users, "users", n_users, "user")),
            items=_frozen(item_ids),
            titles=_frozen(names, np.str_),
            times=None if when is None else _frozen(when),
            source=str(source),
            origin=str(origin),
        )

    @classmethod
    def unchecked(
        cls, indptr: np.ndarray, indices: np.ndarray, grades: np.ndarray, **about: Any
    ) -> "Ratings":
        """Take arrays as they are: no copy, no look at their content. For 10⁸ ratings.

        about : max_grade, users, items, titles, source and origin, and times where they are known.
        Only for arrays that this package has just made itself, or whose checksum it has
        compared, and that nobody else holds: int64, int32 and int8 as the constructor makes
        them (times int64), memory-mapped ones too. What is wrong in them is found by nobody.
        """
        state = {
            "times": None,
            "indptr": indptr,
            "indices": indices,
            "grades": grades,
        } | about
        sizes = {
            "n_users": about["users"].size,
            "n_items": about["items"].size,
            "n_ratings": grades.size,
        }
        built = cls.__new__(cls)
        built.__setstate__(state | sizes)
        return built

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"Ratings cannot be changed; build a new one to alter {name!r}"
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in state.values():  # NumPy does not pickle that an array is read-only
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
        self.__dict__.update(state)

    def __repr__(self) -> str:
        size = (
            f"{self.n_users:,} users × {self.n_items:,} items, {self.n_ratings:,} ratings, "
            f"grades 1 to {self.max_grade}"
        )
        return f"<Ratings: {size}; source: {self.source or 'not stated'}>"

    def row(self, user: SupportsIndex) -> tuple[np.ndarray, np.ndarray]:
        """Return what one user rated: item positions (S,) int32 and grades (S,) int64.

        `user` is a position 0..n_users-1; S may be 0. Raises ValueError out of that range.
        """
        user = check_count(user, "user", low=0, high=self.n_users - 1)
        inside = slice(self.indptr[user], self.indptr[user + 1])
        return self.indices[inside], self.grades[inside].astype(np.int64)

    @classmethod
    def from_frame(
        cls,
        df: pd.DataFrame,
        user: str = "user",
        item: str = "item",
        grade: str = "grade",
        title: str | Mapping[Any, str] | None = None,
        *,
        time: str | None = None,
        max_grade: int | None = None,
        source: str = "",
        origin: str = "",
    ) -> "Ratings":
        """Build from a table with one line a rating, in any order.

        `user`, `item`, `grade` name columns. Users and items get positions in the sorted
        order of their ids. `title` is the name of a fourth column, or a mapping from item id
        to title; an item without one shows its id. `time` names
        the column of `times`, seconds since 1970; None: there is none.

        Raises ValueError for a column that is missing or there twice, an empty table, a missing
        id or time, grades that are not whole numbers from 1 (multiply half stars by 2), and for
        two ratings of one item by one user, which it names; TypeError where `df` is no table.

        >>> import pandas as pd
        >>> from gapfm_teach import Ratings
        >>> df = pd.DataFrame({"user": ["Bo", "Ann"], "item": ["Alien", "Heat"], "grade": [4, 5]})
        >>> Ratings.from_frame(df).row(0)  # Ann's: the second of the items, by name
        (array([1], dtype=int32), array([5]))
        """
        more = [title] if isinstance(title, str) else []
        more += [] if time is None else [time]
        check_columns(df, [user, item, grade, *more])
        marks = grade_column(df[grade], grade)
        when = None if time is None else time_column(df[time], time)
        user_codes, user_ids = factorize(df[user], user)
        item_codes, item_ids = factorize(df[item], item)
        cell = user_codes * len(item_ids) + item_codes
        order = np.argsort(cell, kind="stable")
        repeated = np.flatnonzero(np.diff(cell[order]) == 0)
        if repeated.size:
            who, what = (
                df[name].iloc[order[repeated[:1]]].tolist()[0] for name in (user, item)
            )
            raise ValueError(
                f"df has {repeated.size} repeated ratings, the first by user {who!r} for item "
                f"{what!r}; keep one, e.g. df.drop_duplicates([{user!r}, {item!r}], keep='last')"
            )
        counts = np.bincount(user_codes, minlength=len(user_ids))
        return cls(
            np.concatenate(([0], np.cumsum(counts))),
            item_codes[order],
            marks[order],
            n_items=len(item_ids),
            max_grade=max_grade,
            users=user_ids,
            items=item_ids,
            titles=item_titles(df, item, title, item_ids),
            times=None if when is None else when[order],
            source=source,
            origin=origin,
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a line a rating: original `user`, `item` ids, `grade`, and `time` if known."""
        columns = {
            "user": np.repeat(self.users, np.diff(self.indptr)),
            "item": self.items[self.indices],
            "grade": self.grades.astype(np.int64),
        }
        if self.times is not None:
            columns["time"] = self.times
        return pd.DataFrame(columns)

    def coarsened(self, steps: int = 2) -> "Ratings":
        """The same ratings on a coarser scale: grade / steps, rounded up; max_grade likewise.

        Of half stars times two, 1..10, `steps=2` makes whole stars.
        Raises TypeError or ValueError for `steps` that are no whole number from 1.

        >>> from gapfm_teach import Ratings
        >>> halves = Ratings([0, 4], [0, 1, 2, 3], [1, 7, 8, 10])  # stars: 0.5, 3.5, 4, 5
        >>> halves.coarsened().grades.tolist()
        [1, 4, 4, 5]
        """
        steps = check_count(steps, "steps")
        built = Ratings.__new__(Ratings)
        built.__dict__.update(
            self.__dict__,
            grades=_frozen(-(-self.grades.astype(np.int64) // steps), np.int8),
            max_grade=-(-self.max_grade // steps),
            source=f"{self.source or 'not stated'}; grades / {steps}, rounded up",
        )
        return built

    def to_scipy(self) -> sparse.csr_array:
        """Return the grades as a SciPy CSR array (n_users, n_items), int64, of its own memory.

        int64 because sums and products of one-byte grades would overflow silently.
        """
        arrays = (self.grades.astype(np.int64), self.indices.copy(), self.indptr.copy())
        return sparse.csr_array(arrays, shape=(self.n_users, self.n_items))

    def to_parquet(self, path, n_partitions: int = 1) -> None:
        """Write a new folder of Parquet files, `n_partitions` parts of about equally many ratings.

        Each part holds neighbouring users: what a worker of `distributed` reads. Times
        are left out. Layout: see `parquet`. The folder appears whole or not at all. Raises as `parquet.write_folder` says.
        """
        parquet.write_folder(path, self, n_partitions)

    @classmethod
    def from_parquet(cls, path) -> "Ratings":
        """Read a folder that `to_parquet` wrote, whatever the number of its parts.

        Raises FileNotFoundError for a missing file and ValueError, naming the file, for one that
        is damaged or holds something else.
        """
        return cls.unchecked(**parquet.read_folder(path))


def _check_indptr(indptr, n_ratings: int) -> np.ndarray:
    starts = check_positions(indptr, "indptr")
    if starts.size == 0 or starts[0] != 0 or starts[-1] != n_ratings:
        ends = "empty" if starts.size == 0 else f"{starts[0]} to {starts[-1]}"
        raise ValueError(f"indptr must run from 0 to the {n_ratings} grades, got {ends}")
    falls = np.flatnonzero(np.diff(starts) < 0)
    if falls.size:
        raise ValueError(f"indptr must never decrease; it does after user {falls[0]}")
    return starts


def _check_increasing(starts: np.ndarray, columns: np.ndarray) -> None:
    bad = np.diff(columns) <= 0
    borders = starts[(starts > 0) & (starts < columns.size)]
    bad[borders - 1] = False
    if bad.any():
        place = int(np.argmax(bad)) + 1
        user = int(np.searchsorted(starts, place, side="right")) - 1
        again = "twice" if columns[place] == columns[place - 1] else "out of order"
        raise ValueError(
            f"indices must be strictly increasing for each user; user {user} has item "
            f"{columns[place]} {again}; Ratings.from_frame sorts for you"
        )


def _upper_bound(value, name: str, present: np.ndarray, of: str, *, extra: int) -> int:
    highest = int(present.max(initial=0)) + extra if present.size else 1
    if value is None:
        return highest
    value = check_count(value, name)
    if present.size and value < highest:
        raise ValueError(
            f"{name} is {value} but {of} reaches {present.max()}; pass at least {highest}"
        )
    return value


def _frozen(array: np.ndarray, dtype=None) -> np.ndarray:
    copy = np.array(array, dtype=dtype)
    copy.flags.writeable = False
    return copy
