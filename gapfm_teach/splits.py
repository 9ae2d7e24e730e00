"""Ways to part ratings: for training and test, and inside the training data for validation."""

import numpy as np

from ._support.checks import check_count, check_random_state
from .ratings import Ratings

USERS_AT_ONCE = 20_000
USER_SHARE = 0.5  # of the users, those who give ratings to the validation part


def split_given(
    ratings: Ratings, n_given: int, *, min_test: int = 10, random_state=None
) -> tuple[Ratings, Ratings]:
    """Split every user's ratings into `n_given` for training and all the rest for testing.

    The "Given 10/20/30" protocol of section 5: users with at least n_given + min_test ratings
    are kept; n_given of each are drawn at random without replacement. Both parts have the
    same users in the same order, all items of `ratings` and the same max_grade.

    Raises ValueError when n_given or min_test is below 1, or no user has enough ratings.

    >>> from gapfm_teach import simulate_ratings, split_given
    >>> ratings = simulate_ratings(50, 100, random_state=0)
    >>> train, test = split_given(ratings, 10, random_state=0)
    >>> train.n_ratings == 10 * train.n_users, test.n_users == train.n_users
    (True, True)
    """
    if not isinstance(ratings, Ratings):
        raise TypeError(f"ratings must be Ratings, got {type(ratings).__name__}")
    n_given = check_count(n_given, "n_given")
    min_test = check_count(min_test, "min_test")
    rng = check_random_state(random_state)
    counts = np.diff(ratings.indptr)
    kept = counts >= n_given + min_test
    if not kept.any():
        most = counts.max(initial=0)
        raise ValueError(
            f"n_given={n_given} with min_test={min_test} needs a user with at least "
            f"{n_given + min_test} ratings, and the most active one has {most}; lower one of them"
        )
    drawn, in_kept_row = _draw(ratings, n_given, rng), np.repeat(kept, counts)
    train = subset(ratings, in_kept_row & drawn, f"{n_given} given for each user", kept)
    test = subset(ratings, in_kept_row & ~drawn, f"the rest after {n_given} given", kept)
    return train, test


def given_only(ratings: Ratings, n_given: int, *, random_state=None) -> Ratings:
    """`n_given` ratings of each user drawn at random, all where there are fewer; users all stay.

    For data whose test ratings stand apart already, as Netflix's probe does.

    >>> from gapfm_teach import Ratings
    >>> from gapfm_teach.splits import given_only
    >>> ratings = Ratings([0, 3, 4], [0, 1, 2, 0], [5, 4, 3, 2])  # three by one, one by the other
    >>> given_only(ratings, 2, random_state=0).to_frame()["user"].tolist()
    [0, 0, 1]
    """
    n_given = check_count(n_given, "n_given")
    rng = check_random_state(random_state)
    return subset(ratings, _draw(ratings, n_given, rng), f"{n_given} given for each user")


def hold_out(
    train: Ratings, n_held_out: int = 5, *, random_state=None
) -> tuple[Ratings, Ratings]:
    """Split training ratings into (fitting, validation), with the same users and items.

    Half of the users with at least 2·n_held_out ratings are drawn at random, and `n_held_out`
    ratings of each of them. The others keep all theirs, so that what is tuned on the fitting
    part, a learning rate above all, still suits `train`. Raises ValueError when no user has
    ratings enough.

    >>> from gapfm_teach import simulate_ratings
    >>> from gapfm_teach.splits import hold_out
    >>> train = simulate_ratings(20, 100, mean_ratings=40, random_state=0)
    >>> fitting, validation = hold_out(train, random_state=0)
    >>> train.n_ratings, fitting.n_ratings, validation.n_ratings  # 5 of each of 10 users
    (794, 744, 50)
    """
    n_held_out = check_count(n_held_out, "n_held_out")
    rng = check_random_state(random_state)
    counts = np.diff(train.indptr)
    able = np.flatnonzero(counts >= 2 * n_held_out)
    if not able.size:
        raise ValueError(
            f"no user has {2 * n_held_out} ratings in train; lower n_held_out={n_held_out}"
        )
    taken_from = np.zeros(train.n_users, dtype=bool)
    n_chosen = max(1, round(USER_SHARE * able.size))
    taken_from[rng.choice(able, n_chosen, replace=False)] = True
    held = _draw(train, n_held_out, rng) & np.repeat(taken_from, counts)
    fitting = subset(train, ~held, "what is left after holding out")
    return fitting, subset(train, held, "held out for validation")


def subset(
    ratings: Ratings, chosen: np.ndarray, what: str, kept: np.ndarray | None = None
) -> Ratings:
    """The ratings at `chosen`, (n_ratings,) bool, of all users or of those at `kept`, (n_users,) bool.

    Items, ids, titles and max_grade stay; `what` is added to the source. Users who are not kept
    must have no rating chosen.

    >>> from gapfm_teach import Ratings
    >>> from gapfm_teach.splits import subset
    >>> ratings = Ratings([0, 3, 4], [0, 1, 2, 0], [5, 4, 3, 2])
    >>> subset(ratings, ratings.grades >= 4, "four stars and five")
    <Ratings: 2 users × 3 items, 2 ratings, grades 1 to 5; source: not stated; four stars and five>
    """
    if kept is None:
        kept = np.ones(ratings.n_users, dtype=bool)
    before = np.zeros(ratings.n_ratings + 1, dtype=np.int64)
    np.cumsum(chosen, out=before[1:])
    counts = np.diff(before[ratings.indptr])[kept]
    return Ratings.unchecked(
        np.concatenate(([0], np.cumsum(counts))),
        ratings.indices[chosen],
        ratings.grades[chosen],
        max_grade=ratings.max_grade,
        users=ratings.users[kept],
        items=ratings.items,
        titles=ratings.titles,
        source=f"{ratings.source or 'not stated'}; {what}",
        origin=ratings.origin,
    )


def of_users(ratings: Ratings, kept: np.ndarray, what: str) -> Ratings:
    """All ratings of the users at `kept`, (n_users,) bool; `what` is added to the source.

    >>> import numpy as np
    >>> from gapfm_teach import Ratings
    >>> from gapfm_teach.splits import of_users
    >>> ratings = Ratings([0, 3, 4], [0, 1, 2, 0], [5, 4, 3, 2], users=["Ann", "Bo"])
    >>> of_users(ratings, np.array([False, True]), "Bo's").to_frame().to_dict("records")
    [{'user': 'Bo', 'item': 0, 'grade': 2}]
    """
    return subset(ratings, np.repeat(kept, np.diff(ratings.indptr)), what, kept)


def without(ratings: Ratings, taken: Ratings) -> Ratings:
    """`ratings` less the (user, item) pairs of `taken`, which has the same users and items.

    >>> from gapfm_teach import Ratings
    >>> from gapfm_teach.splits import without
    >>> ratings = Ratings([0, 3], [0, 1, 2], [5, 4, 3])
    >>> without(ratings, Ratings([0, 1], [1], [4], n_items=3)).grades.tolist()
    [5, 3]
    """
    return subset(ratings, ~shared(ratings, taken), "less those taken out")


def shared(ratings: Ratings, other: Ratings) -> np.ndarray:
    """Mark the ratings whose (user, item) is in `other` too, which has the same users and items.

    Returns (n_ratings,) bool. Some users at a time: numbers for all pairs would be larger than
    the ratings themselves.

    >>> from gapfm_teach import Ratings
    >>> from gapfm_teach.splits import shared
    >>> ratings = Ratings([0, 3], [0, 1, 2], [5, 4, 3])
    >>> shared(ratings, Ratings([0, 1], [1], [4], n_items=3)).tolist()
    [False, True, False]
    """
    found = np.zeros(ratings.n_ratings, dtype=bool)
    for begin in range(0, ratings.n_users, USERS_AT_ONCE):
        end = min(begin + USERS_AT_ONCE, ratings.n_users)
        ours, theirs = _cells(ratings, begin, end), _cells(other, begin, end)
        if ours.size and theirs.size:
            place = np.minimum(np.searchsorted(ours, theirs), ours.size - 1)
            hits = place[ours[place] == theirs]
            found[ratings.indptr[begin] + hits] = True
    return found


def _cells(ratings: Ratings, begin: int, end: int) -> np.ndarray:
    """One number for each (user, item) of the users begin..end - 1, increasing."""
    counts = np.diff(ratings.indptr[begin : end + 1])
    items = ratings.indices[ratings.indptr[begin] : ratings.indptr[end]]
    return np.repeat(np.arange(begin, end) * ratings.n_items, counts) + items


def _draw(ratings: Ratings, n: int, rng: np.random.Generator) -> np.ndarray:
    """Mark n ratings of each user at random, all where there are fewer: (n_ratings,) bool."""
    drawn = np.empty(ratings.n_ratings, dtype=bool)
    # Shuffling inside many rows at once: sort by (user, random key), then take the first few. Both
    # in one number, for a random key has 53 bits and 11 are left for the user.
    for first in range(0, ratings.n_users, 2**11):
        indptr = ratings.indptr[first : first + 2**11 + 1]
        user_of = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
        keys = (rng.random(user_of.size) * 2**53).astype(np.uint64)
        keys += user_of.astype(np.uint64) << np.uint64(53)
        place = np.arange(user_of.size) + indptr[0] - indptr[user_of]
        drawn[indptr[0] + np.argsort(keys)] = place < n
    return drawn
