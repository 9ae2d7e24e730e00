"""Fitted models and running trainings in files: written whole or not at all, without pickle."""

import hashlib
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .checks import check_path
from .files import replacing, write_npz
from .ratings import Ratings

Arrays = dict[str, np.ndarray]

_MODEL = {"format": "gapfm_teach.GAPfm", "version": 1}
_CHECKPOINT = {"format": "gapfm_teach.GAPfm checkpoint", "version": 1}
_FREE = ("n_iter", "n_threads")  # what may change from a training to its continuation


# ------------------------------------------------------------------ a fitted model


def write_model(
    path, params: dict, rate: float, train: Ratings, learned: Arrays, rows: list
) -> None:
    """Write what a fitted model needs to predict, recommend and fold in: γ (`rate`), ratings.

    `learned`: arrays by name, user_factors and item_factors among them.

    Raises ValueError where `train` has ids that a file without pickle cannot hold.
    """
    header = {"params": params, "learning_rate_": rate}
    header |= {"source": train.source, "max_grade": train.max_grade}
    arrays = _arrays(_MODEL | header, learned, rows)
    for name in ("indptr", "indices", "grades", "users", "items", "titles"):
        arrays["train_" + name] = getattr(train, name)
        if arrays["train_" + name].dtype.hasobject:
            raise ValueError(
                f"train has {name} of mixed or unusual types, such as "
                f"{arrays['train_' + name][0]!r}, which a file without pickle cannot hold; "
                "make them all numbers or all text"
            )
    write_npz(path, arrays)


def read_model(path, make: Callable[..., Any]) -> tuple:
    """`make(**params)`, γ, the ratings, the learned arrays, rows, as `write_model` wrote them.

    Raises FileNotFoundError, or ValueError for a file that is no such model.
    """

    def build(header: dict, stored: dict):
        params = {k: v for k, v in header["params"].items() if k != "n_threads"}
        train = {k[6:]: v for k, v in stored.items() if k.startswith("train_")}
        ratings = Ratings(
            train.pop("indptr"), train.pop("indices"), train.pop("grades"),
            n_items=len(stored["item_factors"]), max_grade=header["max_grade"],
            source=header["source"], **train,
        )  # fmt: skip
        due = _shapes(params, ratings.n_users, ratings.n_items)
        rate = float(header.get("learning_rate_", params["learning_rate"]))
        return make(**params), rate, ratings, *_checked(stored, due)

    path = check_path(path, "path", "pass a file from save()")
    return _read(path, _MODEL, "a saved GAPfm", "save()", build)


# ------------------------------------------------------------------ a running training


def describe(params: dict, train: Ratings, validation: Ratings | None) -> dict:
    """What a checkpoint must agree on with the training that resumes from it, for JSON."""
    kept = {name: value for name, value in params.items() if name not in _FREE}
    ratings = {"train": train, "validation": validation}
    return {"params": kept} | {k: r and _fingerprint(r) for k, r in ratings.items()}


def check_writable(path) -> Path:
    """Return `path`, after making its folder: a long training must not fail at its first
    checkpoint. Raises TypeError or ValueError for no path, OSError when none can be written."""
    path = check_path(path, "checkpoint", "pass a file's name such as 'run.npz'")
    try:
        if path.is_dir():
            raise IsADirectoryError("it is a folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise OSError(
            f"checkpoint {str(path)!r} cannot be written ({error}); pass a file's name in a "
            "folder you can write to"
        ) from error
    return path


def write_checkpoint(
    path, run: dict, state: Arrays, rows: list, rng: np.random.Generator
) -> None:
    """Write where a training of `run` (from `describe`) stands: `state`, history, generator.

    `state`: the factors, and whatever else the steps need, by name. Nothing as long as the ratings, and not compressed: 480,000 users at D = 10 make 38 MB.
    """
    header = _CHECKPOINT | {"run": run, "generator": rng.bit_generator.state}
    arrays = _arrays(header, state, rows)
    with replacing(path) as file:
        np.savez(file, allow_pickle=False, **arrays)


def read_checkpoint(path, run: dict, rng: np.random.Generator, n_iter: int) -> tuple:
    """(state, rows) as `write_checkpoint` left them; sets `rng` to where its generator stood.

    Raises FileNotFoundError, TypeError for no path, or ValueError for a file that is no
    checkpoint, one of another `run` (the message names what differs), or one beyond `n_iter`;
    `rng` is then as it was.
    """

    def build(header: dict, stored: dict):
        theirs = header["run"]
        sizes = (theirs["train"]["users"], theirs["train"]["items"])
        due = _shapes(theirs["params"], *sizes, in_training=True)
        return theirs, header["generator"], *_checked(stored, due)

    path = check_path(path, "resume", "pass a file from fit(checkpoint=...)")
    theirs, generator, state, rows = _read(
        path, _CHECKPOINT, "a checkpoint of GAPfm", "fit(checkpoint=...)", build
    )
    ours = json.loads(json.dumps(run))
    if differences := _differences(theirs, ours):
        raise ValueError(
            f"{path} cannot be resumed here: {'; '.join(differences)}. Resume with the same "
            "data and parameters, or fit anew without resume"
        )
    done = len(rows)
    if done > n_iter:
        raise ValueError(
            f"{path} has {done} iterations behind it, more than n_iter={n_iter}; n_iter counts "
            "from the very start: raise it"
        )
    kind = type(rng.bit_generator).__name__
    if generator["bit_generator"] != kind:
        raise ValueError(
            f"{path} cannot be resumed here: its random_state was a Generator of "
            f"{generator['bit_generator']}, this one is of {kind}"
        )
    rng.bit_generator.state = generator
    return state, rows


def _fingerprint(ratings: Ratings) -> dict:
    """Sizes and a hash of who rated what and how; ids and titles do not matter to training."""
    digest = hashlib.blake2b(digest_size=16)
    for array in (ratings.indptr, ratings.indices, ratings.grades):
        digest.update(np.ascontiguousarray(array).data)
    return {
        "users": ratings.n_users, "items": ratings.n_items, "ratings": ratings.n_ratings,
        "max_grade": ratings.max_grade, "hash": digest.hexdigest(),
    }  # fmt: skip


def _differences(theirs: dict, ours: dict) -> list[str]:
    """What was otherwise in the checkpoint, one sentence each."""
    found = []
    for name in ("train", "validation"):
        there, here = theirs[name], ours[name]
        if there != here:
            same_size = _size(there) == _size(here)
            detail = "ratings of the same numbers, but not the same ones"
            if not same_size:
                detail = f"{_size(there)} there, {_size(here)} here"
            found.append(f"it was made with other {name} data ({detail})")
    for name in sorted({*theirs["params"], *ours["params"]}):
        there, here = theirs["params"].get(name), ours["params"].get(name)
        if there != here:
            found.append(f"it was made with {name}={there!r}, this model has {here!r}")
    return found


def _size(data: dict | None) -> str:
    if data is None:
        return "none"
    numbers = f"{data['ratings']:,} ratings of {data['users']:,} users × {data['items']:,}"
    return f"{numbers} items, grades to {data['max_grade']}"


# ------------------------------------------------------------------ what both share


def _arrays(header: dict, named: Arrays, rows: list) -> Arrays:
    # The state of some generators holds arrays.
    text = json.dumps(header, default=lambda array: array.tolist())
    history = np.array(rows, dtype=np.float64).reshape(-1, 4)
    return {"header": np.array(text), **named, "history": history}


def _shapes(params: dict, n_users: int, n_items: int, in_training: bool = False) -> dict:
    """What arrays a file must have, and of what shape."""
    n_factors = params["n_factors"]
    due: dict[str, tuple[int, ...]] = {
        "user_factors": (n_users, n_factors),
        "item_factors": (n_items, n_factors),
    }
    if params.get("objective", "paper") == "consistent":
        due["item_bias"] = (n_items,)
        if in_training:
            due |= {f"{name}_squares": shape for name, shape in due.items()}
            due["sample_key"] = (4,)
    return due


def _checked(stored: Arrays, due: dict) -> tuple[Arrays, list]:
    """The arrays by name, and the history's rows."""
    named = {name: stored[name] for name in due}
    shapes = {name: array.shape for name, array in named.items()}
    if shapes != due or not all(np.isfinite(array).all() for array in named.values()):
        raise ValueError(f"its arrays are not finite, or not of shapes {due}")
    rows = [(int(i), float(f), float(g), float(gap)) for i, f, g, gap in stored["history"]]
    return named, rows


def _read(path, kind: dict, what: str, writer: str, build: Callable[[dict, dict], Any]):
    """`build(header, arrays)` of a file of this kind; ValueError, naming it, for any other."""
    try:
        # Opened here: NumPy would leave a damaged file open.
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            stored = {name: file[name] for name in file.files}
        header = json.loads(str(stored["header"]))
        found = {key: header.get(key) for key in kind}
        built = build(header, stored) if found == kind else None
    except FileNotFoundError:
        raise
    except Exception as error:  # a damaged or edited file raises nearly anything
        raise ValueError(
            f"{path} is not {what} ({error}); pass a file from {writer}"
        ) from error
    if built is None:
        raise ValueError(
            f"{path} has format {found['format']!r} version {found['version']!r}, but "
            f"{kind['format']!r} version {kind['version']} is read here; pass a file from "
            f"{writer}, or update gapfm_teach if the file is newer"
        )
    return built
