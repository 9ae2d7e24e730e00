"""`DistributedGAPfm`: the training loop of `GAPfm` over partitions of the users."""

from contextlib import nullcontext
from pathlib import Path

import numpy as np
from distributed import Client

from .._support.checks import check_count, check_path, check_random_state
from .._support.files import content_hash
from .._support.parquet import read_manifest
from ..model import GAPfm
from ..ratings import Ratings
from ..training.estimator import HISTORY, Estimator, Settings
from ..training.loop import fit_factors
from .graph import Graph, Pass, State
from .lost import is_loss, translate_cluster_errors
from .storage import CheckpointManager, Row, describe, lock_dir, read_state
from .tasks import Method


class _OverParts:
    """The objective over the parts, for `loop.fit_factors`: a pass finds it, and makes the next
    step's factors."""

    def __init__(self, graph: Graph, learning_rate: float, checkpoints: CheckpointManager):
        self._graph, self._checkpoints = graph, checkpoints
        self.learning_rate = learning_rate
        self.written: Path | None = None  # the folder of the last step's factors

    def gradients(self, state: State, iteration: int) -> tuple[float, Pass]:
        found = self._graph.run_pass(state, iteration - 1, self.learning_rate)
        return found.objective, found

    def step(self, state: State, found: Pass, iteration: int) -> tuple[State, float]:
        # Written before the pass, whose results then depend on the files alone. What a step of no
        # finite length led to is not for files: its objective is not finite, either. Nor what came
        # from such an objective: Adagrad's squares may be infinite, and its step 0.
        new, finite = found.state, np.isfinite([found.objective, found.moved]).all()
        self.written = self._checkpoints.new_folder(iteration) if finite else None
        if self.written is not None:
            new = self._graph.write(self.written, new, iteration)
        return new, float(np.sqrt(found.moved))


class DistributedGAPfm(Estimator):
    """`GAPfm` on a cluster, with any objective: the same factors, but for the rounding of sums
    over users.

    "paper" has none of its options here, and always update="batch" and all of a user's ratings:
    an update user after user cannot be shared out. What was learned becomes a `GAPfm`, with all
    that one can do, by `to_gapfm`.

    Parameters: `n_factors`, `objective`, `reg`, `learning_rate`, `n_iter`, `init_scale`,
    `random_state`, and the options of every objective but "paper", as of `GAPfm`, with the same
    defaults.

    Attributes after `fit`
    ----------------------
    item_factors_ (n_items, D), n_iter_, learning_rate_ : as of `GAPfm`.
    item_bias_ (n_items,) : b, unless objective="paper".
    history_ : DataFrame, a row an iteration: `iteration`; `objective` after it, as of `GAPfm`;
        `gradient_norm`, the length of the step taken divided by γ.

    Source: Algorithm 2 and section 4.3, which updates U in parallel, and V not.
    """

    item_factors_: np.ndarray
    item_bias_: np.ndarray
    _columns = HISTORY[:3]
    _fit_call = "fit(folder, client)"

    def __init__(
        self, n_factors=10, *, objective="paper", reg=None, learning_rate=None, n_iter=60,
        temperature=1.0, n_negatives=200, unrated_weight=None, cutoff=5, exponent=0.0,
        init_scale=None, random_state=None,
    ):  # fmt: skip
        self.n_factors = n_factors
        self.objective = objective
        self.reg = reg
        self.learning_rate = learning_rate
        self.n_iter = n_iter
        self.temperature = temperature
        self.n_negatives = n_negatives
        self.unrated_weight = unrated_weight
        self.cutoff = cutoff
        self.exponent = exponent
        self.init_scale = init_scale
        self.random_state = random_state

    def fit(
        self,
        folder,
        client: Client,
        *,
        checkpoint=None,
        checkpoint_every: int = 5,
        resume=None,
    ) -> "DistributedGAPfm":
        """Learn from the ratings in `folder`, written by `Ratings.to_parquet`; returns self.

        `client`: of a running Dask cluster. Each of the folder's parts is read by one worker and
        stays there with its users' factors: write at least one part for each worker. Parts and
        results travel only when a worker is lost or Dask finds one idle.
        `checkpoint`: an empty or new folder, or the one that is resumed from, where every
        `checkpoint_every` iterations and at the end the factors and the history are written,
        whole or not at all, in place of those before; no other training may write there
        meanwhile. A lost worker sends the training back to the last one, without any to its
        start: the workers keep each V since then, and Dask's scheduler each task.
        `resume`: a folder that `checkpoint` wrote; goes on from there to the factors that a
        training without the break finds. `n_iter` counts from the very start and may be raised.
        Workers must see all these folders under the same names.

        Raises TypeError for a client or path that is none; ValueError for a client that is closed
        or asynchronous, and for a cluster without workers; FileNotFoundError or ValueError for
        missing or damaged files, unfit ratings, and a checkpoint of other data or parameters,
        naming them; OSError, before training, for a checkpoint that cannot be written, holds
        something else or is another training's; RuntimeError, telling what was saved, where the
        cluster is lost; FloatingPointError, naming the iteration, when a value is no longer
        finite: the factors of the iteration before stay, and where there is none the model stays
        as it was.
        """
        _check_client(client)
        settings = self.settings()
        every = check_count(checkpoint_every, "checkpoint_every")
        folder = check_path(folder, "folder", "pass one that Ratings.to_parquet wrote")
        data = read_manifest(folder)
        if data.n_ratings == 0:
            raise ValueError(f"{folder} has 0 ratings; there is nothing to learn from")
        run = describe(settings, data)
        locked = nullcontext() if checkpoint is None else lock_dir(checkpoint, resume)
        with locked as checkpoint_path:
            checkpoints = CheckpointManager(checkpoint_path, every, settings.n_iter, run)
            rows: list[Row] = []
            if resume is not None:
                checkpoints.last, rows = read_state(resume, run, settings.n_iter)
            with translate_cluster_errors(client, checkpoints, rows):
                method = Method(settings.objective, settings.n_factors, settings.reg)
                graph = Graph(client, folder.absolute(), data, method)
                self._train(graph, settings, rows, checkpoints)
        return self

    def _train(
        self,
        graph: Graph,
        settings: Settings,
        rows: list[Row],
        checkpoints: CheckpointManager,
    ) -> None:
        """All iterations after those of `rows`.

        `state` alone holds what training began with: the workers would keep it, and all that it
        needs.
        """
        rate = settings.rate(graph.learning_rate)
        training = _OverParts(graph, rate, checkpoints)
        if checkpoints.last is not None:
            state = graph.read(*checkpoints.last)
        else:
            state = graph.start(check_random_state(self.random_state), settings.init_scale)
        n_iter = settings.n_iter
        try:
            for done in fit_factors(training, state, first=len(rows) + 1, n_iter=n_iter):
                state = done.state
                rows.append((done.number, done.objective, done.moved / rate))
                if training.written is not None:
                    checkpoints.commit(training.written, rows, state.sample_key)
        except FloatingPointError:
            if rows:  # until an iteration is done, a model stays what it was
                self._keep(graph, settings, state, rows, rate)
            raise
        self._keep(graph, settings, state, rows, rate)

    def _keep(
        self, graph: Graph, settings: Settings, state: State, rows: list[Row], rate: float
    ) -> None:
        # A lost cluster leaves the fit before as it was.
        V = graph.method.parameters(state.items.result())
        self._data, self._method, self._users = graph.data, graph.method, state.users
        self._learn(settings, rate, settings.item_arrays(V), rows)

    def user_factors(self) -> np.ndarray:
        """U, (n_users, D), in the order of the ratings, brought here from the workers.

        Raises NotFittedError before `fit`, ValueError where the cluster is gone.
        """
        self._check_fitted()
        client = self._users[0].client
        try:
            return self._method.parameters(np.concatenate(client.gather(self._users)))
        except Exception as error:
            if not is_loss(client, error):
                raise
            raise ValueError(
                "the user factors were on the workers of a cluster that is closed or lost; ask "
                "for them before, or fit with checkpoint= and then resume= on a new one"
            ) from error

    def to_gapfm(self, train: Ratings) -> GAPfm:
        """A `GAPfm` with these factors, which predicts, recommends, folds in and saves.

        `train`: the ratings learned from, `Ratings.from_parquet(folder)`. Raises ValueError for
        others, and as `user_factors` does.
        """
        self._check_fitted()
        content, data = content_hash(train.indptr, train.indices, train.grades), self._data
        found = content, train.n_items, train.max_grade
        if found != (data.hash, data.n_items, data.max_grade):
            raise ValueError(
                f"train, {train!r}, is not what was learned from; pass "
                "Ratings.from_parquet(folder)"
            )
        model = GAPfm(**self.get_params())
        learned = {"user_factors": self.user_factors(), "item_factors": self.item_factors_}
        if self.objective_.has_bias:
            learned["item_bias"] = self.item_bias_
        model.train_ = train
        rows = [(*row, float("nan")) for row in self._rows]
        model._learn(self._fitted, self.learning_rate_, learned, rows)
        return model


def _check_client(client) -> None:
    if not isinstance(client, Client):
        raise TypeError(
            f"client must be a distributed.Client, got {client!r}; pass Client(cluster)"
        )
    if client.status != "running" or client.asynchronous:
        state = "asynchronous" if client.asynchronous else client.status
        raise ValueError(
            f"client is {state}; pass Client(cluster) of a running cluster, not asynchronous"
        )
