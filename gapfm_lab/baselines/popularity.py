"""Systems that show everybody the same list: one score an item, whoever asks."""

import numpy as np

from gapfm_teach._support.checks import check_choice, check_real
from gapfm_teach.ratings import Ratings
from gapfm_teach.training.recommender import Recommender

from ..grades import CURVES, rating_weights


class _SameForAll(Recommender):
    """A subclass writes `_item_scores(train)`; after `fit` they are `item_scores_` (n_items,).

    The same as factors, which evaluation scores by the million: `user_factors_` (n_users, 1), all
    1, and `item_factors_` (n_items, 1).
    """

    def _fit(self, train: Ratings, validation: Ratings | None) -> None:
        self.item_scores_ = self._item_scores(train)
        self.user_factors_ = np.ones((train.n_users, 1))
        self.item_factors_ = self.item_scores_[:, None]

    def _scores(self, user: int, items: np.ndarray | slice) -> np.ndarray:
        return np.array(self.item_scores_[items])

    def _item_scores(self, train: Ratings) -> np.ndarray:
        raise NotImplementedError(f"{type(self).__name__} does not say how it scores")


class Popularity(_SameForAll):
    """The number of ratings an item has: PopRec of section 5.4.

    After `fit`: `item_scores_` (n_items,).
    """

    def _item_scores(self, train: Ratings) -> np.ndarray:
        return _sum_by_item(train, np.ones(train.n_ratings))


class MeanRating(_SameForAll):
    """The mean grade of an item, drawn towards the mean μ of all grades.

    An item with n grades of sum s scores (s + shrinkage·μ) / (n + shrinkage), as if it had
    `shrinkage` more grades, all μ. An item without grades scores μ.

    Parameters
    ----------
    shrinkage : float >= 0, the number of pseudo-counts; 0 gives the plain mean.

    After `fit`: `item_scores_` (n_items,), on the scale of the grades.

    Source: section 5.4 mentions the plain mean and leaves it out of Table 2.
    """

    def __init__(self, shrinkage: float = 0.0):
        self.shrinkage = check_real(shrinkage, "shrinkage")

    def _item_scores(self, train: Ratings) -> np.ndarray:
        mean = train.grades.mean()
        total = _sum_by_item(train, train.grades) + self.shrinkage * mean
        count = _sum_by_item(train, np.ones(train.n_ratings)) + self.shrinkage
        return np.divide(total, count, out=np.full(train.n_items, mean), where=count > 0)


class GradeWeightedPopularity(_SameForAll):
    """Popularity that counts a rating by its grade: b_i = Σ_m w(y_mi), with w = Δ if not told.

    GAPfm starts out much like this. Where all scores are near 0, g' = 1/4 and g = 1/2, the
    second term of the gradient vanishes, and what is left is ∂F/∂f_mi = ⅛ Σ_j β_mij. Summed over
    the users it pushes item i by ⅛ Σ_m Σ_j min(Δ(y_mi), Δ(y_mj)): the more, the more users rated
    i and the higher. Replace the minimum by Δ(y_mi), and let all users have equally many
    ratings, and it is b_i up to a factor.

    Parameters
    ----------
    grades : the curve w, one of `grades.CURVES`.

    After `fit`: `item_scores_` (n_items,).

    Source: (5) and (8); the paper does not list it.
    """

    def __init__(self, grades: str = "Δ"):
        self.grades = check_choice(grades, "grades", CURVES)

    def _item_scores(self, train: Ratings) -> np.ndarray:
        return _sum_by_item(train, rating_weights(train, self.grades))


def _sum_by_item(train: Ratings, weights: np.ndarray) -> np.ndarray:
    """Sum of `weights` (n_ratings,) over the ratings of each item, float64 (n_items,)."""
    return np.bincount(train.indices, weights, minlength=train.n_items)
