"""Which tasks make an iteration, and where they run.

U and the ratings of a part stay on the worker that holds them. An iteration hands V out from
worker to worker, each to two others, and adds the parts' ∂F/∂V in pairs up a tree, at whose root
the next V is made. The client sees two numbers of it. Where there is a b, V stands for (V, b).

A worker that dies takes its U along. Dask then computes again what is needed for it, back to the
last result that is still somewhere, at worst to the last checkpoint (the start, without one). The
V since the checkpoint (or the start) are kept for this: with them a lost part is repeated without
the others, unless the only copy of one of them is lost, too. Adagrad's squares of the items are
at the root alone: when it is lost, all parts are repeated. The tree depends on the number of parts
only: the repeated sums have the same bits.
"""

import copy
from itertools import accumulate, pairwise
from operator import getitem
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import numpy as np
from distributed import Client, Future, SchedulerPlugin, wait

from .._support.parquet import Manifest
from ..training.automatic_step import normalise, power_iteration, rate_for
from ..training.objectives import configured
from ..training.sampling import IterationContext, sample_key
from . import tasks
from .tasks import Method

_DRAWN_AT_ONCE = 2**20


class State(NamedTuple):
    """Where training stands, on the workers: the users by partition, and the items, in rows as in
    `tasks.Method`; and what its samples depend on."""

    users: list[Future]
    items: Future
    sample_key: list[int]


class Pass(NamedTuple):
    """What a pass found, the objective before it and the squared length of its step, and made."""

    objective: float
    moved: float
    state: State


class AnyWorker(SchedulerPlugin):
    """Lets a task that prefers a worker run elsewhere when there was none at all for a while.

    Dask forgets the preference where it finds other workers. Where it finds none it remembers it,
    and then waits for the lost worker's address for ever, whoever may come.
    """

    name, idempotent = "gapfm-any-worker", True

    async def start(self, scheduler):
        self._scheduler = scheduler

    def transition(self, key, start, finish, *_, **__):
        """Dask calls this on the scheduler whenever a task changes its state."""
        if finish == "no-worker" and self._scheduler.tasks[key].loose_restrictions:
            self._scheduler.set_restrictions({key: None})


class Graph:
    """The tasks of one training on the ratings in `folder`."""

    def __init__(self, client: Client, folder: Path, data: Manifest, method: Method):
        self._client, self.data, self.method = client, data, method
        self._token = uuid4().hex
        self._kept: list[Future] = []
        workers = sorted(client.nthreads())
        if not workers:
            raise ValueError("the cluster has no workers; start some before fit")
        client.register_plugin(AnyWorker())
        n_parts = len(data.parts)
        # Neighbours on one worker: their sums, low in the tree, then need no network.
        self._owners = [workers[p * len(workers) // n_parts] for p in range(n_parts)]
        self._ratings = self._by_part(
            "load", 0, tasks.load,
            [(folder, part, data.n_items, data.max_grade) for part in data.parts],
        )  # fmt: skip
        # Dask takes a task of a kind it has not seen for long, and lets an idle worker steal it,
        # with the U that it is about. So it sees a short one first.
        _settled([*self._ratings, self._short("first", (), _same, None)])
        self._look_where(self._ratings)

    def _submit(self, kind: str, place: tuple, function, *args, worker=None, priority=0):
        return self._client.submit(
            function, *args, key=(f"gapfm_{kind}-{self._token}", *place), priority=priority,
            workers=worker, allow_other_workers=worker is not None,
        )  # fmt: skip

    def _by_part(self, kind: str, step: int, function, arguments: list) -> list[Future]:
        return [
            self._submit(kind, (step, p), function, *args, worker=self._owners[p])
            for p, args in enumerate(arguments)
        ]

    def _short(self, name: str, place: tuple, function, *args, worker=None) -> Future:
        """A task that only adds up or passes on: soon, for it frees memory."""
        place = (name, *place)
        return self._submit("short", place, function, *args, worker=worker, priority=1)

    def _at_root(self, name: str, place: tuple, function, *args) -> Future:
        """A short task that concerns all items, where the sums come together."""
        return self._short(name, place, function, *args, worker=self._owners[0])

    def _look_where(self, futures: list[Future]) -> None:
        """Let what is made of each part's `futures`, of results that are there, be made there."""
        where = self._client.who_has(futures)
        self._owners = [(where[future.key] or [None])[0] for future in futures]

    def _add_up(self, name: str, step: int, sums: list[Future]) -> Future:
        """The sum over the parts, in pairs of neighbours, on the worker of the first part."""
        here, level = self._owners, 0
        while len(sums) > 1:
            level, here = level + 1, here[::2]
            added = [
                self._short(name, (step, level, k), tasks.add, *pair, worker=here[k])
                for k, pair in enumerate(zip(sums[::2], sums[1::2], strict=False))
            ]
            sums = added + sums[2 * len(added) :]  # an odd one out waits for the next level
        return sums[0]

    def _hand_out(self, name: str, step: int, items: Future) -> list[Future]:
        """V for each part, on its worker. The first has it; each hands it on to two others.

        If all asked the first, it would have to send W - 1 times.
        """
        workers = list(dict.fromkeys(self._owners))
        copies = [items]
        for k, worker in enumerate(workers[1:], start=1):
            source = copies[(k - 1) // 2]
            copies.append(self._short(name, (step, k), _same, source, worker=worker))
        held = dict(zip(workers, copies, strict=True))
        return [held[owner] for owner in self._owners]

    def start(self, rng: np.random.Generator, scale: float) -> State:
        """U and V as `GAPfm` draws them, first U, then V, from one stream of random numbers.

        The workers draw. Only a pass over the stream tells where in it a part begins.
        """
        method, n_items = self.method, self.data.n_items
        sizes = [*(part.n_users for part in self.data.parts), n_items]
        *states, last = starting_states(rng, sizes, method.n_factors)
        arguments = [
            (*pair, method, scale) for pair in zip(self._ratings, states, strict=True)
        ]
        users = self._by_part("start", 0, tasks.first_users, arguments)
        items = self._at_root("start", (), tasks.first_items, last, n_items, method, scale)
        sampled = method.objective.n_negatives is not None
        return State(users, items, sample_key(rng).tolist() if sampled else [])

    def learning_rate(self) -> float:
        """What `learning_rate="auto"` means for "paper", as one machine finds it, to rounding."""
        n_turns = 0

        def turn(v: Future) -> tuple[float, Future]:
            nonlocal n_turns
            n_turns += 1
            copies = self._hand_out("vector", n_turns, v)
            arguments = list(zip(self._ratings, copies, strict=True))
            sums = self._by_part("power", n_turns, tasks.power_turn, arguments)
            total = self._add_up("squares", n_turns, sums)
            made = self._at_root("normalise", (n_turns,), _normalise, total)
            sigma, v = (self._short("turn", (n_turns, k), getitem, made, k) for k in (0, 1))
            return sigma.result(), v

        ones = self._at_root("ones", (), np.ones, (self.data.n_items, 1))
        return rate_for(power_iteration(turn, ones), self.method.reg)

    def run_pass(self, state: State, iteration: int, rate: float) -> Pass:
        """One pass over all ratings at `state`, which has `iteration` iterations behind it."""
        wait(state.users)
        self._look_where(state.users)
        V = self._parameters(state.items, iteration)
        self._kept.append(V)
        copies = self._hand_out("copy", iteration, V)
        parts = zip(self._ratings, state.users, copies, self._ranges(), strict=True)
        passed = self._by_part(
            "pass", iteration, tasks.one_pass,
            [
                (*part, self.method, IterationContext(iteration + 1, users, state.sample_key), rate)
                for *part, users in parts
            ],
        )  # fmt: skip
        users, sums = (
            [
                self._short(name, (iteration, p), getitem, made, k)
                for p, made in enumerate(passed)
            ]
            for k, name in enumerate(("users", "sums"))
        )
        total = self._add_up("sum", iteration, sums)
        arguments = state.items, total, self.method, rate
        stepped = self._at_root("step", (iteration,), tasks.step_items, *arguments)
        items, numbers = (
            self._short("stepped", (iteration, k), getitem, stepped, k) for k in (0, 1)
        )
        objective, moved = numbers.result()
        return Pass(objective, moved, State(users, items, state.sample_key))

    def _parameters(self, items: Future, iteration: int) -> Future:
        """What is handed out of the items. Where it is all, no result of its own: copies of it on
        other workers then serve the next step, too."""
        if self.method.objective.optimizer.n_arrays == 1:
            return items
        return self._at_root("parameters", (iteration,), self.method.parameters, items)

    def _ranges(self) -> list[range]:
        """The users of each part, among all."""
        cuts = accumulate((part.n_users for part in self.data.parts), initial=0)
        return [range(*pair) for pair in pairwise(cuts)]

    def write(self, folder: Path, state: State, iteration: int) -> State:
        """Write where training stands to `folder`, an empty one; returns it as read from there.

        What comes after needs nothing that came before: Dask forgets those tasks.
        """
        pairs = zip(self._files(folder), [*state.users, state.items], strict=True)
        written = [
            self._submit("write", (iteration, k), tasks.write_array, file, factors)
            for k, (file, factors) in enumerate(pairs)
        ]
        self._client.gather(written)
        self._kept.clear()
        return self.read(folder, iteration, state.sample_key)

    def read(self, folder: Path, iteration: int, key: list[int]) -> State:
        """What `write` wrote. Raises what `tasks.read_array` does."""
        *files, last = self._files(folder)
        method, n = self.method, self.method.objective.optimizer.n_arrays
        arguments = [
            (data, file, n * method.n_factors)
            for data, file in zip(self._ratings, files, strict=True)
        ]
        users = self._by_part("read", iteration, tasks.read_users, arguments)
        shape = self.data.n_items, n * method.n_item_columns
        items = self._at_root("read", (iteration,), tasks.read_array, last, *shape)
        _settled([*users, items])
        return State(users, items, key)

    def _files(self, folder: Path) -> list[Path]:
        names = [f"users-{p:05d}.npy" for p in range(len(self.data.parts))]
        return [folder / name for name in [*names, "items.npy"]]


def bytes_between_workers(
    n_workers: int, n_items: int, n_factors: int, objective: str = "paper"
) -> int:
    """Bytes that W workers, a part on each, send each other in an iteration: 2 (W - 1) · 8 N D,
    or with D + 1 in the place of D for any `objective` but "paper", as b goes with V.

    V, of 8 N D bytes, reaches the W - 1 workers that did not make it, and each of those sends one
    sum of the same size towards the root. The number of users does not occur in it. It is more
    where the parts do not divide evenly, and neighbours to be added are on different workers.
    """
    method = tasks.Method(configured(objective, {}), n_factors, 0.0)
    return 2 * (n_workers - 1) * 8 * n_items * method.n_item_columns


def starting_states(
    rng: np.random.Generator, sizes: list[int], n_factors: int
) -> list[np.random.BitGenerator]:
    """Where the generator stands before it draws each of matrices (size, D), which it passes."""
    states = []
    for n_rows in sizes:
        states.append(copy.deepcopy(rng.bit_generator))
        left = n_rows * n_factors
        while (
            left > 0
        ):  # how many bits a normal number takes depends on the bits: draw them
            left -= rng.standard_normal(min(left, _DRAWN_AT_ONCE)).size
    return states


def _same(V):
    return V


def _settled(futures: list[Future]) -> None:
    """Wait for all, and raise what one of them raised."""
    wait(futures)
    for future in futures:
        if future.status == "error":
            future.result()


def _normalise(total: tasks.Sums):
    return normalise(total.item_gradient, total.objective)
