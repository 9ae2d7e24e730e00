"""GAPfm, the Graded Average Precision factor model: learning it, and what a model is for."""

import numpy as np

from ._support.checks import check_count, check_grades, check_positions, check_random_state
from .ratings import Ratings
from .training.automatic_step import suitable_learning_rate
from .training.checkpoint import CheckpointManager, read_model, write_model
from .training.data import TrainingData
from .training.estimator import Estimator, Settings
from .training.fold_in import fold_in
from .training.loop import Iteration, State, Training, fit_factors, held_out_gap
from .training.machine import interrupt_flag, most_threads, threads
from .training.recommender import Recommender, check_pair


class GAPfm(Estimator, Recommender):
    """Latent factors of users and items that maximise smoothed GAP (9), by Algorithm 2.

    With objective="consistent" they maximise GAP with smooth ranks among all items instead, which
    repairs (7) and (8), or with another name another measure with such ranks; see `consistent`.
    Scores are then <U_m, V_i> + b_i.

    Parameters
    ----------
    n_factors : int, D >= 1.
    objective : "paper", (9); "consistent", GAP with smooth ranks; "geometric", the geometric mean
        in the place of GAP's arithmetic one (`consistent.power_mean`); or, with the same ranks, what
        `metrics` has under the same name: "average_precision" (all that is rated is relevant),
        "graded_precision", "graded_recall" or "expected_reciprocal_rank". All but "paper" are
        maximised by Adagrad: γ is what a parameter moves by in the first iteration, whatever the
        data, and λ counts for b too.
    reg : float, λ >= 0, or None for the objective's own: 0.001 for "paper", 2.5 for
        "geometric", a sum over ratings, 0.06 for the others, sums over users.
        Counted once for U and V, as in (9).
    learning_rate : float, γ > 0, "auto", or None for the objective's own: 0.01 for "paper", 1
        for "geometric", 0.3 for the others. What works for "paper" depends on how many ratings the
        users have: the gradient is a sum over pairs. About 1e-2 for 10 ratings a user, less for more.
        "auto" takes γ = ½ / (σ_max(C) + λ), with C = ∂F/∂f at f = 0: small factors then grow by
        half in an iteration, whatever the data; see `training.automatic_step`. It suits any
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

    The objective's own options; one that it does not have must be left at its default, so that no
    model carries a parameter that does nothing.
    Of "paper" (`training.objectives.PaperObjective`): n_selected, the K of Algorithm 1, or None for
    all; selection, "adaptive" or "random"; update, "batch" or "sequential"; inner_sum, "rated" or
    "selected".
    Of all others (`training.objectives.SmoothRankObjective`): temperature, τ; n_negatives, unrated
    items of each user that an iteration sees; unrated_weight, what one counts in a rank, or None
    for 0.1 with "geometric" and 0.05 with the others. Besides, cutoff, n of graded precision and
    recall, and exponent, p of the power mean, of "geometric".

    `get_params` and `set_params` are as in scikit-learn, whose `clone` and `ParameterGrid` work.

    Attributes after `fit`
    ----------------------
    user_factors_ (n_users, D), item_factors_ (n_items, D), n_iter_ : iterations done.
    item_bias_ (n_items,) : b, unless objective="paper".
    history_ : DataFrame, a row an iteration: `iteration`; `objective` after it, (9) without 1/M,
        or Σ_m (smooth measure of m) - λ/2 (‖U‖² + ‖V‖² + ‖b‖²), from a sample; `gradient_norm`, the
        length of the step taken divided by γ; `validation_gap`, mean GAP over users of their
        validation items ranked among all items not in training (nan without validation).
    objective_ : the objective with its options; reg_, learning_rate_ : floats, the λ and γ used.
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

    def __init__(
        self, n_factors=10, *, objective="paper", reg=None, learning_rate=None, n_iter=60,
        n_selected=None, selection="adaptive", inner_sum="rated", update="batch",
        temperature=1.0, n_negatives=200, unrated_weight=None, cutoff=5, exponent=0.0,
        init_scale=None, random_state=None, n_threads=None,
    ):  # fmt: skip
        self.n_factors = n_factors
        self.objective = objective
        self.reg = reg
        self.learning_rate = learning_rate
        self.n_iter = n_iter
        self.n_selected = n_selected
        self.selection = selection
        self.inner_sum = inner_sum
        self.update = update
        self.temperature = temperature
        self.n_negatives = n_negatives
        self.unrated_weight = unrated_weight
        self.cutoff = cutoff
        self.exponent = exponent
        self.init_scale = init_scale
        self.random_state = random_state
        self.n_threads = n_threads

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
        settings, rng = self.settings(), check_random_state(self.random_state)
        every = check_count(checkpoint_every, "checkpoint_every")
        n_threads = self.n_threads
        if n_threads is not None:
            n_threads = check_count(n_threads, "n_threads", high=most_threads())
        checkpoints = CheckpointManager(checkpoint, resume, every, settings, rng)
        checkpoints.describe(train, validation)
        with threads(n_threads, train), interrupt_flag() as interrupted:
            training = _training(settings, train, rng)
            if resume is None:
                state = training.start(settings.n_factors, settings.init_scale, rng)
                rows: list[tuple] = []
            else:
                state, rows = checkpoints.read()
            if rows:  # until an iteration is done, a model stays what it was
                self._keep(settings, training, state, rows)
            for done in fit_factors(
                training, state, first=len(rows) + 1, n_iter=settings.n_iter
            ):
                state, rows = done.state, [*rows, _row(training, done, validation)]
                self._keep(settings, training, state, rows)
                checkpoints.after(done.number, state, rows)
                if (callback is not None and callback(done.number, self)) or interrupted():
                    break
            checkpoints.finish(state, rows)
        return self

    def _keep(
        self, settings: Settings, training: Training, state: State, rows: list
    ) -> None:
        """Be a model that has learned what `state` holds."""
        U, V = training.parameters(state)
        self.train_ = training.data.train
        learned = {"user_factors": U, **settings.item_arrays(V)}
        self._learn(settings, training.learning_rate, learned, rows)

    # ------------------------------------------------------------------ using it

    def _scores(self, user: int, items: np.ndarray | slice) -> np.ndarray:
        """f of (1), and b."""
        scores = self.item_factors_[items] @ self.user_factors_[user]
        return scores + self.item_bias_[items] if self.objective_.has_bias else scores

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
        return fold_in(self, items, grades)

    # ------------------------------------------------------------------ keeping it

    def save(self, path) -> None:
        """Write the fitted model to `path`, a .npz file, without pickle.

        It holds the ratings of `train_` too, without times. `pages/handover.qmd` lists its arrays and
        has the code that scores and folds in without this package.
        Written beside and renamed, so an existing file is replaced whole or not at all; a link
        stays, and the file behind it is replaced. As in all paths that this package takes, `~` is
        your home folder. A Generator given as `random_state` is not kept.
        Raises ValueError before `fit`, for ids of mixed types, and where `path` is a folder or a
        device; TypeError for no path; OSError where nothing can be written.
        """
        self._check_fitted()
        bias = (
            self.item_bias_ if self.objective_.has_bias else np.zeros(self.train_.n_items)
        )
        factors = {"user_factors": self.user_factors_, "item_factors": self.item_factors_}
        write_model(
            path, self._fitted.by_name(), self.learning_rate_, self.train_,
            factors | {"item_bias": bias}, self._rows,
        )  # fmt: skip

    @classmethod
    def load(cls, path) -> "GAPfm":
        """Read a model that `save` wrote; it predicts, recommends and folds in as before.

        Raises FileNotFoundError, or ValueError for a file that is not such a model or comes from
        another version.
        """
        model, settings, rate, train, learned, rows = read_model(path, cls)
        if not settings.objective.has_bias:
            del learned["item_bias"]
        model.train_ = train
        model._learn(settings, rate, learned, rows)
        return model


def _training(settings: Settings, train: Ratings, rng: np.random.Generator) -> Training:
    objective, data = settings.objective, TrainingData(train)
    rate = settings.rate(lambda: suitable_learning_rate(data, settings.reg))
    return Training(
        data, objective, objective.optimizer, settings.reg, rate, objective.selector(rng)
    )


def _row(training: Training, done: Iteration, validation: Ratings | None) -> tuple:
    """An iteration's line of the history."""
    gap = float("nan")
    if validation is not None:
        U, V = training.score_factors(done.state)
        gap = held_out_gap(U, V, training.data.train, validation)
    return done.number, done.objective, done.moved / training.learning_rate, gap
