"""GAPfm, the Graded Average Precision factor model: Algorithm 2 around the compiled kernels."""

from inspect import signature
from operator import index

import numba
import numpy as np
import pandas as pd

from . import kernels
from .checkpoint import (
    check_writable,
    describe,
    read_checkpoint,
    read_model,
    write_checkpoint,
    write_model,
)
from .checks import (
    check_choice,
    check_count,
    check_grades,
    check_positions,
    check_random_state,
    check_real,
)
from .metrics import thresholding_probabilities
from .ratings import Ratings
from .recommender import Recommender, check_pair
from .smooth import user_gradient
from .steps import check_learning_rate, suitable_learning_rate
from .training import Problem, interrupt_flag, progress, threads


class GAPfm(Recommender):
    """Latent factors of users and items that maximise smoothed GAP (9), by Algorithm 2.

    Parameters
    ----------
    n_factors : int, D >= 1.
    reg : float, λ >= 0. With update="batch" it is counted once for U and V, as in (9); with
        "sequential" an item is shrunk at each visit of a user, as (11) and Algorithm 2 read.
    learning_rate : float, γ > 0, or "auto". What works depends on how many ratings the users
        have: the gradient is a sum over pairs. About 1e-2 for 10 ratings a user, less for more.
        "auto" takes γ = ½ / (σ_max(C) + λ), with C = ∂F/∂f at f = 0: small factors then grow by
        half in an iteration, whatever the data; see `steps`. It suits any Given-N and any size,
        but no γ cures (8) of its degenerate optimum: when to stop remains for validation to say.
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
    learning_rate_ : float, the γ used.
    train_ : the Ratings fitted to.

    Source: sections 4.2-4.3 and Algorithms 1-2.
    """

    def __init__(
        self,
        n_factors: int = 10,
        *,
        reg: float = 0.001,
        learning_rate: float | str = 0.01,
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
        self.learning_rate = check_learning_rate(learning_rate)
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
        rate = "'auto'" if self.learning_rate == "auto" else f"{self.learning_rate:g}"
        return (
            f"GAPfm(n_factors={self.n_factors}, reg={self.reg:g}, "
            f"learning_rate={rate}, update={self.update!r}; {state})"
        )

    # ------------------------------------------------------------------ learning

    def fit(
        self, train: Ratings, validation: Ratings | None = None, callback=None, *,
        checkpoint=None, checkpoint_every: int = 5, resume=None,
    ) -> "GAPfm":  # fmt: skip
        """Learn from `train`; returns self.

        `validation`: Ratings of the same users and items, only measured, never learned from.
        `callback(iteration, model)` runs after each iteration, with factors and history up to
        date; returning True stops. Ctrl-C stops at the end of the running iteration and keeps
        what was learned.
        `checkpoint`: a path, where every `checkpoint_every` iterations and when training ends
        the factors, the history and the random generator's state are written, whole or not at
        all; never the ratings. A process that is killed loses the iterations since then.
        `resume`: a path that `checkpoint` wrote; goes on from there to the same bits as a
        training without the break. `n_iter` counts from the very start and may be raised. Give
        both to continue a run and keep it safe: `fit(train, checkpoint=p, resume=p)`.
        Raises ValueError for unfit ratings, and for a checkpoint of other data or parameters,
        naming them; TypeError for a path that is none; OSError, before training, for a checkpoint
        that cannot be written; FloatingPointError, naming the iteration, when a value is no
        longer finite: the factors of the iteration before stay.
        """
        check_pair(train, validation)
        checkpoint_every = check_count(checkpoint_every, "checkpoint_every")
        rng = check_random_state(self.random_state)
        run = {}
        if checkpoint is not None or resume is not None:
            run = describe(self._params(), train, validation)
        if checkpoint is not None:
            checkpoint = check_writable(checkpoint)
        U, V, rows = self._start(train, rng, run, resume)
        self.train_ = train
        self._keep(U, V, rows)

        def write() -> None:
            if checkpoint is not None:
                write_checkpoint(checkpoint, run, U, V, self._rows, rng)

        with threads(self.n_threads, train), interrupt_flag() as interrupted:
            problem = Problem(train, validation)
            auto = self.learning_rate == "auto"
            rate = suitable_learning_rate(problem, self.reg) if auto else self.learning_rate
            self.learning_rate_ = float(rate)
            self._gradients(problem, U, V)
            due = False
            for iteration in progress(len(rows) + 1, self.n_iter):
                U, V = self._iterate(problem, U, V, rng, iteration)
                due = iteration % checkpoint_every == 0 or iteration == self.n_iter
                if due:
                    write()
                if (callback is not None and callback(iteration, self)) or interrupted():
                    break
            if not due:
                write()
        return self

    def _start(self, train: Ratings, rng, run: dict, resume) -> tuple:
        """U, V and the history's rows: drawn and empty, or as a checkpoint left them."""
        if resume is None:
            U = rng.normal(0.0, self.init_scale, (train.n_users, self.n_factors))
            V = rng.normal(0.0, self.init_scale, (train.n_items, self.n_factors))
            return U, V, []
        return read_checkpoint(resume, run, rng, self.n_iter)

    def _iterate(self, problem: Problem, U, V, rng, iteration: int) -> tuple:
        """U, V after one more iteration, kept with their row of the history."""
        U_new, V_new = self._step(problem, U, V, rng)
        with np.errstate(over="ignore", invalid="ignore"):
            moved = np.sqrt(np.sum((U_new - U) ** 2) + np.sum((V_new - V) ** 2))
            objective = self._gradients(problem, U_new, V_new)
        self._refuse_non_finite(objective, iteration)
        row = (iteration, objective, moved / self.learning_rate_)
        gap = problem.validation_gap(U_new, V_new)
        self._keep(U_new, V_new, [*self._rows, (*row, gap)])
        return U_new, V_new

    def _step(self, problem: Problem, U, V, rng) -> tuple[np.ndarray, np.ndarray]:
        """One iteration of Algorithm 2 from U^(t), V^(t), whose gradients `problem` holds."""
        U_new = U + self.learning_rate_ * problem.user_gradient
        random = self.selection == "random" and self.n_selected is not None
        if random or self.update == "sequential":
            selected = problem.select(self.n_selected, self.selection, rng)
        if self.update == "sequential":
            V_new = V.copy()
            kernels.update_items_in_turn(
                U, V_new, problem.indptr, problem.items, problem.grades, problem.cumulative,
                selected, self.inner_sum == "selected", self.reg, self.learning_rate_,
            )  # fmt: skip
        else:
            if random:
                self._gradients(problem, U, V, marks=selected)
            V_new = V + self.learning_rate_ * problem.item_gradient
        return U_new, V_new

    def _gradients(self, problem: Problem, U, V, marks=None) -> float:
        """F at U, V, whose gradients `problem` then holds; V's from the selected ratings."""
        return problem.gradients(
            U, V, self.reg, marks=marks, inner_selected=self.inner_sum == "selected",
            n_selected=self.n_selected if self.selection == "adaptive" else None,
        )  # fmt: skip

    def _keep(self, U, V, rows: list) -> None:
        self.user_factors_, self.item_factors_, self._rows = U, V, rows
        self.n_iter_ = len(rows)

    def _refuse_non_finite(self, objective: float, iteration: int) -> None:
        if not np.isfinite(objective):
            raise FloatingPointError(
                f"training left the finite numbers in iteration {iteration}; try a learning_rate "
                f"below {self.learning_rate_:g}, such as {self.learning_rate_ / 10:g}. The factors "
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

        Gradient ascent by (10) from zero, with `learning_rate_`, λ and this model's number of
        iterations: what training did to its own users, but that V has arrived.
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
            u = u + self.learning_rate_ * user_gradient(
                u, V, grades, delta=delta, reg=self.reg
            )
        return u

    # ------------------------------------------------------------------ keeping it

    def save(self, path) -> None:
        """Write the fitted model to `path`, a .npz file, without pickle.

        Written beside and renamed, so an existing file is replaced whole or not at all. A
        Generator given as `random_state` is not kept. Raises ValueError before `fit`, and for
        ids of mixed types.
        """
        self._check_fitted()
        factors = (self.user_factors_, self.item_factors_, self._rows)
        write_model(path, self._params(), self.learning_rate_, self.train_, *factors)

    @classmethod
    def load(cls, path) -> "GAPfm":
        """Read a model that `save` wrote; it predicts, recommends and folds in as before.

        Raises FileNotFoundError, or ValueError for a file that is not such a model or comes from
        a newer version.
        """
        model, rate, train, factors = read_model(path, cls)
        model.learning_rate_, model.train_ = rate, train
        model._keep(*factors)
        return model

    def _params(self) -> dict:
        """The parameters by name, as a file can hold them."""
        params = {name: getattr(self, name) for name in signature(type(self)).parameters}
        seed = self.random_state
        keeps = seed is not None and not isinstance(seed, np.random.Generator)
        params["random_state"] = index(seed) if keeps else None
        return params
