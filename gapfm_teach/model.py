"""GAPfm, the Graded Average Precision factor model: learning it, and what a model is for."""

from dataclasses import asdict, fields
from difflib import get_close_matches
from inspect import signature
from typing import Any

import numpy as np

from ._support.checks import (
    check_count,
    check_grades,
    check_positions,
    check_random_state,
)
from .learning.ascent import Ascent
from .learning.checkpoint import (
    describe,
    read_checkpoint,
    read_model,
    write_checkpoint,
    write_model,
)
from .learning.machine import interrupt_flag, most_threads, threads
from .learning.objectives import OBJECTIVES, options_of
from .learning.place import check_place
from .learning.printed import Printed
from .learning.recommender import Recommender, check_pair
from .learning.training import Iteration, State, ascend, held_out_gap
from .ratings import Ratings


class GAPfm(Ascent, Recommender):
    """Latent factors of users and items that maximise smoothed GAP (9), by Algorithm 2.

    With objective="consistent" they maximise GAP with smooth ranks among all items instead, which
    repairs (7) and (8), or with another name another measure with such ranks; see `repaired`.
    Scores are then <U_m, V_i> + b_i.

    Parameters
    ----------
    n_factors : int, D >= 1.
    objective : "paper", (9); "consistent", GAP with smooth ranks; "geometric", the geometric mean
        in the place of GAP's arithmetic one (`repaired.power_mean`); or, with the same ranks, what
        `metrics` has under the same name: "average_precision" (all that is rated is relevant),
        "graded_precision", "graded_recall" or "expected_reciprocal_rank". All but "paper" climb
        by Adagrad: γ is what a coordinate moves by in the first iteration, whatever the data, and
        λ counts for b too.
    reg : float, λ >= 0, or None for the objective's own: 0.001 for "paper", 2.5 for
        "geometric", a sum over ratings, 0.06 for the others, sums over users.
        Counted once for U and V, as in (9).
    learning_rate : float, γ > 0, "auto", or None for the objective's own: 0.01 for "paper", 1
        for "geometric", 0.3 for the others. What works for "paper" depends on how many ratings the users have: the
        gradient is a sum over pairs. About 1e-2 for 10 ratings a user, less for more.
        "auto" takes γ = ½ / (σ_max(C) + λ), with C = ∂F/∂f at f = 0: small factors then grow by
        half in an iteration, whatever the data; see `learning.automatic_step`. It suits any
        Given-N and any size, but no γ cures (8) of its degenerate optimum: when to stop remains
        for validation to say. For other objectives it is their own.
    n_iter : int >= 1, iterations (itermax).
    init_scale : float > 0, standard deviation of the normal start of U and V, or None for the
        objective's own: 0.01 for "paper", which names none but works best from a small start,
        0.3 for the others.
    random_state : None, int or numpy Generator; an int makes `fit` repeatable to the last bit,
        whatever the number of threads.
    n_threads : int, or None for numba's own number (one where the data are few). Set for the time
        of `fit` only.
    options : what the objective alone knows, kept checked in `options`; any other is refused, so
        that no model carries a parameter that does nothing.
        For "paper" (`learning.printed.Printed`): n_selected=None, the K of Algorithm 1;
        selection="adaptive" or "random"; update="batch" or "sequential"; inner_sum="rated" or
        "selected".
        For all others (`learning.consistent.Consistent`): temperature=1.0, τ; n_negatives=200,
        unrated items of each user that an iteration sees; unrated_weight, what one counts in
        a rank, 0.1 for "geometric" and 0.05 for the others. Besides, cutoff=5 for graded precision
        and recall, and exponent=0.0 for "geometric", p of the power mean.

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

    >>> from gapfm_teach import GAPfm, simulate_ratings
    >>> ratings = simulate_ratings(100, 40, mean_ratings=15, random_state=0)
    >>> model = GAPfm(n_factors=3, random_state=0).fit(ratings)
    >>> ratings.titles[model.recommend(user=0, n=3)].tolist()
    ['Film 2', 'Film 5', 'Film 3']
    """

    user_factors_: np.ndarray
    item_factors_: np.ndarray
    item_bias_: np.ndarray
    options: Any  # of the objective's own kind

    def __init__(
        self,
        n_factors: int = 10,
        *,
        objective: str = "paper",
        reg: float | None = None,
        learning_rate: float | str | None = None,
        n_iter: int = 60,
        init_scale: float | None = None,
        random_state=None,
        n_threads: int | None = None,
        **options,
    ):
        super().__init__(
            n_factors, objective, reg, learning_rate, n_iter, init_scale, random_state
        )
        most = most_threads()
        self.n_threads = (
            None if n_threads is None else check_count(n_threads, "n_threads", high=most)
        )
        _refuse_unheard_of(objective, options)
        self.options = options_of(objective, options)

    def __repr__(self) -> str:
        rate = "'auto'" if self.learning_rate == "auto" else f"{self.learning_rate:g}"
        return (
            f"GAPfm(n_factors={self.n_factors}, objective={self.objective!r}, "
            f"reg={self.reg:g}, learning_rate={rate}; {self._state})"
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
        all; never the ratings. A process that is killed loses the iterations since then. No file
        may be there yet but the one that is resumed from.
        `resume`: a path that `checkpoint` wrote; goes on from there to the same bits as a
        training without the break. `n_iter` counts from the very start and may be raised. Give
        both to continue a run and keep it safe: `fit(train, checkpoint=p, resume=p)`.
        Raises ValueError for unfit ratings, and for a checkpoint of other data or parameters,
        naming them; TypeError for a path that is none; FileNotFoundError for nothing to resume
        from; OSError, before training, for a checkpoint that cannot be written, FileExistsError
        where it would replace another file; FloatingPointError, naming the iteration, when a
        value is no longer finite: the factors of the iteration before stay, and where there is
        none the model stays as it was.
        """
        check_pair(train, validation)
        checkpoint_every = check_count(checkpoint_every, "checkpoint_every")
        rng = check_random_state(self.random_state)
        run = {}
        if checkpoint is not None or resume is not None:
            run = describe(self._params(), train, validation)
        if checkpoint is not None:
            checkpoint = check_place(checkpoint, resume)
        climb, rows = OBJECTIVES[self.objective].climb, []
        if resume is None:
            state = climb.start(train, self.n_factors, self.init_scale, rng)
        else:
            state, rows = read_checkpoint(resume, run, rng, self.n_iter)

        def write() -> None:
            if checkpoint is not None:
                write_checkpoint(checkpoint, run, state, rows, rng)

        with threads(self.n_threads, train), interrupt_flag() as interrupted:
            goal = climb(
                self.objective, train, self.reg, self.learning_rate, self.options, rng
            )
            if rows:  # until an iteration is done, a model stays what it was
                self._keep(train, goal.learning_rate, state, rows)
            due = False
            for done in ascend(goal, state, first=len(rows) + 1, n_iter=self.n_iter):
                state, rows = done.state, [*rows, _row(goal, done, train, validation)]
                self._keep(train, goal.learning_rate, state, rows)
                due = done.number % checkpoint_every == 0 or done.number == self.n_iter
                if due:
                    write()
                if (callback is not None and callback(done.number, self)) or interrupted():
                    break
            if not due:
                write()
        return self

    def _keep(self, train: Ratings, rate: float, learned: State, rows: list) -> None:
        """Be a model that has learned this from `train`."""
        self.train_, self.learning_rate_ = train, rate
        for name in OBJECTIVES[self.objective].climb.learned:
            setattr(self, f"{name}_", learned[name])
        self._rows, self.n_iter_ = rows, len(rows)

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

        Somebody new with the ratings of user 0 likes best what she does:

        >>> from gapfm_teach import GAPfm, simulate_ratings
        >>> ratings = simulate_ratings(100, 40, mean_ratings=15, random_state=0)
        >>> model = GAPfm(n_factors=3, random_state=0).fit(ratings)
        >>> scores = model.item_factors_ @ model.fold_in(*ratings.row(0))
        >>> int(scores.argmax()), int(model.predict(0).argmax())
        (0, 0)
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
        return OBJECTIVES[self.objective].climb.fold_in(self, items, grades)

    # ------------------------------------------------------------------ keeping it

    def save(self, path) -> None:
        """Write the fitted model to `path`, a .npz file, without pickle.

        It holds the ratings of `train_` too, without times. `handover.qmd` lists its arrays and has the code that
        scores and folds in without this package.
        Written beside and renamed, so an existing file is replaced whole or not at all; a link
        stays, and the file behind it is replaced. As in all paths that this package takes, `~` is
        your home folder. A Generator given as `random_state` is not kept.
        Raises ValueError before `fit`, for ids of mixed types, and where `path` is a folder or a
        device; TypeError for no path; OSError where nothing can be written.
        """
        self._check_fitted()
        names = OBJECTIVES[self.objective].climb.learned
        learned = {name: getattr(self, f"{name}_") for name in names}
        kept = (self.learning_rate_, self.train_, learned, self._rows)
        write_model(path, self._params(), *kept)

    @classmethod
    def load(cls, path) -> "GAPfm":
        """Read a model that `save` wrote; it predicts, recommends and folds in as before.

        Raises FileNotFoundError, or ValueError for a file that is not such a model or comes from
        a newer version.
        """
        model, *kept = read_model(path, cls._of)
        model._keep(*kept)
        return model

    @classmethod
    def _of(cls, **params) -> "GAPfm":
        """A model of a file's parameters. Older files name options that the objective has not."""
        if params.get("objective", "paper") != "paper":
            params = {k: v for k, v in params.items() if k not in asdict(Printed())}
        return cls(**params)

    def _params(self) -> dict:
        """The parameters that count, by name, as a file can hold them."""
        params = super()._params() | {"n_threads": self.n_threads} | asdict(self.options)
        if self.objective != "paper":  # as files were before there was a choice
            params["objective"] = self.objective
        return params


def _refuse_unheard_of(objective: str, given: dict[str, Any]) -> None:
    """Raise TypeError, naming what it may have been meant to be, for what no objective knows."""
    own = {name: [f.name for f in fields(o.options)] for name, o in OBJECTIVES.items()}
    unheard_of = [
        name for name in given if name not in {n for names in own.values() for n in names}
    ]
    if not unheard_of:
        return
    name = unheard_of[0]
    general = [n for n in signature(GAPfm).parameters if n != "options"]
    known = [*general, *own[objective]]
    closest = get_close_matches(name, known, n=1)
    listed = ", ".join([*closest, *(n for n in known if n not in closest)])
    meant = f"; did you mean {closest[0]}?" if closest else "."
    raise TypeError(
        f"GAPfm has no parameter {name}={given[name]!r}{meant} With objective={objective!r} it "
        f"has {listed}"
    )


def _row(goal, done: Iteration, train: Ratings, validation: Ratings | None) -> tuple:
    """An iteration's line of the history."""
    gap = float("nan")
    if validation is not None:
        U, V = goal.factors(done.state)
        gap = held_out_gap(U, V, train, validation)
    return done.number, done.objective, done.moved / goal.learning_rate, gap
