"""Systems that other libraries implement, behind this package's interface.

They need the extra "baselines": pip install "gapfm-teach[baselines]". Each is deterministic for
a given `random_state`, so each trains in one thread.
"""

import contextlib

import numpy as np
from scipy import sparse

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


class _Implicit(FactorModel):
    """Factors that the package `implicit` learned."""

    def _learn(self, library, train: Ratings, values: np.ndarray) -> None:
        from implicit.recommender_base import ModelFitError

        # The one layout that `implicit` takes, and writable.
        with np.errstate(over="ignore"):
            data = values.astype(np.float32)
        parts = (data, train.indices.copy(), train.indptr.astype(np.int32))
        matrix = sparse.csr_matrix(parts, shape=(train.n_users, train.n_items))
        with contextlib.suppress(
            ModelFitError
        ):  # not finite: refused below, as everywhere here
            library.fit(matrix, show_progress=False)
        self.user_factors_, self.item_factors_ = library.user_factors, library.item_factors
        self._refuse_non_finite(self.user_factors_, self.item_factors_)

    def _scores(self, user: int, items: np.ndarray | slice) -> np.ndarray:
        return self.item_factors_[items] @ self.user_factors_[user]


class PopularityBPR(_Implicit):
    """`BPR` with other negatives: an unrated j is drawn the more often, the more popular it is.

    `implicit` draws j as the item of a random rating. That takes popularity out of the scores,
    which costs a lot in top-N lists, and items that nobody rated are never drawn: they keep the
    score 0.

    Parameters
    ----------
    n_factors : int >= 1.
    reg, learning_rate : float >= 0 and > 0.
    n_iter : int >= 1, each with as many draws as there are ratings.
    random_state : None, int or numpy Generator; it draws the start and the pairs. The pairs come
        from the C++ standard library, whose draws differ between compilers.

    Attributes after `fit`: `user_factors_` (n_users, D + 1) and `item_factors_`
    (n_items, D + 1); the last column holds 1 for users and the bias for items.

    Source: the implementation of `implicit`, there called BPR.
    """

    def __init__(
        self,
        n_factors: int = 10,
        *,
        reg: float = 0.01,
        learning_rate: float = 0.05,
        n_iter: int = 100,
        random_state=None,
    ):
        super().__init__(n_factors, reg, n_iter, random_state)
        self.learning_rate = check_real(learning_rate, "learning_rate", low_open=True)

    def _fit(self, train: Ratings, validation: Ratings | None) -> None:
        with _extra("implicit"):
            from implicit.cpu.bpr import BayesianPersonalizedRanking

        library = BayesianPersonalizedRanking(
            self.n_factors, self.learning_rate, self.reg, np.float64, self.n_iter,
            num_threads=1, random_state=_seed(self.random_state),
        )  # fmt: skip
        self._learn(library, train, np.ones(train.n_ratings))


class ImplicitALS(_Implicit):
    """Weighted matrix factors: rated items should score 1, all others 0, by alternating solves.

    Minimises Σ_mi c_mi (p_mi − ⟨U_m, V_i⟩)² + λ(‖U‖² + ‖V‖²) over all users and items, where
    p = 1 and the confidence c = α y for a rating of grade y; p = 0 and c = 1 elsewhere.

    Parameters
    ----------
    n_factors : int >= 1.
    reg : float, λ > 0.
    confidence : float, α > 0.
    n_iter : int >= 1; each solves for all users, then for all items, exactly.
    random_state : None, int or numpy Generator; it draws the starting factors.

    Attributes after `fit`: `user_factors_` (n_users, D), `item_factors_` (n_items, D).

    Source: Hu, Koren and Volinsky, "Collaborative Filtering for Implicit Feedback Datasets",
    ICDM 2008, where c = 1 + α y; the implementation of `implicit`.
    """

    def __init__(
        self,
        n_factors: int = 10,
        *,
        reg: float = 10.0,
        confidence: float = 1.0,
        n_iter: int = 15,
        random_state=None,
    ):
        super().__init__(n_factors, reg, n_iter, random_state)
        check_real(reg, "reg", low_open=True)
        self.confidence = check_real(confidence, "confidence", low_open=True)

    def _fit(self, train: Ratings, validation: Ratings | None) -> None:
        with _extra("implicit"):
            from implicit.cpu.als import AlternatingLeastSquares
            from threadpoolctl import threadpool_limits

        # Small solves inside a loop: BLAS threads would only wait for each other.
        with threadpool_limits(1, "blas"):
            library = AlternatingLeastSquares(
                self.n_factors, self.reg, 1.0, np.float64, iterations=self.n_iter,
                use_cg=False, num_threads=1, random_state=_seed(self.random_state),
            )  # fmt: skip
            self._learn(library, train, self.confidence * train.grades.astype(np.float64))


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
