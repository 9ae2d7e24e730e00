"""GAPfm, the Graded Average Precision factor model: Algorithm 2 around the compiled kernels."""

import json
from typing import Any

import numba
import numpy as np
import pandas as pd

from . import kernels
from .checks import (
    check_choice,
    check_count,
    check_grades,
    check_positions,
    check_random_state,
    check_real,
)
from .files import write_npz
from .metrics import thresholding_probabilities
from .ratings import Ratings
from .recommender import Recommender, check_pair
from .smooth import user_gradient
from .training import Problem, interrupt_flag, progress, threads

_FORMAT = {"format": "gapfm_teach.GAPfm", "version": 1}


class GAPfm(Recommender):
    """Latent factors of users and items that maximise smoothed GAP (9), by Algorithm 2.

    Parameters
    ----------
    n_factors : int, D >= 1.
    reg : float, λ >= 0. With update="batch" it is counted once for U and V, as in (9); with
        "sequential" an item is shrunk at each visit of a user, as (11) and Algorithm 2 read.
    learning_rate : float, γ > 0. What works depends on how many ratings the users have: the
        gradient is a sum over pairs. About 1e-2 for 10 ratings a user, less for more.
    n_iter : int >= 1, iterations (itermax).
    n_selected : int K >= 1, or None for all: rated items of a user whose V an iteration updates.
    selection : "adaptive" (Algorithm 1: the K most misranked) or "random"; without effect when
        `n_selected` is None.
    inner_sum : "rated" (default) or "selected": which items j the inner sums of (11) run over.
        (11) as printed sums over all rated items, and one shared pass then serves U and V; the
        cost O(D K^2 M) stated in section 4.3 needs "selected".
    update : "batch" (sum the gradients over users, then step) or "sequential" (user after user
        in place).
    init_scale : float > 0, standard deviation of the normal start of U and V. The paper gives
        none; small starts work best.
    random_state : None, int or numpy Generator; an int makes `fit` repeatable to the last bit,
        whatever the number of threads.
    n_threads : int, or None for numba's own number (one where the data are few). Set for the time
        of `fit` only.

    Attributes after `fit`
    ----------------------
    user_factors_ (n_users, D), item_factors_ (n_items, D), n_iter_ : iterations done.
    history_ : DataFrame, a row an iteration: `iteration`; `objective`, (9) without 1/M, after it;
        `gradient_norm`, the length of the step taken divided by γ; `validation_gap`, mean GAP
        over users of their validation items ranked among all items not in training (nan without
        validation).
    train_ : the Ratings fitted to.

    Source: sections 4.2-4.3 and Algorithms 1-2.
    """

    def __init__(
        self,
        n_factors: int = 10,
        *,
        reg: float = 0.001,
        learning_rate: float = 0.01,
        n_iter: int = 60,
        n_selected: int | None = None,
        selection: str = "adaptive",
        inner_sum: str = "rated",
        update: str = "batch",
        init_scale: float = 0.01,
        random_state=None,
        n_threads: int | None = None,
    ):
        self.n_factors = check_count(n_factors, "n_factors")
        self.reg = check_real(reg, "reg")
        self.learning_rate = check_real(learning_rate, "learning_rate", low_open=True)
        self.n_iter = check_count(n_iter, "n_iter")
        self.n_selected = (
            None if n_selected is None else check_count(n_selected, "n_selected")
        )
        self.selection = check_choice(selection, "selection", ("adaptive", "random"))
        self.inner_sum = check_choice(inner_sum, "inner_sum", ("rated", "selected"))
        self.update = check_choice(update, "update", ("batch", "sequential"))
        self.init_scale = check_real(init_scale, "init_scale", low_open=True)
        self.random_state = random_state
        check_random_state(random_state)
        most = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
        self.n_threads = (
            None if n_threads is None else check_count(n_threads, "n_threads", high=most)
        )

    def __repr__(self) -> str:
        state = f"fitted, {self.n_iter_} iterations" if self._is_fitted else "not fitted"
        return (
            f"GAPfm(n_factors={self.n_factors}, reg={self.reg:g}, "
            f"learning_rate={self.learning_rate:g}, update={self.update!r}; {state})"
        )

    # ------------------------------------------------------------------ learning

    def fit(
        self, train: Ratings, validation: Ratings | None = None, callback=None
    ) -> "GAPfm":
        """Learn from `train`; returns self.

        `validation`: Ratings of the same users and items, only measured, never learned from.
        `callback(iteration, model)` runs after each iteration, with factors and history up to
        date; returning True stops. Ctrl-C stops at the end of the running iteration and keeps
        what was learned. Raises ValueError for unfit ratings; FloatingPointError, naming the
        iteration, when a value is no longer finite: the factors of the iteration before stay.
        """
        check_pair(train, validation)
        rng = check_random_state(self.random_state)
        self.train_ = train
        U = rng.normal(0.0, self.init_scale, (train.n_users, self.n_factors))
        V = rng.normal(0.0, self.init_scale, (train.n_items, self.n_factors))
        self._keep(U, V, rows=[])
        with threads(self.n_threads, train), interrupt_flag() as interrupted:
            problem = Problem(train, validation)
            objective = problem.gradients(U, V, self.reg)
            for iteration in progress(self.n_iter):
                U_new, V_new = self._step(problem, U, V, rng)
                with np.errstate(over="ignore", invalid="ignore"):
                    moved = np.sqrt(np.sum((U_new - U) ** 2) + np.sum((V_new - V) ** 2))
                    objective = problem.gradients(U_new, V_new, self.reg)
                self._refuse_non_finite(objective, iteration)
                U, V = U_new, V_new
                row = (iteration, objective, moved / self.learning_rate)
                self._keep(U, V, [*self._rows, (*row, problem.validation_gap(U, V))])
                if (callback is not None and callback(iteration, self)) or interrupted():
                    break
        return self

    def _step(self, problem: Problem, U, V, rng) -> tuple[np.ndarray, np.ndarray]:
        """One iteration of Algorithm 2 from U^(t), V^(t), whose gradients `problem` holds."""
        U_new = U + self.learning_rate * problem.user_gradient
        inner_selected = self.inner_sum == "selected"
        selected = problem.select(self.n_selected, self.selection, rng)
        if self.update == "sequential":
            V_new = V.copy()
            kernels.update_items_in_turn(
                U, V_new, problem.indptr, problem.items, problem.grades, problem.cumulative,
                selected, inner_selected, self.reg, self.learning_rate,
            )  # fmt: skip
        else:
            gradient = problem.item_gradient(U, V, selected, inner_selected, self.reg)
            V_new = V + self.learning_rate * gradient
        return U_new, V_new

    def _keep(self, U, V, rows: list) -> None:
        self.user_factors_, self.item_factors_, self._rows = U, V, rows
        self.n_iter_ = len(rows)

    def _refuse_non_finite(self, objective: float, iteration: int) -> None:
        if not np.isfinite(objective):
            raise FloatingPointError(
                f"training left the finite numbers in iteration {iteration}; try a learning_rate "
                f"below {self.learning_rate:g}, such as {self.learning_rate / 10:g}. The factors "
                f"of iteration {self.n_iter_} are kept"
            )

    @property
    def history_(self) -> pd.DataFrame:
        self._check_fitted()
        names = ["iteration", "objective", "gradient_norm", "validation_gap"]
        return pd.DataFrame(self._rows, columns=names)

    # ------------------------------------------------------------------ using it

    def _scores(self, user: int, items: np.ndarray | slice) -> np.ndarray:
        """f of (1)."""
        return self.item_factors_[items] @ self.user_factors_[user]

    def fold_in(self, items, grades) -> np.ndarray:
        """The factors (D,) of a new user from a few grades, with V held fixed.

        Gradient ascent by (10) from zero, with this model's γ, λ and number of iterations.
        `items`: distinct positions (S,); `grades`: (S,) from 1 to the training data's highest.
        Score all items by `item_factors_ @ fold_in(...)`. Raises ValueError for unequal lengths,
        repeated items, or grades out of range.
        """
        self._check_fitted()
        items = check_positions(items, "items", self.item_factors_.shape[0])
        grades = check_grades(grades, allow_unrated=False)
        if items.shape != grades.shape:
            raise ValueError(
                f"{items.shape[0]} items but {grades.shape[0]} grades; give each one"
            )
        if np.unique(items).shape[0] < items.shape[0]:
            raise ValueError(f"items must be distinct, got {items.tolist()}")
        delta = thresholding_probabilities(self.train_.max_grade)
        if grades.max(initial=0) > self.train_.max_grade:
            raise ValueError(
                f"grades must be at most {self.train_.max_grade}, got {grades.max()}"
            )
        u = np.zeros(self.n_factors)
        for _ in range(self.n_iter_):
            V = self.item_factors_[items]
            u = u + self.learning_rate * user_gradient(
                u, V, grades, delta=delta, reg=self.reg
            )
        return u

    # ------------------------------------------------------------------ keeping it

    def save(self, path) -> None:
        """Write the fitted model to `path`, a .npz file, without pickle.

        Written beside and renamed, so an existing file is replaced whole or not at all. A
        Generator given as `random_state` is not kept.
        """
        self._check_fitted()
        names = [
            "n_factors", "reg", "learning_rate", "n_iter", "n_selected", "selection",
            "inner_sum", "update", "init_scale", "random_state", "n_threads",
        ]  # fmt: skip
        params = {name: getattr(self, name) for name in names}
        if isinstance(self.random_state, np.random.Generator):
            params["random_state"] = None
        header = _FORMAT | {"params": params, "source": self.train_.source}
        header |= {"max_grade": self.train_.max_grade}
        arrays = {
            "header": np.array(json.dumps(header)),
            "user_factors": self.user_factors_,
            "item_factors": self.item_factors_,
            "history": np.array(self._rows, dtype=np.float64).reshape(-1, 4),
        }
        for name in ("indptr", "indices", "grades", "users", "items", "titles"):
            arrays["train_" + name] = getattr(self.train_, name)
            if arrays["train_" + name].dtype.hasobject:
                raise ValueError(
                    f"train has {name} of mixed or unusual types, such as "
                    f"{arrays['train_' + name][0]!r}, which a file without pickle cannot hold; "
                    "make them all numbers or all text"
                )
        write_npz(path, arrays)

    @classmethod
    def load(cls, path) -> "GAPfm":
        """Read a model that `save` wrote; it predicts, recommends and folds in as before.

        Raises FileNotFoundError, or ValueError for a file that is not such a model or comes from
        a newer version.
        """
        try:
            # Opened here: NumPy would leave a damaged file open.
            with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
                stored = {name: file[name] for name in file.files}
            header = json.loads(str(stored["header"]))
            found = {key: header.get(key) for key in _FORMAT}
            model = cls._restored(header, stored) if found == _FORMAT else None
        except FileNotFoundError:
            raise
        except Exception as error:  # a damaged or edited file raises nearly anything
            raise ValueError(
                f"{path} is not a saved GAPfm ({error}); pass a file from save()"
            ) from error
        if model is None:
            raise ValueError(
                f"{path} has format {found['format']!r} version {found['version']!r}, "
                f"this package reads version {_FORMAT['version']}; update gapfm_teach"
            )
        return model

    @classmethod
    def _restored(cls, header: dict, stored: dict[str, Any]) -> "GAPfm":
        params = {k: v for k, v in header["params"].items() if k != "n_threads"}
        model = cls(**params)
        train = {k[6:]: v for k, v in stored.items() if k.startswith("train_")}
        U, V = stored["user_factors"], stored["item_factors"]
        model.train_ = Ratings(
            train.pop("indptr"), train.pop("indices"), train.pop("grades"),
            n_items=len(V), max_grade=header["max_grade"], source=header["source"], **train,
        )  # fmt: skip
        due = [
            (len(ids), model.n_factors) for ids in (model.train_.users, model.train_.items)
        ]
        if [U.shape, V.shape] != due or not (np.isfinite(U).all() and np.isfinite(V).all()):
            raise ValueError(f"its factors are not finite, or not of shapes {due}")
        rows = [
            (int(i), float(f), float(g), float(gap)) for i, f, g, gap in stored["history"]
        ]
        model._keep(U, V, rows)
        return model
