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
    kept, in_kept_row = _active(ratings, n_given=n_given, min_test=min_test)
    drawn = _draw(ratings, n_given, check_random_state(random_state))
    train = subset(ratings, in_kept_row & drawn, f"{n_given} given for each user", kept)
    test = subset(ratings, in_kept_row & ~drawn, f"the rest after {n_given} given", kept)
    return train, test


def split_latest(
    ratings: Ratings, n_test: int = 10, *, min_train: int = 1, random_state=None
) -> tuple[Ratings, Ratings]:
    """Split every user's ratings in time: the latest `n_test` for testing, the earlier for training.

    Users with at least n_test + min_train ratings are kept. Of ratings in the same second, which
    are common in MovieLens, those that count as later are drawn: their order here
    is that of the items, and says nothing of time. Both parts have the same users in the same order, all items of
    `ratings` and the same max_grade.

    Of a user, training knows nothing that they rated after their test. Of others it does, for the cut
    is each user's own: what became popular later can be learned. One cut for all would prevent
    that, but leave few users with ratings enough on both sides.

    Raises ValueError when n_test or min_train is below 1, no user has enough ratings, or they
    have no times.

    >>> from gapfm_teach import Ratings
    >>> from gapfm_teach.splits import split_latest
    >>> ratings = Ratings([0, 4], [0, 1, 2, 3], [5, 4, 3, 2], times=[40, 20, 10, 30])
    >>> train, test = split_latest(ratings, 2)
    >>> train.indices.tolist(), test.indices.tolist()
    ([1, 2], [0, 3])
    """
    kept, in_kept_row = _active(ratings, n_test=n_test, min_train=min_train)
    last = np.repeat(ratings.indptr[1:], np.diff(ratings.indptr)) - n_test
    late = np.empty(ratings.n_ratings, dtype=bool)
    late[by_time(ratings, random_state=random_state)] = np.arange(ratings.n_ratings) >= last
    train = subset(
        ratings, in_kept_row & ~late, f"before each user's latest {n_test}", kept
    )
    return train, subset(ratings, in_kept_row & late, f"each user's latest {n_test}", kept)


def sample_n(ratings: Ratings, n_given: int, *, random_state=None) -> Ratings:
    """`n_given` ratings of each user drawn at random, all where there are fewer; users all stay.

    For data whose test ratings are separate already, as Netflix's probe does.

    >>> from gapfm_teach import Ratings
    >>> from gapfm_teach.splits import sample_n
    >>> ratings = Ratings([0, 3, 4], [0, 1, 2, 0], [5, 4, 3, 2])  # three by one, one by the other
    >>> sample_n(ratings, 2, random_state=0).to_frame()["user"].tolist()
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

    Items, ids, titles, times and max_grade stay; `what` is added to the source. Users who are not kept
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
        times=None if ratings.times is None else ratings.times[chosen],
        source=f"{ratings.source or 'not stated'}; {what}",
        origin=ratings.origin,
    )


def select_users(ratings: Ratings, kept: np.ndarray, what: str) -> Ratings:
    """All ratings of the users at `kept`, (n_users,) bool; `what` is added to the source.

    >>> import numpy as np
    >>> from gapfm_teach import Ratings
    >>> from gapfm_teach.splits import select_users
    >>> ratings = Ratings([0, 3, 4], [0, 1, 2, 0], [5, 4, 3, 2], users=["Ann", "Bo"])
    >>> select_users(ratings, np.array([False, True]), "Bo's").to_frame().to_dict("records")
    [{'user': 'Bo', 'item': 0, 'grade': 2}]
    """
    return subset(ratings, np.repeat(kept, np.diff(ratings.indptr)), what, kept)


def overlap_mask(ratings: Ratings, other: Ratings) -> np.ndarray:
    """Mark the ratings whose (user, item) is in `other` too, which has the same users and items.

    Returns (n_ratings,) bool. Some users at a time: numbers for all pairs would be larger than
    the ratings themselves.

    >>> from gapfm_teach import Ratings
    >>> from gapfm_teach.splits import overlap_mask
    >>> ratings = Ratings([0, 3], [0, 1, 2], [5, 4, 3])
    >>> overlap_mask(ratings, Ratings([0, 1], [1], [4], n_items=3)).tolist()
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


def check_ratings(value, name: str) -> None:
    """Raise TypeError unless `value` is `Ratings`.

    >>> from gapfm_teach import simulate_ratings
    >>> from gapfm_teach.splits import check_ratings
    >>> check_ratings(simulate_ratings(20, 30, random_state=0), "train")  # nothing to say
    """
    if not isinstance(value, Ratings):
        raise TypeError(
            f"{name} must be Ratings, got {type(value).__name__}; use Ratings.from_frame(df)"
        )


def check_parts(train: Ratings, other: Ratings, name: str) -> None:
    """Raise unless `other`, called `name`, is of the users and items of `train`, with other ratings.

    >>> from gapfm_teach import simulate_ratings, split_given
    >>> from gapfm_teach.splits import check_parts
    >>> ratings = simulate_ratings(50, 100, random_state=0)
    >>> check_parts(*split_given(ratings, 10, random_state=0), "test")  # nothing to say
    """
    check_ratings(train, "train")
    check_ratings(other, name)
    ours, theirs = ((part.n_users, part.n_items) for part in (train, other))
    if ours != theirs:
        raise ValueError(
            f"train has (users, items) {ours}, {name} has {theirs}; make both with split_given"
        )
    repeated = int(overlap_mask(train, other).sum())
    if repeated:
        raise ValueError(
            f"{name} repeats {repeated} ratings of train; hold them out of one of the two"
        )


def by_time(ratings: Ratings, *, random_state=None) -> np.ndarray:
    """Positions of the ratings that are each user's first, second, ... in time: (n_ratings,) int64.

    Users keep their rows: `indptr` holds for `ratings.times[by_time(ratings)]` too. Ratings of a
    user in the same second come in random order. Raises ValueError where there are no times.

    >>> from gapfm_teach import Ratings
    >>> from gapfm_teach.splits import by_time
    >>> by_time(Ratings([0, 3, 4], [0, 1, 2, 0], [5, 4, 3, 2], times=[9, 7, 8, 1])).tolist()
    [1, 2, 0, 3]
    """
    if ratings.times is None:
        raise ValueError(
            "ratings have no times; take load_movielens, or name their column: "
            "Ratings.from_frame(..., time='time')"
        )
    drawn = check_random_state(random_state).random(ratings.n_ratings)
    user_of = np.repeat(np.arange(ratings.n_users), np.diff(ratings.indptr))
    return np.lexsort((drawn, ratings.times, user_of))


def _active(ratings: Ratings, **least: int) -> tuple[np.ndarray, np.ndarray]:
    """The users who have ratings for two parts of at least so many each, named as the arguments
    are: (n_users,) bool, and their ratings: (n_ratings,) bool."""
    check_ratings(ratings, "ratings")
    needed = sum(check_count(value, name) for name, value in least.items())
    counts = np.diff(ratings.indptr)
    kept = counts >= needed
    if not kept.any():
        wanted = " with ".join(f"{name}={value}" for name, value in least.items())
        raise ValueError(
            f"{wanted} needs a user with at least {needed} ratings, and the most active one has "
            f"{counts.max(initial=0)}; lower one of them"
        )
    return kept, np.repeat(kept, counts)


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
