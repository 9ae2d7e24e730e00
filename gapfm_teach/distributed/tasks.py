"""What one task does on a worker. Its arguments and its result are all that may travel."""

from copy import copy
from pathlib import Path
from typing import NamedTuple

import numpy as np
from dask.sizeof import sizeof
from distributed import get_worker

from .._support.checks import check_array
from .._support.files import replacing
from .._support.parquet import Part, read_part
from ..ratings import Ratings
from ..training.automatic_step import multiply
from ..training.data import TrainingData
from ..training.machine import most_threads, threads
from ..training.objectives import Objective
from ..training.optimizers import regularised_step
from ..training.sampling import IterationContext


class Method(NamedTuple):
    """What is maximised, and how: the same for all tasks of a training.

    A row of the arrays below holds all that training keeps of a user or an item: the parameters,
    and behind them what the objective's optimizer remembers. V stands for (V, b), where there is a
    b. Of the items only the parameters travel, and a sum of their size.
    """

    objective: Objective
    n_factors: int
    reg: float

    @property
    def n_item_columns(self) -> int:
        return self.n_factors + self.objective.has_bias

    def parameters(self, rows: np.ndarray) -> np.ndarray:
        return self.objective.optimizer.parameters(rows)

    def step(self, rows: np.ndarray, gradient: np.ndarray, rate: float):
        """The next rows, the squared length of the parameters before, and that of the step."""
        before = self.parameters(rows)
        new, moved = regularised_step(
            self.objective.optimizer, rows, gradient, self.reg, rate
        )
        return new, float(np.sum(before**2)), moved


class Sums(NamedTuple):
    """What adds up over the users: the gradient in V, such as (11), and in b where there is one,
    without λ, a row an item; the objective without the items' share of the regulariser; and the
    squared length of U's step."""

    item_gradient: np.ndarray
    objective: float
    moved: float


@sizeof.register(TrainingData)
def _bytes_of_data(data: TrainingData) -> int:
    """Without it Dask takes a partition's ratings for nothing, and moves them about."""
    train = data.train
    arrays = (train.indptr, train.indices, train.grades, data.items, data.grades)
    return sum(array.nbytes for array in arrays)


def load(folder: Path, part: Part, n_items: int, max_grade: int) -> TrainingData:
    """The ratings of a partition, in the kernels' layout, which the constructor has checked."""
    arrays = read_part(folder, part)
    source = str(folder / part.file)
    try:
        ratings = Ratings(*arrays, n_items=n_items, max_grade=max_grade, source=source)
    except ValueError as error:
        raise ValueError(f"{source} is damaged ({error})") from error
    return TrainingData(ratings)


def first_users(
    data: TrainingData, state: np.random.BitGenerator, method: Method, scale: float
) -> np.ndarray:
    """A part's first users. Asking the ratings how many there are keeps both together."""
    U = draw(state, data.train.n_users, method.n_factors, scale)
    return method.objective.optimizer.start(U)


def first_items(
    state: np.random.BitGenerator, n_items: int, method: Method, scale: float
) -> np.ndarray:
    V = draw(state, n_items, method.n_factors, scale)
    if method.objective.has_bias:
        V = np.column_stack([V, np.zeros(n_items)])
    return method.objective.optimizer.start(V)


def draw(
    state: np.random.BitGenerator, n_rows: int, n_factors: int, scale: float
) -> np.ndarray:
    """Normal factors (n_rows, D), the next numbers of a generator in this `state`."""
    return np.random.Generator(copy(state)).normal(0.0, scale, (n_rows, n_factors))


def one_pass(
    data: TrainingData, users: np.ndarray, V: np.ndarray, method: Method,
    context: IterationContext, rate: float,
) -> tuple[np.ndarray, Sums]:  # fmt: skip
    """The users' half of an iteration: the partition's new users, and what it adds to V's."""
    with _one_at_a_time(data), np.errstate(over="ignore", invalid="ignore"):
        value, by_user, by_item = method.objective.gradients(
            data, method.parameters(users), V, context
        )
        new, squared, moved = method.step(users, by_user, rate)
        return new, Sums(by_item, value - method.reg / 2 * squared, moved)


def add(one: Sums, other: Sums) -> Sums:
    """One node of the reduction tree."""
    return Sums(
        one.item_gradient + other.item_gradient,
        one.objective + other.objective,
        one.moved + other.moved,
    )


def step_items(
    items: np.ndarray, sums: Sums, method: Method, rate: float
) -> tuple[np.ndarray, tuple[float, float]]:
    """The items' half: the new items; the objective before, and the squared length of all that
    was stepped. λ counts once."""
    with np.errstate(over="ignore", invalid="ignore"):
        new, squared, moved = method.step(items, sums.item_gradient, rate)
        return new, (sums.objective - method.reg / 2 * squared, sums.moved + moved)


def power_turn(data: TrainingData, v: np.ndarray) -> Sums:
    """A partition's CᵀC v and ‖C v‖², for "auto"; see `automatic_step`."""
    with _one_at_a_time(data):
        CtCv, squared = multiply(data, v)
    return Sums(CtCv, squared, 0.0)


def write_array(path: Path, array: np.ndarray) -> None:
    with replacing(path) as file:
        np.save(file, array, allow_pickle=False)


def read_users(data: TrainingData, path: Path, n_columns: int) -> np.ndarray:
    """A part's users from a checkpoint. Asking the ratings how many keeps both together."""
    return read_array(path, data.train.n_users, n_columns)


def read_array(path: Path, n_rows: int, n_columns: int) -> np.ndarray:
    """Rows that `write_array` wrote. Raises FileNotFoundError, or ValueError naming the file."""
    remedy = "the checkpoint cannot be resumed; fit anew without resume"
    try:
        rows = check_array(np.load(path, allow_pickle=False), "the array")
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"{path} is missing; let every worker see the folder under the same name, or {remedy}"
        ) from error
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path} is damaged ({error}); {remedy}") from error
    if rows.shape != (n_rows, n_columns):
        due = n_rows, n_columns
        raise ValueError(f"{path} holds numbers of shape {rows.shape}, not {due}; {remedy}")
    return rows


def _one_at_a_time(data: TrainingData):
    """A worker with several threads gives all of them to one partition after another."""
    n = min(get_worker().state.nthreads, most_threads())
    return threads(n, data.train)
