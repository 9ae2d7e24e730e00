"""What every system offers: fit, predict, recommend; and the checks of their arguments."""

from inspect import signature
from typing import Self

import numpy as np

from .._support.checks import check_choice, check_count, check_positions
from ..ratings import Ratings
from ..splits import check_parts, check_ratings


class NotFittedError(ValueError, AttributeError):
    """A model was used before `fit`; an AttributeError too, so that `hasattr` answers False."""


class Fitted:
    """What has learned something, or has not yet."""

    _fit_call = "fit(train)"

    @property
    def _is_fitted(self) -> bool:
        return hasattr(self, "train_")

    def _check_fitted(self) -> None:
        if not self._is_fitted:
            raise NotFittedError(
                f"this {type(self).__name__} is not fitted yet; call {self._fit_call} first"
            )


class Recommender(Fitted):
    """A system that scores the items of a user; higher is better.

    A subclass writes `_fit(train, validation)`, which learns, and `_scores(user, items)`, which
    returns the scores of items (int64 positions, or `slice(None)` for all) for a user's position.
    It keeps each parameter under its own name.
    `train_` : the Ratings fitted to; there once `fit` has run.
    """

    train_: Ratings

    def __repr__(self) -> str:
        names = signature(type(self)).parameters
        settings = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        state = "fitted" if self._is_fitted else "not fitted"
        return f"{type(self).__name__}({settings}{'; ' if settings else ''}{state})"

    def fit(self, train: Ratings, validation: Ratings | None = None) -> Self:
        """Learn from `train`; returns self.

        `validation`: Ratings of the same users and items, never learned from; a system that
        measures nothing while it learns leaves it alone.
        Raises TypeError or ValueError where one is no Ratings, or they do not belong together.
        """
        check_pair(train, validation)
        self._fit(train, validation)
        self.train_ = train
        return self

    def predict(self, user, items=None) -> np.ndarray:
        """Scores of `items` (positions; all when None) for `user` (a position), float64 (N,).

        Raises ValueError for a position that training did not have, NotFittedError (a ValueError
        as well) before `fit`.
        """
        self._check_fitted()
        user = check_count(user, "user", low=0, high=self.train_.n_users - 1)
        if items is None:
            return self._scores(user, slice(None))
        return self._scores(user, check_positions(items, "items", self.train_.n_items))

    def recommend(self, user, n: int = 10, exclude="train") -> np.ndarray:
        """Positions of the n best-scored items, best first; ties go to the lower position.

        `exclude`: "train" leaves out what the user rated in training, None leaves out nothing,
        an array leaves out those positions. Fewer than n come back where fewer are left.
        """
        scores = self.predict(user)
        n = check_count(n, "n")
        if isinstance(exclude, str):
            check_choice(exclude, "exclude", ("train",))
            exclude = self.train_.row(user)[0]
        left = np.ones(scores.shape[0], dtype=bool)
        if exclude is not None:
            left[check_positions(exclude, "exclude", scores.shape[0])] = False
        candidates = np.flatnonzero(left)
        return candidates[np.argsort(-scores[candidates], kind="stable")[:n]]

    def _fit(self, train: Ratings, validation: Ratings | None) -> None:
        raise NotImplementedError(f"{type(self).__name__} does not say how it learns")

    def _scores(self, user: int, items: np.ndarray | slice) -> np.ndarray:
        raise NotImplementedError(f"{type(self).__name__} does not say how it scores")


def check_pair(train: Ratings, validation: Ratings | None) -> None:
    """Raise unless `train` can be learned from and `validation` belongs to it."""
    check_ratings(train, "train")
    if train.n_ratings == 0:
        raise ValueError("train has 0 ratings; there is nothing to learn from")
    if validation is None:
        return
    check_parts(train, validation, "validation")
    if validation.n_ratings and validation.grades.max() > train.max_grade:
        raise ValueError(
            f"validation has grade {validation.grades.max()}, above train's max_grade "
            f"{train.max_grade}; use one grade scale"
        )
