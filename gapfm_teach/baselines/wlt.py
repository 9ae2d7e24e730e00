"""WLT: how an item fares in the profiles of a user's neighbours, ranked by 17 shared weights."""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit

from ..checks import check_count, check_random_state, check_real
from ..ratings import Ratings
from ..recommender import Recommender

FEATURES = (
    *(f"{outcome} {statistic}" for outcome in ("win", "loss", "tie")
      for statistic in ("mean", "std", "max", "min", "share")),
    "neighbours found", "mean similarity",
)  # fmt: skip


class WLT(Recommender):
    """Win-Loss-Tie features with a linear scoring function for all users, by LambdaRank.

    For user u and item i, each of the K users most similar to u who rated i tells which share of
    the other items in their profile i beats, loses to and ties with (`outcome_shares`). Five
    statistics of each of the three shares over these neighbours, and two numbers on the
    neighbours themselves, make the 17 features (`FEATURES`, `neighbor_features`); the score is
    their weighted sum. A user's own grade of i enters neither the outcomes nor the similarities
    behind the features of (u, i), in `fit` and in `predict`.

    Parameters
    ----------
    n_neighbors : int K >= 1.
    learning_rate : float > 0, the step along a user's `lambda_gradient`, for features of unit
        standard deviation.
    n_iter : int >= 1, passes over the users.
    random_state : None, int or numpy Generator: which of equally similar users comes first, and
        the order of the users in learning. An int makes `fit` repeatable.

    Attributes after `fit`
    ----------------------
    weights_ : float64 (17,), for the features as they are, in the order of `FEATURES`.

    Source: Volkovs and Zemel, Collaborative Ranking With 17 Parameters (NIPS 2012). Only its
    abstract was at hand: this is the method rebuilt, and details may differ from theirs.
    Known: a neighbourhood- and a model-based method in one, 17 parameters, one hyperparameter.
    Remembered, not checked: shares divided by the size of the profile less one; their mean,
    standard deviation, maximum, minimum and share of non-zeros, 15 numbers; a linear function
    trained by LambdaRank (Burges 2010) for NDCG.
    Chosen here: features 16 and 17 (a bias would move no ranking); non-zeros counted as a share
    of K, not of the neighbours found, so that they also say how much is known of an item;
    similarity as the cosine of mean-centred profiles with unrated items at 0, which is the
    Pearson correlation drawn towards 0 for users with little in common; unweighted statistics,
    all 0 when no other user rated the item; NDCG of the whole list; a step for each user, and
    weights averaged over the second half of the steps, as single steps leave them noisy.
    `validation` is left alone.
    """

    def __init__(
        self,
        n_neighbors: int = 50,
        *,
        learning_rate: float = 0.03,
        n_iter: int = 10,
        random_state=None,
    ):
        self.n_neighbors = check_count(n_neighbors, "n_neighbors")
        self.learning_rate = check_real(learning_rate, "learning_rate", low_open=True)
        self.n_iter = check_count(n_iter, "n_iter")
        self.random_state = random_state
        check_random_state(random_state)

    def __repr__(self) -> str:
        state = "fitted" if self._is_fitted else "not fitted"
        return (
            f"WLT(n_neighbors={self.n_neighbors}, learning_rate={self.learning_rate:g}, "
            f"n_iter={self.n_iter}; {state})"
        )

    def _fit(self, train: Ratings, validation: Ratings | None) -> None:
        rng = check_random_state(self.random_state)
        self._neighborhood = Neighborhood(train, rng.permutation(train.n_users))
        lists = [self._features(user, train.row(user)[0]) for user in range(train.n_users)]
        self.weights_ = learn_weights(
            np.concatenate(lists), train, self.learning_rate, self.n_iter, rng
        )

    def _features(self, user: int, items: np.ndarray) -> np.ndarray:
        found = self._neighborhood.nearest(user, items, self.n_neighbors)
        return neighbor_features(found, self.n_neighbors)

    def _scores(self, user: int, items: np.ndarray | slice) -> np.ndarray:
        positions = np.arange(self._neighborhood.train.n_items)[items]
        return self._features(user, positions) @ self.weights_


class Nearest(NamedTuple):
    """The nearest raters of P items, at most K each, in rows padded with 0 to width K'."""

    n_found: np.ndarray  # (P,) how many places of a row are filled, from the left
    similarities: np.ndarray  # (P, K'), falling along a row
    outcomes: np.ndarray  # (P, K', 3): the raters' win, loss and tie shares of the item


class Neighborhood:
    """Finds the users nearest to a user among those who rated an item.

    `precedence` (n_users,): distinct numbers; of equally similar users the lower comes first.
    """

    def __init__(self, train: Ratings, precedence: np.ndarray):
        self.train = train
        self._profiles = unit_profiles(train)
        users = _user_of_rating(train)
        by_item = np.lexsort((precedence[users], train.indices))
        counts = np.bincount(train.indices, minlength=train.n_items)
        self._starts = np.concatenate(([0], np.cumsum(counts)))
        self._raters = users[by_item]
        self._outcomes = outcome_shares(train)[by_item]

    def similarities(self, user: int, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Similarities to all users, each item left out of the user's own profile.

        Returns (table (V, n_users), version (P,)): row version[p] of the table serves items[p].
        """
        mine, grades = self.train.row(user)
        n_mine = mine.shape[0]
        place = np.where(np.isin(items, mine), np.searchsorted(mine, items), n_mine)
        left_out, version = np.unique(place, return_inverse=True)
        kept = np.arange(n_mine) != left_out[:, None]
        means = (kept @ grades) / np.maximum(kept.sum(axis=1), 1)
        rows = unit_rows(np.where(kept, grades - means[:, None], 0.0))
        # Rounded, lest the last digit choose among neighbours that are equally similar.
        return np.round((self._profiles[:, mine] @ rows.T).T, 9), version

    def nearest(self, user: int, items: np.ndarray, n_neighbors: int) -> Nearest:
        """The `n_neighbors` other users most similar to `user` who rated each of `items` (P,)."""
        n_raters = self._starts[items + 1] - self._starts[items]
        pair = np.repeat(np.arange(items.shape[0]), n_raters)
        place = np.repeat(self._starts[items], n_raters) + _counting(n_raters)
        others = self._raters[place] != user
        pair, place = pair[others], place[others]
        table, version = self.similarities(user, items)
        similarity = table[version[pair], self._raters[place]]
        order = np.lexsort(
            (-similarity, pair)
        )  # stable: equals stay in order of precedence
        n_others = np.bincount(pair, minlength=items.shape[0])
        rank = _counting(n_others)
        near = rank < n_neighbors
        order, where = order[near], (pair[near], rank[near])
        n_found = np.minimum(n_others, n_neighbors)
        shape = (items.shape[0], n_found.max(initial=1))
        found = Nearest(n_found, np.zeros(shape), np.zeros((*shape, 3)))
        found.similarities[where] = similarity[order]
        found.outcomes[where] = self._outcomes[place[order]]
        return found


def outcome_shares(train: Ratings) -> np.ndarray:
    """Shares (n_ratings, 3) of the other items of the same user an item beats, loses to, ties with.

    Line by line in the order of `train.grades`; the three add up to 1, or are all 0 where the
    user rated nothing else.
    """
    users = _user_of_rating(train)
    grades = train.grades.astype(np.int64)
    histogram = np.zeros((train.n_users, train.max_grade + 1), dtype=np.int64)
    np.add.at(histogram, (users, grades), 1)
    others = histogram.sum(axis=1)[users] - 1
    wins = np.cumsum(histogram, axis=1)[users, grades - 1]
    ties = histogram[users, grades] - 1
    counts = np.column_stack([wins, others - wins - ties, ties])
    return counts / np.maximum(others, 1)[:, None]


def unit_profiles(train: Ratings) -> sparse.csc_array:
    """The users' mean-centred grades (n_users, n_items), rows of length 1 (or 0: all equal)."""
    users = _user_of_rating(train)
    sizes = np.maximum(np.diff(train.indptr), 1)
    means = np.bincount(users, train.grades, minlength=train.n_users) / sizes
    centered = train.grades - means[users]
    lengths = np.sqrt(np.bincount(users, centered**2, minlength=train.n_users))
    profiles = train.to_scipy().astype(np.float64)
    profiles.data = centered / np.where(lengths > 0, lengths, 1.0)[users]
    return profiles.tocsc()


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """`rows` (R, S) divided by their Euclidean lengths; rows of zeros stay."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)


def neighbor_features(found: Nearest, n_neighbors: int) -> np.ndarray:
    """The features (P, 17) of P items, in the order of `FEATURES`; all 0 without a neighbour.

    For wins, then losses, then ties: mean, (population) standard deviation, maximum and minimum
    over the neighbours found, and the number of neighbours with any, divided by K. Then the
    number of neighbours found divided by K, and their mean similarity.
    """
    there = np.arange(found.similarities.shape[1]) < found.n_found[:, None]
    n = np.maximum(found.n_found, 1)[:, None]
    shares = found.outcomes
    mean = shares.sum(axis=1) / n
    deviations = np.where(there[..., None], shares - mean[:, None], 0.0)
    std = np.sqrt((deviations**2).sum(axis=1) / n)
    least = np.where(there[..., None], shares, np.inf).min(axis=1)
    least[found.n_found == 0] = 0.0
    share = (shares > 0).sum(axis=1) / n_neighbors
    statistics = np.stack([mean, std, shares.max(axis=1), least, share], axis=2)
    return np.column_stack(
        [
            statistics.reshape(-1, 15),
            found.n_found / n_neighbors,
            found.similarities.sum(axis=1) / n[:, 0],
        ]
    )


def lambda_gradient(scores: np.ndarray, grades: np.ndarray) -> np.ndarray:
    """LambdaRank's push on each score (S,) of one list, for NDCG of the whole list (Burges 2010).

    Each pair with y_i > y_j moves f_i up and f_j down by |change of NDCG if i and j swapped
    ranks| / (1 + exp(f_i - f_j)). Positive means up: ascend along it. `grades`: int64 (S,), >= 1.
    """
    discounts = 1 / np.log2(np.arange(scores.shape[0]) + 2)
    discount = np.empty(scores.shape[0])
    discount[np.argsort(-scores, kind="stable")] = discounts
    gains = 2.0**grades - 1
    ideal = np.sort(gains)[::-1] @ discounts
    gaps = np.maximum(gains[:, None] - gains, 0.0)  # 0 unless y_i > y_j
    change = gaps * np.abs(discount[:, None] - discount) / ideal
    push = change * expit(scores - scores[:, None])
    return push.sum(axis=1) - push.sum(axis=0)


def learn_weights(
    features: np.ndarray, train: Ratings, learning_rate: float, n_iter: int, rng
) -> np.ndarray:
    """Weights (F,) of `features` (n_ratings, F) that rank each user's training list by NDCG.

    Steps along each user's `lambda_gradient`, users in random order, `n_iter` times over, on
    features of unit standard deviation; returns the mean of the second half of the steps.
    """
    scale = features.std(axis=0)
    scale[scale == 0] = 1.0
    scaled = features / scale
    grades = train.grades.astype(np.int64)
    schedule = np.concatenate([rng.permutation(train.n_users) for _ in range(n_iter)])
    weights, total = np.zeros((2, features.shape[1]))
    for step, user in enumerate(schedule):
        mine = slice(train.indptr[user], train.indptr[user + 1])
        push = lambda_gradient(scaled[mine] @ weights, grades[mine])
        weights += learning_rate * (push @ scaled[mine])
        if step >= len(schedule) // 2:
            total += weights
    return total / (len(schedule) - len(schedule) // 2) / scale


def _user_of_rating(train: Ratings) -> np.ndarray:
    return np.repeat(np.arange(train.n_users), np.diff(train.indptr))


def _counting(counts: np.ndarray) -> np.ndarray:
    """0..c-1 for each count c, one after the other: [2, 0, 3] gives [0, 1, 0, 1, 2]."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
