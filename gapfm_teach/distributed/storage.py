"""Checkpoints of a distributed training: a folder that every worker must see.

    checkpoint.json               what was trained, on what, how far, the history, and in which
                                  folder the factors are
    iteration-00000010-1f2e3d4c/  they: items.npy, and users-00000.npy for part 0, ...

The workers write the factors, each its own users'. Only when all are on the disk is
`checkpoint.json` renamed to its place: the one instant in which the checkpoint changes. Then the
older factors go. Their folder has a name that was never used: another training that begins in the
same place does not write over factors that count.
"""

import json
import secrets
import shutil
import tempfile
from pathlib import Path

from ..checks import check_path
from ..files import replacing
from ..parquet import Manifest

FORMAT, VERSION = "gapfm_teach.DistributedGAPfm checkpoint", 1
STATE = "checkpoint.json"
Row = tuple[int, float, float]


def describe(params: dict, data: Manifest) -> dict:
    """What a checkpoint must agree on with the training that resumes from it."""
    kept = {name: value for name, value in params.items() if name != "n_iter"}
    parts = [part.n_users for part in data.parts]
    return {
        **kept,
        "the ratings": data.hash,
        "the number of items": data.n_items,
        "the highest grade": data.max_grade,
        "the number of users in each part": parts,
    }


def new_factors_folder(path: Path, iteration: int) -> Path:
    folder = path / f"iteration-{iteration:08d}-{secrets.token_hex(4)}"
    folder.mkdir()
    return folder


def check_folder(path) -> Path:
    """Return `path`, after making the folder: not at the first checkpoint only must it fail.

    Raises TypeError or ValueError for no path, OSError where nothing can be written."""
    path = check_path(path, "checkpoint", "pass a folder's name such as 'run'")
    try:
        path.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path).close()
    except OSError as error:
        raise OSError(
            f"checkpoint {str(path)!r} cannot be written ({error}); pass a folder that you and "
            "the workers can write to"
        ) from error
    return path.absolute()


def commit(factors: Path, run: dict, rows: list[Row]) -> None:
    """Let `factors`, a folder already written, be the checkpoint in the folder around it."""
    stored = {"format": FORMAT, "version": VERSION, "run": run, "factors": factors.name}
    with replacing(factors.parent / STATE) as file:
        file.write(json.dumps(stored | {"history": rows}).encode())
    for folder in factors.parent.glob("iteration-*"):
        if folder != factors:
            shutil.rmtree(folder)


def read_state(path, run: dict, n_iter: int) -> tuple[Path, list[Row]]:
    """Where the factors of the checkpoint at `path` are, and its history: its iterations' rows.

    Raises FileNotFoundError, or ValueError for no checkpoint, one of another `run`, naming what
    differs, or one beyond `n_iter`.
    """
    path = check_path(path, "resume", "pass a folder from fit(checkpoint=...)")
    try:
        stored = json.loads((path / STATE).read_text(encoding="utf-8"))
        found = stored["format"], stored["version"]
        rows = [(int(i), float(f), float(g)) for i, f, g in stored["history"]]
        theirs, factors = stored["run"], path.absolute() / stored["factors"]
        differing = [name for name in run if theirs[name] != run[name]]
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(
            f"{path} holds no {STATE}; pass a folder from fit(checkpoint=...)"
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path / STATE} is damaged ({error!r}); fit anew without resume"
        ) from error
    if found != (FORMAT, VERSION):
        raise ValueError(
            f"{path / STATE} has format {found[0]!r} version {found[1]!r}, but {FORMAT!r} "
            f"version {VERSION} is read here; pass a folder from fit(checkpoint=...)"
        )
    if differing:
        name = differing[0]
        raise ValueError(
            f"{path} cannot be resumed here: {name} was {theirs[name]!r} and is {run[name]!r} "
            "now. Resume with the same data and parameters, or fit anew without resume"
        )
    if len(rows) > n_iter:
        raise ValueError(
            f"{path} has {len(rows)} iterations behind it, more than n_iter={n_iter}; n_iter "
            "counts from the very start: raise it"
        )
    return factors, rows
