"""Checkpoints of a distributed training: a folder that every worker must see.

    checkpoint.json             what was trained, on what, how far, and the history
    iteration-00000010/         the factors then: items.npy, and users-00000.npy for part 0, ...

The workers write the factors, each its own users'. Only when all are on the disk is
`checkpoint.json` renamed to its place: the one instant in which the checkpoint changes. Then the
older factors go.
"""

import json
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
    return {**kept, "the ratings": data.hash, "the number of users in each part": parts}


def factors_folder(path: Path, iteration: int) -> Path:
    return path / f"iteration-{iteration:08d}"


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


def commit(path: Path, run: dict, rows: list[Row]) -> None:
    """Let the factors of iteration `rows[-1][0]`, already written, be the checkpoint."""
    stored = {"format": FORMAT, "version": VERSION, "run": run, "history": rows}
    with replacing(path / STATE) as file:
        file.write(json.dumps(stored).encode())
    for folder in path.glob("iteration-*"):
        if folder != factors_folder(path, len(rows)):
            shutil.rmtree(folder)


def read_rows(path, run: dict, n_iter: int) -> list[Row]:
    """The history of the checkpoint at `path`, one row for each iteration it has behind it.

    Raises FileNotFoundError, or ValueError for no checkpoint, one of another `run`, naming what
    differs, or one beyond `n_iter`.
    """
    path = check_path(path, "resume", "pass a folder from fit(checkpoint=...)")
    try:
        stored = json.loads((path / STATE).read_text(encoding="utf-8"))
        found = stored["format"], stored["version"]
        rows = [(int(i), float(f), float(g)) for i, f, g in stored["history"]]
        theirs = stored["run"]
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
    return rows
