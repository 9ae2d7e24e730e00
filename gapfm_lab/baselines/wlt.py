"""WLT: how an item fares in the profiles of a user's neighbours, ranked by 17 shared weights."""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit

from gapfm_teach._support.checks import check_count, check_random_state, check_real
from gapfm_teach.ratings import Ratings
from gapfm_teach.training.recommender import Recommender

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
    neighbours themselves, make the 17 features (`FEATURES`, `neighbor_features`). The score is
    their weighted sum; the 17 weights, the same for all users and items, are all that is
    learned. A user's own grade of i enters neither the outcomes nor the similarities behind the
    features of (u, i), in `fit` and in `predict`.

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

    Source: Volkovs and Zemel, Collaborative Ranking With 17 Parameters (NIPS 2012). This is a
    reconstruction: the abstract and the list of references were at hand, the paper was not, and
    details may differ from theirs.
    From the abstract: a neighbourhood- and a model-based method in one, 17 parameters to learn
    (it does not say which), a single hyperparameter. That must be K; here the step and the
    number of passes are tuned as well.
    Believed, not checked: shares divided by the size of the profile less one; their mean,
    standard deviation, maximum, minimum and share of non-zeros, 15 numbers; a linear function
    trained by LambdaRank (Burges 2010, which the paper cites) for NDCG.
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

    def _fit(self, train: Ratings, validation: Ratings | None) -> None:
        rng = check_random_state(self.random_state)
        self._neighborhood = Neighborhood(
            train, self.n_neighbors, rng.permutation(train.n_users)
        )
        lists = [self._neighborhood.features_of_rated(u) for u in range(train.n_users)]
        self.weights_ = learn_weights(
            np.concatenate(lists), train, self.learning_rate, self.n_iter, rng
        )

    def _scores(self, user: int, items: np.ndarray | slice) -> np.ndarray:
        return self._neighborhood.features(user, items) @ self.weights_


class Nearest(NamedTuple):
    """The nearest raters of P items, at most K each; R in all, item after item."""

    n_found: np.ndarray  # (P,), adding up to R
    similarities: np.ndarray  # (R,), falling within an item
    outcomes: np.ndarray  # (3, R): the raters' win, loss and tie shares of the item


class Neighborhood:
    """Finds the K users nearest to a user among those who rated an item, and their features.

    `precedence` (n_users,): a permutation of 0..n_users-1; of equally similar users the lower
    comes first.
    """

    def __init__(self, train: Ratings, n_neighbors: int, precedence: np.ndarray):
        self.train = train
        self.n_neighbors = n_neighbors
        # The lines of the matrices follow the precedence, and stable sorts keep to it.
        self._line = precedence
        users = np.argsort(precedence)
        profiles = unit_profiles(train)
        self._profile_values = profiles.data
        self._profiles = profiles[users]
        self._outcomes = np.ascontiguousarray(outcome_shares(train).T)
        # Holds for each rating its place in `train`, which is where its outcomes are.
        places = (np.arange(train.n_ratings), train.indices, train.indptr)
        shape = (train.n_users, train.n_items)
        lines = sparse.csr_array(places, shape=shape)[users]
        self._places = lines.tocsc()
        n_raters = np.diff(self._places.indptr)
        self._crowded = np.flatnonzero(n_raters > n_neighbors)
        self._crowded_places = lines[:, self._crowded]
        weights = np.repeat(1 / np.maximum(n_raters, 1), n_raters)
        raters = (weights, self._places.indices, self._places.indptr)
        self._mean_over_raters = sparse.csr_array(raters, shape=shape[::-1])
        everybody = self._first(n_raters, np.zeros(train.n_ratings), self._places.data)
        self._of_everybody = neighbor_features(everybody, n_neighbors)

    def features(self, user: int, items: np.ndarray | slice) -> np.ndarray:
        """The features of `items` (P positions, or a slice) for `user`: float64 (P, 17).

        Most items have at most K raters: all of them count, and the mean similarity alone
        depends on the user. The crowded ones, with more, are served by one sweep over their
        ratings that takes the users from the nearest to the farthest. Both hold for items that
        `user` did not rate; those that they did rate have similarities of their own.
        """
        mine, grades = self.train.row(user)
        profile = np.zeros(self.train.n_items)
        profile[mine] = grades - grades.sum() / max(mine.size, 1)
        length = np.linalg.norm(profile) or 1.0
        similarities = _rounded(self._profiles @ profile / length)
        table = self._of_everybody.copy()
        table[:, -1] = self._mean_over_raters @ similarities
        order = np.argsort(-similarities, kind="stable")
        swept = self._crowded_places[order].tocsc()
        nearest = self._first(
            np.diff(swept.indptr), similarities[order].take(swept.indices), swept.data
        )
        table[self._crowded] = neighbor_features(nearest, self.n_neighbors)
        asked = np.zeros(self.train.n_items, dtype=bool)
        asked[items] = True
        if asked[mine].any():
            table[mine] = self.features_of_rated(user)
        return table[items]

    def features_of_rated(self, user: int) -> np.ndarray:
        """The features (S, 17) of the S items that `user` rated, without the grade of each."""
        return neighbor_features(self.nearest_of_rated(user), self.n_neighbors)

    def nearest_of_rated(self, user: int) -> Nearest:
        """The nearest other raters of the S items that `user` rated, each left out in its turn.

        Leaving out item i changes the mean and the length of the user's profile, and with them
        every similarity. They are found from sums over the profile, which lose one term each.
        """
        mine, grades = self.train.row(user)
        raters = self._places[:, mine]
        item = np.repeat(np.arange(mine.size), np.diff(raters.indptr))
        n, total = max(mine.size - 1, 1), grades.sum() - grades
        # Whole numbers, so that the length is 0 and not nearly 0 where all other grades are equal.
        lengths = np.sqrt((n * ((grades**2).sum() - grades**2) - total**2) / n)
        means = total / n
        profile = np.zeros((2, self.train.n_items))
        profile[:, mine] = grades, np.ones(mine.size)
        weighted, plain = (self._profiles @ row for row in profile)
        overlap = weighted[raters.indices] - means[item] * plain[raters.indices]
        overlap -= (grades - means)[item] * self._profile_values[raters.data]
        similarities = _rounded(overlap / np.where(lengths > 0, lengths, np.inf)[item])
        order = np.lexsort((-similarities, item))
        order = order[raters.indices[order] != self._line[user]]
        counts = np.bincount(item[order], minlength=mine.size)
        return self._first(counts, similarities[order], raters.data[order])

    def _first(self, counts, similarities, places) -> Nearest:
        """The first K of the counts[p] raters of each item p, which stand item after item."""
        rank = np.arange(places.size) - np.repeat(np.cumsum(counts) - counts, counts)
        near = rank < self.n_neighbors
        outcomes = self._outcomes.take(places[near], axis=1)
        return Nearest(np.minimum(counts, self.n_neighbors), similarities[near], outcomes)


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


def unit_profiles(train: Ratings) -> sparse.csr_array:
    """The users' mean-centred grades (n_users, n_items), rows of length 1 (or 0: all equal)."""
    users = _user_of_rating(train)
    sizes = np.maximum(np.diff(train.indptr), 1)
    means = np.bincount(users, train.grades, minlength=train.n_users) / sizes
    centered = train.grades - means[users]
    lengths = np.sqrt(np.bincount(users, centered**2, minlength=train.n_users))
    profiles = train.to_scipy().astype(np.float64)
    profiles.data = centered / np.where(lengths > 0, lengths, 1.0)[users]
    return profiles


def neighbor_features(found: Nearest, n_neighbors: int) -> np.ndarray:
    """The features (P, 17) of P items, in the order of `FEATURES`; all 0 without a neighbour.

    For wins, then losses, then ties: mean, (population) standard deviation, maximum and minimum
    over the neighbours found, and the number of neighbours with any, divided by K. Then the
    number of neighbours found divided by K, and their mean similarity.
    """
    some = found.n_found > 0
    n = found.n_found[some]
    starts = np.cumsum(n) - n

    def mean(values):
        return np.add.reduceat(values, starts, axis=-1) / n

    shares = found.outcomes
    means = mean(shares)
    statistics = [
        means,
        np.sqrt(mean((shares - np.repeat(means, n, axis=1)) ** 2)),
        np.maximum.reduceat(shares, starts, axis=1),
        np.minimum.reduceat(shares, starts, axis=1),
        mean((shares > 0).astype(np.float64)) * n / n_neighbors,
    ]
    features = np.zeros((some.size, len(FEATURES)))
    features[some, :15] = np.stack(statistics, axis=1).reshape(15, -1).T
    features[some, 15] = n / n_neighbors
    features[some, 16] = mean(found.similarities)
    return features


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


def _rounded(similarities: np.ndarray) -> np.ndarray:
    """Lest the last digit choose among users who are equally similar."""
    return np.round(similarities, 9)
