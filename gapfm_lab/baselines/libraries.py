"""Systems that other libraries implement, behind this package's interface.

They need the extra "baselines": pip install "gapfm-teach[baselines]". Each is deterministic for
a given `random_state`, so each trains in one thread.
"""

import contextlib

import numpy as np

from gapfm_teach._support.checks import check_random_state, check_real
from gapfm_teach.ratings import Ratings

from .factors import FactorModel


class SVDpp(FactorModel):
    """SVD++: ratings predicted as f_mi = μ + b_m + b_i + ⟨q_i, p_m + |N_m|^(−½) Σ_{j∈N_m} x_j⟩.

    Trained by stochastic gradient descent on the squared error of the grades. Items without
    ratings score μ + b_m. Scores are not clipped to the grades, which would make ties.

    Parameters
    ----------
    n_factors : int >= 1; 10 in section 5.4.
    reg, learning_rate : float >= 0 and > 0, one for all parameters.
    n_iter : int >= 1, passes over the ratings.
    random_state : None, int or numpy Generator; it draws the starting factors.

    Attributes after `fit`: `user_factors_` (n_users, D), with the sum over N_m in it;
    `item_factors_` (n_items, D); `user_bias_` (n_users,), with μ in it; `item_bias_` (n_items,).

    Source: Koren, "Factorization Meets the Neighborhood", KDD 2008, (15); the implementation of
    scikit-surprise, where the paper used GraphLab's.
    """

    def __init__(
        self,
        n_factors: int = 10,
        *,
        reg: float = 0.02,
        learning_rate: float = 0.007,
        n_iter: int = 20,
        random_state=None,
    ):
        super().__init__(n_factors, reg, n_iter, random_state)
        self.learning_rate = check_real(learning_rate, "learning_rate", low_open=True)

    def _fit(self, train: Ratings, validation: Ratings | None) -> None:
        with _extra("scikit-surprise"):
            import surprise

        settings = {"n_epochs": self.n_iter, "lr_all": self.learning_rate}
        settings |= {"reg_all": self.reg, "random_state": _seed(self.random_state)}
        library = surprise.SVDpp(self.n_factors, cache_ratings=True, **settings)
        data = _surprise_data(surprise, train)
        with np.errstate(over="ignore", invalid="ignore"):
            library.fit(data)
        self._take(library, data, train)

    def _take(self, library, data, train: Ratings) -> None:
        """Keep what was learned, by this package's positions; unseen users and items are 0."""
        users = [data.to_raw_uid(inner) for inner in data.all_users()]
        items = [data.to_raw_iid(inner) for inner in data.all_items()]
        self.user_factors_ = np.zeros((train.n_users, self.n_factors))
        self.item_factors_ = np.zeros((train.n_items, self.n_factors))
        self.user_bias_ = np.full(train.n_users, data.global_mean)
        self.item_bias_ = np.zeros(train.n_items)
        implicit_factors = np.zeros_like(self.item_factors_)
        self.user_factors_[users], self.item_factors_[items] = library.pu, library.qi
        self.user_bias_[users] += library.bu
        self.item_bias_[items], implicit_factors[items] = library.bi, library.yj
        rated = train.to_scipy().astype(bool).astype(np.float64)
        root = np.sqrt(np.maximum(np.diff(train.indptr), 1))
        self.user_factors_ += (rated @ implicit_factors) / root[:, None]
        self._refuse_non_finite(
            self.user_factors_, self.item_factors_, self.user_bias_, self.item_bias_
        )

    def _scores(self, user: int, items: np.ndarray | slice) -> np.ndarray:
        personal = self.item_factors_[items] @ self.user_factors_[user]
        return self.user_bias_[user] + self.item_bias_[items] + personal


@contextlib.contextmanager
def _extra(package: str):
    """Turn a missing `package` into an error that says how to get it."""
    try:
        yield
    except ImportError as error:
        raise ImportError(
            f"this system needs {package}; pip install 'gapfm-teach[baselines]'"
        ) from error


def _seed(random_state) -> int:
    return int(check_random_state(random_state).integers(2**31))


def _surprise_data(surprise, train: Ratings):
    """The ratings as scikit-surprise's training set, with positions as ids."""
    users = np.repeat(np.arange(train.n_users), np.diff(train.indptr))
    frame = train.to_frame().assign(user=users, item=train.indices)
    triples = frame[["user", "item", "grade"]]  # the library takes three columns, no time
    reader = surprise.Reader(rating_scale=(1, train.max_grade))
    return surprise.Dataset.load_from_df(triples, reader).build_full_trainset()
