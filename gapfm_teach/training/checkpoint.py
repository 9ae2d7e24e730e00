"""Fitted models and running trainings in files: written whole or not at all, without pickle.

All arrays in a file are numbers, in C order; whatever is text is in `header`, the UTF-8 bytes
of one JSON object. `pages/handover.qmd` documents a model's file for programs without this package.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .._support.checks import check_array, check_path, check_real
from .._support.columns import check_storable
from .._support.files import check_file, content_hash, read_npz, replacing, writable_folder
from ..ratings import Ratings
from .estimator import Estimator, Settings
from .loop import State

Arrays = dict[str, np.ndarray]

_MODEL, _CHECKPOINT = "gapfm_teach.GAPfm", "gapfm_teach.GAPfm checkpoint"
_NAMES = {_MODEL: "a saved GAPfm", _CHECKPOINT: "a checkpoint of GAPfm"}
_FROM = {_MODEL: "a file from save()", _CHECKPOINT: "a file from fit(checkpoint=...)"}
_VERSION = 3
_ROWS = {"indptr": np.int64, "indices": np.int32, "grades": np.int8}
_LABELS = ("users", "items", "titles")
_ABOUT = (
    "The score of item i for user m is the inner product of user_factors[m] and item_factors[i], "
    "plus item_bias[i]; only the order of a user's scores means anything. users, items and titles "
    "stand in the order of those rows. What user m rated in training: places train_indptr[m] to "
    "train_indptr[m + 1] - 1 of train_indices (rows of items) and train_grades. A new user's "
    "factors: from 0, with the item factors held fixed, as many steps of the objective's gradient "
    "ascent as history has rows. Formulas and code: pages/handover.qmd of gapfm_teach."
)


# ------------------------------------------------------------------ a fitted model


def write_model(
    path, params: dict, rate: float, train: Ratings, learned: Arrays, rows: list
):
    """Write what a fitted model needs to predict, recommend and fold in: γ (`rate`), ratings.

    `learned`: user_factors, item_factors and item_bias.
    Raises TypeError or ValueError for what is no file's name, ValueError where `train` has ids that
    JSON cannot hold.
    """
    path = check_path(path, "path", "pass a file's name such as 'model.npz'")
    header = {"about": _ABOUT, "params": params, "learning_rate_": rate}
    header |= {"source": train.source, "max_grade": train.max_grade}
    header |= {
        name: check_storable(getattr(train, name), name).tolist() for name in _LABELS
    }
    ratings = {"train_" + name: getattr(train, name) for name in _ROWS}
    arrays = _arrays(_MODEL, header, learned | ratings, rows)
    with replacing(path) as file:
        np.savez_compressed(file, **arrays)


def read_model(path, make: Callable[..., Estimator]) -> tuple:
    """`make(**params)`, its settings, γ, ratings, learned arrays and history, as `write_model` wrote
    them.

    Raises FileNotFoundError, or ValueError for a file that is not such a model.
    """
    path = check_path(path, "path", "pass a file from save()")
    header, arrays = _read(path, _MODEL)
    try:
        model = make(**header["params"])
        settings = model.settings()  # checks each of them
        ratings = Ratings(
            *(arrays[f"train_{name}"].astype(dtype) for name, dtype in _ROWS.items()),
            **{name: header[name] for name in _LABELS},
            n_items=len(header["items"]), max_grade=header["max_grade"], source=header["source"],
        )  # fmt: skip
        n_users, n_items, D = ratings.n_users, ratings.n_items, settings.n_factors
        learned = {
            "user_factors": _checked(arrays, "user_factors", (n_users, D)),
            "item_factors": _checked(arrays, "item_factors", (n_items, D)),
            "item_bias": _checked(arrays, "item_bias", (n_items,)),
        }
        rate = check_real(header["learning_rate_"], "learning_rate_", low_open=True)
        return model, settings, rate, ratings, learned, _history(arrays)
    except Exception as error:  # an edited file raises nearly anything
        raise _not_one(path, _MODEL, error) from error


# ------------------------------------------------------------------ a running training


class CheckpointManager:
    """Where a training writes its checkpoints, how often, and what it resumes from.

    path : a new file, or the one to `resume` from; None for none. every : iterations between two.
    settings : of the training. rng : its generator.
    """

    def __init__(
        self, path, resume, every: int, settings: Settings, rng: np.random.Generator
    ):
        self.path, self.resume = path, resume
        self._every, self._settings, self._rng = every, settings, rng
        self._written = True
        if resume is not None:
            self.resume = check_path(
                resume, "resume", "pass a file from fit(checkpoint=...)"
            )
        if path is not None:
            self.path = _checked_place(path, self.resume)

    def describe(self, train: Ratings, validation: Ratings | None) -> None:
        """Note the ratings, which a training that resumes must have too."""
        if self.path is None and self.resume is None:
            return
        self._run = self._settings.by_name()
        del self._run["n_iter"]  # may be raised
        self._run |= {"train": _summary(train), "validation": _summary(validation)}
        self._shapes = self._settings.row_shapes(train.n_users, train.n_items)

    def read(self) -> tuple[State, list]:
        """State and history of the checkpoint to resume from; its generator becomes this one's.

        Raises FileNotFoundError, or ValueError for a file that is no checkpoint, one of other data
        or parameters (the message names what differs), or one beyond n_iter; the generator is then
        as it was.
        """
        header, arrays = _read(self.resume, _CHECKPOINT)
        generator = header["generator"]
        named = header["run"] | {"the generator": generator["bit_generator"]}
        wanted = self._run | {"the generator": type(self._rng.bit_generator).__name__}
        check_resumable(self.resume, named, wanted)
        try:
            rows = _history(arrays)
            users, items = (_checked(arrays, *shaped) for shaped in self._shapes.items())
        except ValueError as error:
            raise _not_one(self.resume, _CHECKPOINT, error) from error
        check_iterations(self.resume, len(rows), self._settings.n_iter)
        self._rng.bit_generator.state = generator
        return State(users, items, arrays["sample_key"]), rows

    def after(self, iteration: int, state: State, rows: list) -> None:
        """Write a checkpoint, where one is due after this iteration."""
        self._written = False
        if iteration % self._every == 0 or iteration == self._settings.n_iter:
            self.finish(state, rows)

    def finish(self, state: State, rows: list) -> None:
        """Write a checkpoint of where the training stands, whole or not at all.

        Nothing as long as the ratings, and not compressed: 480,000 users at D = 10 make 38 MB.
        """
        if self.path is None or (self._written and self.path.exists()):
            return
        header = {"run": self._run, "generator": self._rng.bit_generator.state}
        arrays = _arrays(_CHECKPOINT, header, state._asdict(), rows)
        with replacing(self.path) as file:
            np.savez(file, **arrays)
        self._written = True


def _checked_place(path, resume: Path | None) -> Path:
    """Return `path`, after making its folder: a long training must not fail at its first
    checkpoint.

    Raises TypeError or ValueError for no path, OSError where none can be written, FileExistsError
    for a file that is there and is not the one to `resume` from: it would be lost.
    """
    path = check_path(path, "checkpoint", "pass a file's name such as 'run.npz'")
    name = str(path)
    try:
        writable_folder(check_file(path).parent)
    except (OSError, ValueError) as error:
        raise OSError(
            f"checkpoint {name!r} cannot be written ({error}); pass a file's name in a folder "
            "you can write to"
        ) from error
    check_overwrite(path, path, resume)
    return path


def check_overwrite(path: Path, file: Path, resume: Path | None) -> None:
    """Raise FileExistsError where checkpoint `path`, whose `file` is there, is not the one to
    `resume` from: it would be lost."""
    if file.exists() and (resume is None or resume.resolve() != path.resolve()):
        name = str(path)
        raise FileExistsError(
            f"checkpoint {name!r} is there already and would be lost; to go on from a checkpoint "
            f"there pass resume={name!r} too, else pass another name, or move or delete it"
        )


def _summary(ratings: Ratings | None) -> str:
    """Sizes and a hash of who rated what and how; ids and titles do not matter to training."""
    if ratings is None:
        return "none"
    content = content_hash(ratings.indptr, ratings.indices, ratings.grades)
    return (
        f"{ratings.n_ratings:,} ratings of {ratings.n_users:,} users × {ratings.n_items:,} items, "
        f"grades to {ratings.max_grade}, hash {content}"
    )


def check_resumable(path: Path, theirs: dict, ours: dict) -> None:
    """Raise ValueError where the training of a checkpoint, `theirs`, had other data or parameters."""
    different = "; ".join(
        f"{name} was {theirs.get(name)!r} and is {here!r} now"
        for name, here in ours.items()
        if theirs.get(name) != here
    )
    if different:
        raise ValueError(
            f"{path} cannot be resumed here: {different}. Resume with the same data and parameters, "
            "or fit anew without resume"
        )


def check_iterations(path: Path, n_done: int, n_iter: int) -> None:
    """Raise ValueError where a checkpoint is beyond `n_iter`."""
    if n_done > n_iter:
        raise ValueError(
            f"{path} has {n_done} iterations behind it, more than n_iter={n_iter}; "
            "n_iter counts from the very start: raise it"
        )


# ------------------------------------------------------------------ what both share


def _arrays(
    kind: str, header: dict, named: Mapping[str, Any], rows: list
) -> dict[str, Any]:
    # The state of some generators holds arrays.
    text = json.dumps(
        {"format": kind, "version": _VERSION} | header, default=lambda array: array.tolist()
    )
    named = {name: np.ascontiguousarray(array) for name, array in named.items()}
    history = np.array(rows, dtype=np.float64).reshape(-1, 4)
    return {"header": np.frombuffer(text.encode(), np.uint8), **named, "history": history}


def _checked(arrays: Arrays, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """An array of finite numbers of this shape, as float64; ValueError for any other."""
    array = check_array(arrays[name], name)
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}, not {shape}")
    return np.ascontiguousarray(array)


def _history(arrays: Arrays) -> list:
    history = arrays["history"]
    if history.ndim != 2 or history.shape[1] != 4:
        raise ValueError(f"history has shape {history.shape}, not (n, 4)")
    return [(int(i), float(f), float(g), float(gap)) for i, f, g, gap in history]


def _read(path: Path, kind: str) -> tuple[dict, Arrays]:
    """Header and arrays of a file of this kind; ValueError, naming it, for any other."""
    try:
        arrays = read_npz(path)
        header = json.loads(arrays.pop("header").tobytes())
        found = header.get("format"), header.get("version")
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"{str(path)!r} does not exist; pass {_FROM[kind]}"
        ) from error
    except Exception as error:  # a damaged file raises nearly anything
        raise _not_one(path, kind, error) from error
    if found[0] in _NAMES and found[0] != kind:
        raise ValueError(
            f"{path} is {_NAMES[found[0]]}, not {_NAMES[kind]}; pass {_FROM[kind]}"
        )
    if found != (kind, _VERSION):
        raise ValueError(
            f"{path} was made by an older version, or a newer one (format {found[0]!r}, version "
            f"{found[1]!r}); train it again"
        )
    return header, arrays


def _not_one(path: Path, kind: str, error: Exception) -> ValueError:
    return ValueError(f"{path} is not {_NAMES[kind]} ({error}); pass {_FROM[kind]}")
