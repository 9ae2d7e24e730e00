"""Smoothed average precision: GAPfm where there is one grade only."""

import numpy as np

from gapfm_teach._support.checks import check_count
from gapfm_teach.model import GAPfm
from gapfm_teach.ratings import Ratings
from gapfm_teach.training.recommender import Recommender


class SmoothedAP(Recommender):
    """GAPfm on binary relevance: Appendix D's special case y_max = 1, the objective of TFMAP.

    With one grade β_ij = 1 for rated items, GAP is average precision, and (8) becomes
    Σ_i g(f_i) Σ_j g(f_j − f_i): the number of relevant items times smoothed AP.

    Parameters
    ----------
    n_factors : int, D >= 1.
    threshold : int >= 1; ratings of at least this grade are relevant, lower ones are left out.
    random_state, settings : the other parameters of `GAPfm`.

    Attributes after `fit`: `user_factors_` (n_users, D), `item_factors_` (n_items, D), and
    `model_`, the GAPfm fitted to the binary ratings.

    Source: Appendix D; Shi et al., "TFMAP: Optimizing MAP for Top-N Context-aware
    Recommendation", SIGIR 2012. Simplified: no context, no sampling of relevant items.
    """

    def __init__(
        self, n_factors: int = 10, *, threshold: int = 1, random_state=None, **settings
    ):
        self.n_factors = n_factors
        self.threshold = check_count(threshold, "threshold")
        self.random_state = random_state
        self.settings = settings
        self._untrained().settings()  # bad ones are refused here, not at `fit`

    def _untrained(self) -> GAPfm:
        return GAPfm(self.n_factors, random_state=self.random_state, **self.settings)

    def _fit(self, train: Ratings, validation: Ratings | None) -> None:
        relevant = _binary(train, self.threshold, "train")
        if validation is not None:
            validation = _binary(validation, self.threshold, "validation")
        self.model_ = self._untrained().fit(relevant, validation)
        self.user_factors_ = self.model_.user_factors_
        self.item_factors_ = self.model_.item_factors_

    def _scores(self, user: int, items: np.ndarray | slice) -> np.ndarray:
        return self.model_._scores(user, items)


def _binary(ratings: Ratings, threshold: int, name: str) -> Ratings:
    """The ratings of at least `threshold`, all with grade 1; ValueError if there are none."""
    relevant = ratings.grades >= threshold
    if not relevant.any():
        raise ValueError(
            f"{name} has no grade of at least threshold={threshold}; lower the threshold"
        )
    before = np.concatenate([[0], np.cumsum(relevant)])
    return Ratings(
        before[ratings.indptr], ratings.indices[relevant], np.ones(before[-1], dtype=np.int8),
        n_items=ratings.n_items, max_grade=1, users=ratings.users, items=ratings.items,
        titles=ratings.titles, source=f"{ratings.source}; relevant from grade {threshold}",
    )  # fmt: skip
