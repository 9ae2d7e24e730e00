"""GAPfm, the Graded Average Precision factor model: the training loop, and what a model is for."""

from inspect import signature
from operator import index

import numba
import numpy as np
import pandas as pd

from .checkpoint import (
    check_writable,
    describe,
    read_checkpoint,
    read_model,
    write_checkpoint,
    write_model,
)
from .checks import (
    HIGHEST_POSITION,
    check_choice,
    check_count,
    check_grades,
    check_positions,
    check_random_state,
    check_real,
)
from .objectives import OBJECTIVES, State
from .ratings import Ratings
from .recommender import Recommender, check_pair
from .steps import check_learning_rate
from .training import interrupt_flag, progress, threads


class GAPfm(Recommender):
    """Latent factors of users and items that maximise smoothed GAP (9), by Algorithm 2.

    With objective="consistent" they maximise GAP with smooth ranks among all items instead, which
    repairs (7) and (8), or with another name another measure with such ranks; see `consistent`
    and `relatives`. Scores are then <U_m, V_i> + b_i.

    Parameters
    ----------
    n_factors : int, D >= 1.
    reg : float, λ >= 0, or None for the objective's own: 0.001 for "paper", 0.06 for the others.
        With update="batch" it is counted once for U and V, as in (9); with "sequential" an item
        is shrunk at each visit of a user, as (11) and Algorithm 2 read.
    learning_rate : float, γ > 0, "auto", or None for the objective's own: 0.01 for "paper", 0.3
        for the others. What works for "paper" depends on how many ratings the users have: the
        gradient is a sum over pairs. About 1e-2 for 10 ratings a user, less for more.
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
    init_scale : float > 0, standard deviation of the normal start of U and V, or None for the
        objective's own: 0.01 for "paper", which names none but works best from a small start,
        0.3 for the others.
    random_state : None, int or numpy Generator; an int makes `fit` repeatable to the last bit,
        whatever the number of threads.
    n_threads : int, or None for numba's own number (one where the data are few). Set for the time
        of `fit` only.
    objective : "paper", (9); "consistent", GAP with smooth ranks; or, with the same ranks, what
        `metrics` has under the same name: "average_precision" (all that is rated is relevant),
        "graded_precision", "graded_recall" or "expected_reciprocal_rank". All but "paper" climb
        by Adagrad: γ is what a coordinate moves by in the first iteration (0.3 for "auto"),
        whatever the data; λ counts for b too; `n_selected` and update="sequential" are refused.
        They alone use the rest:
    n_negatives : int n >= 1, unrated items of each user that an iteration sees, drawn anew; all
        where there are no more. An iteration holds n_users · n random numbers, 8 bytes each.
    temperature : float τ > 0, in the unit of the scores. "expected_reciprocal_rank" needs a low
        one, such as 0.1, where users have rated dozens of items; see `relatives`.
    unrated_weight : float > 0, what an unrated item counts in a rank where a rated one counts 1.
        Below 1 where what is unrated may well be liked.
    cutoff : int n >= 1, of graded precision and recall at n; without effect on the others.

    Attributes after `fit`
    ----------------------
    user_factors_ (n_users, D), item_factors_ (n_items, D), n_iter_ : iterations done.
    item_bias_ (n_items,) : b, unless objective="paper".
    history_ : DataFrame, a row an iteration: `iteration`; `objective` after it, (9) without 1/M,
        or Σ_m (smooth measure of m) - λ/2 (‖U‖² + ‖V‖² + ‖b‖²), from a sample; `gradient_norm`, the
        length of the step taken divided by γ; `validation_gap`, mean GAP over users of their
        validation items ranked among all items not in training (nan without validation).
    learning_rate_ : float, the γ used.
    train_ : the Ratings fitted to.

    Source: sections 4.2-4.3 and Algorithms 1-2.
    """

    user_factors_: np.ndarray
    item_factors_: np.ndarray
    item_bias_: np.ndarray

    def __init__(
        self,
        n_factors: int = 10,
        *,
        reg: float | None = None,
        learning_rate: float | str | None = None,
        n_iter: int = 60,
        n_selected: int | None = None,
        selection: str = "adaptive",
        inner_sum: str = "rated",
        update: str = "batch",
        init_scale: float | None = None,
        random_state=None,
        n_threads: int | None = None,
        objective: str = "paper",
        n_negatives: int = 200,
        temperature: float = 1.0,
        unrated_weight: float = 0.05,
        cutoff: int = 5,
    ):
        self.n_factors = check_count(n_factors, "n_factors")
        self.objective = check_choice(objective, "objective", tuple(OBJECTIVES))
        own = OBJECTIVES[objective].defaults
        self.reg = check_real(own["reg"] if reg is None else reg, "reg")
        self.learning_rate = check_learning_rate(
            own["learning_rate"] if learning_rate is None else learning_rate
        )
        self.n_iter = check_count(n_iter, "n_iter")
        self.n_selected = (
            None if n_selected is None else check_count(n_selected, "n_selected")
        )
        self.selection = check_choice(selection, "selection", ("adaptive", "random"))
        self.inner_sum = check_choice(inner_sum, "inner_sum", ("rated", "selected"))
        self.update = check_choice(update, "update", ("batch", "sequential"))
        self.init_scale = check_real(
            own["init_scale"] if init_scale is None else init_scale,
            "init_scale",
            low_open=True,
        )
        self.random_state = random_state
        check_random_state(random_state)
        most = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
        self.n_threads = (
            None if n_threads is None else check_count(n_threads, "n_threads", high=most)
        )
        self.n_negatives = check_count(n_negatives, "n_negatives")
        self.temperature = check_real(temperature, "temperature", low_open=True)
        self.unrated_weight = check_real(unrated_weight, "unrated_weight", low_open=True)
        self.cutoff = check_count(cutoff, "cutoff", high=HIGHEST_POSITION)
        if objective != "paper" and (self.n_selected or update != "batch"):
            got = f"n_selected={n_selected!r} and update={update!r}"
            raise ValueError(f"objective={objective!r} knows no {got}; leave them out")

    def __repr__(self) -> str:
        state = f"fitted, {self.n_iter_} iterations" if self._is_fitted else "not fitted"
        rate = "'auto'" if self.learning_rate == "auto" else f"{self.learning_rate:g}"
        how = "update" if self.objective == "paper" else "objective"
        return (
            f"GAPfm(n_factors={self.n_factors}, reg={self.reg:g}, "
            f"learning_rate={rate}, {how}={getattr(self, how)!r}; {state})"
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
        kind = OBJECTIVES[self.objective]
        if resume is None:
            state, rows = kind.start(self, train, rng), []
        else:
            state, rows = read_checkpoint(resume, run, rng, self.n_iter)
        self.train_ = train
        self._keep(state, rows)

        def write() -> None:
            if checkpoint is not None:
                write_checkpoint(checkpoint, run, state, self._rows, rng)

        with threads(self.n_threads, train), interrupt_flag() as interrupted:
            goal = kind(self, train, validation)
            self.learning_rate_ = goal.learning_rate
            goal.gradients(state, len(rows) + 1)
            due = False
            for iteration in progress(len(rows) + 1, self.n_iter):
                state = self._iterate(goal, state, rng, iteration)
                due = iteration % checkpoint_every == 0 or iteration == self.n_iter
                if due:
                    write()
                if (callback is not None and callback(iteration, self)) or interrupted():
                    break
            if not due:
                write()
        return self

    def _iterate(self, goal, state: State, rng, iteration: int) -> State:
        """Where training stands after one more iteration, kept with its row of the history."""
        with np.errstate(over="ignore", invalid="ignore"):
            new = goal.step(state, rng)
            moved = np.sqrt(sum(np.sum((new[x] - state[x]) ** 2) for x in goal.learned))
            objective = goal.gradients(new, iteration + 1)
        self._refuse_non_finite(objective, iteration)
        row = (iteration, objective, moved / self.learning_rate_)
        self._keep(new, [*self._rows, (*row, goal.validation_gap(new))])
        return new

    def _keep(self, state: State, rows: list) -> None:
        for name in OBJECTIVES[self.objective].learned:
            setattr(self, f"{name}_", state[name])
        self._rows, self.n_iter_ = rows, len(rows)

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
        """f of (1), and b."""
        scores = self.item_factors_[items] @ self.user_factors_[user]
        return scores if self.objective == "paper" else scores + self.item_bias_[items]

    def fold_in(self, items, grades) -> np.ndarray:
        """The factors (D,) of a new user from a few grades, with V held fixed.

        Gradient ascent by (10), or by Adagrad, from zero, with `learning_rate_`, λ and this
        model's number of iterations: what training did to its own users, but that V has arrived.
        `items`: distinct positions (S,); `grades`: (S,) from 1 to the training data's highest.
        Score all items by `item_factors_ @ fold_in(...)`, + `item_bias_` where there is one.
        Raises ValueError for unequal lengths, repeated items, or grades out of range.
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
        if grades.max(initial=0) > self.train_.max_grade:
            raise ValueError(
                f"grades must be at most {self.train_.max_grade}, got {grades.max()}"
            )
        return OBJECTIVES[self.objective].fold_in(self, items, grades)

    # ------------------------------------------------------------------ keeping it

    def save(self, path) -> None:
        """Write the fitted model to `path`, a .npz file, without pickle.

        It holds the ratings of `train_` too. `handover.qmd` lists its arrays and has the code that
        scores and folds in without this package.
        Written beside and renamed, so an existing file is replaced whole or not at all; a link
        stays, and the file behind it is replaced. As in all paths that this package takes, `~` is
        your home folder. A Generator given as `random_state` is not kept.
        Raises ValueError before `fit`, for ids of mixed types, and where `path` is a folder or a
        device; TypeError for no path; OSError where nothing can be written.
        """
        self._check_fitted()
        names = OBJECTIVES[self.objective].learned
        learned = {name: getattr(self, f"{name}_") for name in names}
        kept = (self.learning_rate_, self.train_, learned, self._rows)
        write_model(path, self._params(), *kept)

    @classmethod
    def load(cls, path) -> "GAPfm":
        """Read a model that `save` wrote; it predicts, recommends and folds in as before.

        Raises FileNotFoundError, or ValueError for a file that is not such a model or comes from
        a newer version.
        """
        model, rate, train, learned, rows = read_model(path, cls)
        model.learning_rate_, model.train_ = rate, train
        model._keep(learned, rows)
        return model

    def _params(self) -> dict:
        """The parameters that count, by name, as a file can hold them."""
        params = {name: getattr(self, name) for name in signature(type(self)).parameters}
        if not self.objective.startswith("graded"):  # as files were before there was one
            del params["cutoff"]
        if self.objective == "paper":  # likewise
            for name in ("objective", "n_negatives", "temperature", "unrated_weight"):
                del params[name]
        seed = self.random_state
        keeps = seed is not None and not isinstance(seed, np.random.Generator)
        params["random_state"] = index(seed) if keeps else None
        return params
