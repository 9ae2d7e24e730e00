"""Fitted models and running trainings in files: written whole or not at all, without pickle.

All arrays in a file are numbers, in C order; whatever is text stands in `header`, the UTF-8 bytes
of one JSON object. `handover.qmd` documents a model's file for programs without this package.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._support.checks import check_count, check_path, check_real
from .._support.files import content_hash
from .._support.npz import Stored, read_npz, write_npz
from ..ratings import Ratings

Arrays = dict[str, np.ndarray]

_MODEL, _CHECKPOINT = "gapfm_teach.GAPfm", "gapfm_teach.GAPfm checkpoint"
_INSTEAD = {  # what to do with each, where the other is wanted
    _MODEL: "a saved model, which GAPfm.load(path) reads",
    _CHECKPOINT: "a checkpoint, from which GAPfm(...).fit(train, resume=path) goes on",
}
# In version 1, still read, the header was a text array, and so were a model's ids and titles.
_VERSION = 2
_ROWS = {"indptr": np.int64, "indices": np.int32, "grades": np.int8}
_LABELS = ("users", "items", "titles")
_ABOUT = (
    "The score of item i for user m is the inner product of user_factors[m] and item_factors[i], "
    "plus item_bias[i]; only the order of a user's scores means anything. users, items and titles "
    "stand in the order of those rows. What user m rated in training: places train_indptr[m] to "
    "train_indptr[m + 1] - 1 of train_indices (rows of items) and train_grades. A new user's "
    "factors: from 0, with the item factors held fixed, as many steps of the objective's gradient "
    "ascent as history has rows. Formulas and code: handover.qmd of gapfm_teach."
)
_FREE = ("n_iter", "n_threads")  # what may change from a training to its continuation


# ------------------------------------------------------------------ a fitted model


def write_model(
    path, params: dict, rate: float, train: Ratings, learned: Arrays, rows: list
) -> None:
    """Write what a fitted model needs to predict, recommend and fold in: γ (`rate`), ratings.

    `learned`: arrays by name, user_factors and item_factors among them. An item_bias of 0 is
    added where there is none, so that every reader may score alike.

    Raises TypeError or ValueError for what is no file's name, ValueError where `train` has ids that
    JSON cannot hold.
    """
    path = check_path(path, "path", "pass a file's name such as 'model.npz'")
    header = {"about": _ABOUT, "params": params, "learning_rate_": rate}
    header |= {"source": train.source, "max_grade": train.max_grade}
    header |= {name: _listed(getattr(train, name), name) for name in _LABELS}
    numbers = learned | {"train_" + name: getattr(train, name) for name in _ROWS}
    numbers.setdefault("item_bias", np.zeros(train.n_items))
    write_npz(path, _arrays(_MODEL, header, numbers, rows))


def _listed(labels: np.ndarray, name: str) -> list:
    """Ids or titles as a list for JSON; ValueError for those that would come back changed."""
    values = labels.tolist()
    try:
        text = json.dumps(values, allow_nan=False)  # Infinity is JSON to Python alone
        # As lists: arrays compare as floats, to which 2**64 - 1 and 2**64 - 2 are the same.
        kept = np.asarray(json.loads(text)).tolist() == values
    except (TypeError, ValueError):  # no JSON; lists of several lengths
        kept = False
    if not kept:
        raise ValueError(
            f"train has {name} of mixed or unusual types, such as {labels[0]!r}, which a file "
            "without pickle cannot hold; make them all numbers or all text (whole numbers of 2**63 "
            "and above: text)"
        )
    return values


def read_model(path, make: Callable[..., Any]) -> tuple:
    """`make(**params)`, the ratings, γ, the learned arrays, rows, as `write_model` wrote them.

    Raises FileNotFoundError, or ValueError for a file that is no such model.
    """

    def build(stored: Stored, header: dict):
        params = {k: v for k, v in header["params"].items() if k != "n_threads"}
        model = make(**params)  # checks each of them
        n_users, n_items = stored.shape("user_factors")[0], stored.shape("item_factors")[0]
        ratings = _stored_ratings(stored, header, n_users, n_items)
        due = _shapes(params, n_users, n_items)
        rate = header.get("learning_rate_", params["learning_rate"])
        rate = check_real(rate, "learning_rate_", low_open=True)
        learned, rows = _learned(stored, due)
        if "item_bias" in stored and "item_bias" not in due:
            _refuse_bias(stored.numbers("item_bias", np.float64, (n_items,)))
        return model, ratings, rate, learned, rows

    path = check_path(path, "path", "pass a file from save()")
    return _read(path, _MODEL, "a saved GAPfm", "save()", build)


def _refuse_bias(bias: np.ndarray) -> None:
    """Raise ValueError for a bias where the objective has none: other readers would add it."""
    if bias.any():
        place = int(np.argmax(bias != 0))
        raise ValueError(
            f"item_bias[{place}] is {bias[place]:g}, and objective='paper' has none"
        )


def _stored_ratings(stored: Stored, header: dict, n_users: int, n_items: int) -> Ratings:
    """The ratings in a model's file."""
    sizes, old = (n_users, n_items, n_items), header["version"] == 1
    labels: dict[str, Any] = {
        name: stored.labels(f"train_{name}", size) if old else header[name]
        for name, size in zip(_LABELS, sizes, strict=True)
    }
    n_ratings = stored.shape("train_indices")
    due = {"indptr": (n_users + 1,), "indices": n_ratings, "grades": n_ratings}
    rows = (stored.numbers(f"train_{k}", dtype, due[k]) for k, dtype in _ROWS.items())
    return Ratings(
        *rows, **labels, n_items=n_items, max_grade=header["max_grade"],
        source=header["source"],
    )  # fmt: skip


# ------------------------------------------------------------------ a running training


def describe(params: dict, train: Ratings, validation: Ratings | None) -> dict:
    """What a checkpoint must agree on with the training that resumes from it, for JSON."""
    kept = {name: value for name, value in params.items() if name not in _FREE}
    ratings = {"train": train, "validation": validation}
    return {"params": kept} | {k: r and _fingerprint(r) for k, r in ratings.items()}


def write_checkpoint(
    path, run: dict, state: Arrays, rows: list, rng: np.random.Generator
) -> None:
    """Write where a training of `run` (from `describe`) stands: `state`, history, generator.

    `state`: the factors, and whatever else the steps need, by name. Nothing as long as the
    ratings, and not compressed: 480,000 users at D = 10 make 38 MB.
    """
    header = {"run": run, "generator": rng.bit_generator.state}
    write_npz(path, _arrays(_CHECKPOINT, header, state, rows), compressed=False)


def read_checkpoint(path, run: dict, rng: np.random.Generator, n_iter: int) -> tuple:
    """(state, rows) as `write_checkpoint` left them; sets `rng` to where its generator stood.

    Raises FileNotFoundError, TypeError for no path, or ValueError for a file that is no
    checkpoint, one of another `run` (the message names what differs), or one beyond `n_iter`;
    `rng` is then as it was.
    """

    def build(stored: Stored, header: dict):
        theirs = header["run"]
        n_users, n_items = (check_count(theirs["train"][k], k) for k in ("users", "items"))
        due = _shapes(theirs["params"], n_users, n_items, in_training=True)
        return theirs, header["generator"], *_learned(stored, due)

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
    before = rng.bit_generator.state
    try:
        rng.bit_generator.state = generator
        if json.loads(_json(rng.bit_generator.state)) != generator:
            raise ValueError("it would be rounded")
    except Exception as error:  # an edited state raises nearly anything
        rng.bit_generator.state = before
        raise ValueError(
            f"{path} cannot be resumed here: its generator has no such state ({error}); fit anew "
            "without resume"
        ) from error
    return state, rows


def is_checkpoint(path) -> bool:
    """Whether the file `path` calls itself a checkpoint, of whatever training and version."""
    try:
        with read_npz(path) as stored:
            return stored.header(_n_labels(stored)).get("format") == _CHECKPOINT
    except Exception:  # what is no such file raises nearly anything
        return False


def _fingerprint(ratings: Ratings) -> dict:
    """Sizes and a hash of who rated what and how; ids and titles do not matter to training."""
    content = content_hash(ratings.indptr, ratings.indices, ratings.grades)
    return {
        "users": ratings.n_users, "items": ratings.n_items, "ratings": ratings.n_ratings,
        "max_grade": ratings.max_grade, "hash": content,
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
    kinds = [
        params.get("objective", "paper") for params in (theirs["params"], ours["params"])
    ]
    if kinds[0] != kinds[1]:
        return [
            *found,
            f"it was made with objective={kinds[0]!r}, this model has {kinds[1]!r}",
        ]
    # Ours alone: older files name options that the objective has not.
    for name in sorted(ours["params"]):
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


def _arrays(kind: str, header: dict, named: Arrays, rows: list) -> Arrays:
    text = _json({"format": kind, "version": _VERSION} | header)
    named = {name: np.ascontiguousarray(array) for name, array in named.items()}
    history = np.array(rows, dtype=np.float64).reshape(-1, 4)
    return {"header": np.frombuffer(text.encode(), np.uint8), **named, "history": history}


def _json(values: Mapping[str, Any]) -> str:
    # The state of some generators holds arrays.
    return json.dumps(values, default=lambda array: array.tolist())


def _shapes(params: dict, n_users: int, n_items: int, in_training: bool = False) -> dict:
    """What arrays a file must have, and of what shape."""
    n_factors = params["n_factors"]
    due: dict[str, tuple[int, ...]] = {
        "user_factors": (n_users, n_factors),
        "item_factors": (n_items, n_factors),
    }
    if params.get("objective", "paper") != "paper":
        due["item_bias"] = (n_items,)
        if in_training:
            due |= {f"{name}_squares": shape for name, shape in due.items()}
            due["sample_key"] = (4,)
    return due


def _learned(stored: Stored, due: dict) -> tuple[Arrays, list]:
    """The arrays by name, and the history's rows."""
    named = {}
    for name, shape in due.items():
        dtype = np.int64 if name == "sample_key" else np.float64
        array = named[name] = stored.numbers(name, dtype, shape)
        not_below_0 = name == "sample_key" or name.endswith("_squares")
        if not np.isfinite(array).all() or (not_below_0 and (array < 0).any()):
            raise ValueError(f"{name} has numbers that are not finite or are negative")
    history = stored.numbers("history", np.float64, (stored.shape("history")[0], 4))
    _check_history(*history.T)
    return named, [(int(i), float(f), float(g), float(gap)) for i, f, g, gap in history]


def _check_history(iteration, objective, length, gap) -> None:
    """Raise ValueError for columns that no training leaves. A length may be too large for a
    float, and rounding may lift GAP above 1; without validation there is none."""
    right = (iteration == np.arange(1, iteration.size + 1)) & np.isfinite(objective)
    right &= (length >= 0) & (np.isnan(gap) | ((gap >= 0) & (gap < 1 + 1e-9)))
    if not right.all():
        raise ValueError(
            f"row {np.argmin(right)} of its history is none that training leaves"
        )


def _read(path, kind: str, what: str, writer: str, build: Callable[[Stored, dict], Any]):
    """`build(arrays, header)` of a file of this kind; ValueError, naming it, for any other."""
    try:
        with read_npz(path) as stored:
            header = stored.header(_n_labels(stored))
            found = header.get("format"), header.get("version")
            readable = found in ((kind, 1), (kind, _VERSION))
            built = build(stored, header) if readable else None
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"{str(path)!r} does not exist; pass a file from {writer}"
        ) from error
    except MemoryError:
        raise
    except Exception as error:  # a damaged or edited file raises nearly anything
        raise ValueError(
            f"{path} is not {what} ({error}); pass a file from {writer}"
        ) from error
    if built is None:
        if found[0] in _INSTEAD and found[0] != kind:
            raise ValueError(f"{path} is {_INSTEAD[found[0]]}; pass a file from {writer}")
        raise ValueError(
            f"{path} has format {found[0]!r} version {found[1]!r}, but {kind!r} of versions 1 "
            f"to {_VERSION} is read here; pass a file from {writer}, or update gapfm_teach if "
            "the file is newer"
        )
    return built


def _n_labels(stored: Stored) -> int:
    """How many ids and titles the header may have."""
    names = [name for name in ("user_factors", "item_factors") if name in stored]
    return 2 * sum(stored.shape(name)[0] for name in names)
