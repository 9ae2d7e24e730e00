"""What one task does on a worker. Its arguments and its result are all that may travel."""

from copy import copy
from pathlib import Path
from typing import NamedTuple

import numpy as np
from dask.sizeof import sizeof
from distributed import get_worker

from .._support.files import regular, replacing
from .._support.parquet import Part, read_part
from ..learning.automatic_step import multiply
from ..learning.machine import most_threads, threads
from ..learning.training import Problem
from ..ratings import Ratings
from .climbs import Climb, Turn


class Sums(NamedTuple):
    """What adds up over the users: the gradient in V, such as (11), and in b where there is one,
    without λ, a row an item; the objective without the items' share of the regulariser; and the
    squared length of U's step."""

    item_gradient: np.ndarray
    objective: float
    moved: float


@sizeof.register(Problem)
def _bytes_of_problem(problem: Problem) -> int:
    """Without it Dask takes a partition's ratings for nothing, and moves them about."""
    train = problem.train
    arrays = (train.indptr, train.indices, train.grades, problem.items, problem.grades)
    return sum(array.nbytes for array in arrays)


def load(folder: Path, part: Part, n_items: int, max_grade: int, climb: Climb) -> Problem:
    """The ratings of a partition, in the kernels' layout."""
    indptr, indices, grades = read_part(folder, part, n_items, max_grade)
    # Training asks how many users and items there are, not which: labels that take no memory.
    users, items = (np.broadcast_to(np.int8(0), n) for n in (part.n_users, n_items))
    ratings = Ratings.unchecked(
        indptr, indices, grades, max_grade=max_grade, users=users, items=items,
        titles=np.broadcast_to(np.str_(), n_items), source=part.file, origin="",
    )  # fmt: skip
    return climb.problem(ratings)


def first_users(
    problem: Problem, state: np.random.BitGenerator, climb: Climb, scale: float
) -> np.ndarray:
    """A part's first users. Asking the ratings how many there are keeps both together."""
    return climb.first_users(draw(state, problem.train.n_users, climb.n_factors, scale))


def first_items(
    state: np.random.BitGenerator, n_items: int, climb: Climb, scale: float
) -> np.ndarray:
    return climb.first_items(draw(state, n_items, climb.n_factors, scale))


def read_users(problem: Problem, path: Path, climb: Climb) -> np.ndarray:
    """A part's users from a checkpoint, likewise."""
    return read_array(path, problem.train.n_users, climb.n_factors, climb.numbers)


def draw(
    state: np.random.BitGenerator, n_rows: int, n_factors: int, scale: float
) -> np.ndarray:
    """Normal factors (n_rows, D), the next numbers of a generator in this `state`."""
    return np.random.Generator(copy(state)).normal(0.0, scale, (n_rows, n_factors))


def one_pass(
    problem: Problem, users: np.ndarray, V: np.ndarray, climb: Climb, turn: Turn,
    reg: float, rate: float,
) -> tuple[np.ndarray, Sums]:  # fmt: skip
    """The users' half of an iteration: the partition's new users, and what it adds to V's."""
    with _one_at_a_time(problem), np.errstate(over="ignore", invalid="ignore"):
        value, by_user, by_item = climb.gradients(problem, climb.learned(users), V, turn)
        new, squared, moved = _step(climb, users, by_user, reg, rate)
        return new, Sums(by_item, value - reg / 2 * squared, moved)


def add(one: Sums, other: Sums) -> Sums:
    """One node of the reduction tree."""
    return Sums(
        one.item_gradient + other.item_gradient,
        one.objective + other.objective,
        one.moved + other.moved,
    )


def step_items(
    items: np.ndarray, sums: Sums, climb: Climb, reg: float, rate: float
) -> tuple[np.ndarray, tuple[float, float]]:
    """The items' half: the new items; the objective before, and the squared length of all that
    was stepped. λ counts once."""
    with np.errstate(over="ignore", invalid="ignore"):
        new, squared, moved = _step(climb, items, sums.item_gradient, reg, rate)
        return new, (sums.objective - reg / 2 * squared, sums.moved + moved)


def _step(climb: Climb, rows: np.ndarray, gradient: np.ndarray, reg: float, rate: float):
    """The next rows, the squared length of what was learned before, and that of the step."""
    before = climb.learned(rows)
    new = climb.step(rows, gradient - reg * before, rate)
    moved = climb.learned(new) - before
    return new, float(np.sum(before**2)), float(np.sum(moved**2))


def power_turn(problem: Problem, v: np.ndarray) -> Sums:
    """A partition's CᵀC v and ‖C v‖², for "auto"; see `automatic_step`."""
    with _one_at_a_time(problem):
        CtCv, squared = multiply(problem, v)
    return Sums(CtCv, squared, 0.0)


def write_array(path: Path, array: np.ndarray) -> None:
    with replacing(path) as file:
        np.save(file, array, allow_pickle=False)


def read_array(path: Path, n_rows: int, n_learned: int, numbers: int) -> np.ndarray:
    """Rows that `write_array` wrote: all learned, and what is kept of each besides, not below 0.

    Raises FileNotFoundError, or ValueError naming the file.
    """
    remedy = "the checkpoint cannot be resumed; fit anew without resume"
    try:
        factors = np.load(regular(path), allow_pickle=False)
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"{path} is missing; let every worker see the folder under the same name, or {remedy}"
        ) from error
    except Exception as error:  # a damaged file raises nearly anything
        raise ValueError(f"{path} is damaged ({error}); {remedy}") from error
    due = (n_rows, n_learned * numbers)
    if (
        factors.dtype != np.float64
        or factors.shape != due
        or not np.isfinite(factors).all()
    ):
        raise ValueError(f"{path} does not hold {due} finite float64 numbers; {remedy}")
    if (factors[:, n_learned:] < 0).any():
        raise ValueError(f"{path} has sums of squares below 0; {remedy}")
    return factors


def _one_at_a_time(problem: Problem):
    """A worker with several threads gives all of them to one partition after another."""
    n = min(get_worker().state.nthreads, most_threads())
    return threads(n, problem.train)
