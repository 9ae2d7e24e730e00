"""Checkpoints of a distributed training: a folder that every worker must see.

    checkpoint.lock               keeps other trainings out of the folder, see `lock_dir`
    checkpoint.json               what was trained, on what, how far, the history, what samples
                                  depend on, and in which folder the factors are
    iteration-00000010-1f2e3d4c/  they: items.npy, and users-00000.npy for part 0, ...; rows as in
                                  `tasks.Method`

The workers write the factors, each its own users'. Only when all are on the disk is
`checkpoint.json` renamed to its place: the one instant in which the checkpoint changes. Then the
older factors are removed. Their folder has a name that was never used: a training that begins
in the same place does not write over factors that count.
"""

import contextlib
import json
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock, Timeout

from .._support.checks import check_path
from .._support.files import replacing, writable_folder
from .._support.parquet import Manifest
from ..training.checkpoint import check_iterations, check_overwrite, check_resumable
from ..training.estimator import Settings

FORMAT, VERSION = "gapfm_teach.DistributedGAPfm checkpoint", 2
STATE, LOCK = "checkpoint.json", "checkpoint.lock"
FACTORS = "iteration-????????-????????"
Row = tuple[int, float, float]


class Saved(NamedTuple):
    """A checkpoint: the folder of its factors, after how many iterations they were saved, and
    what the samples of the training depend on."""

    factors: Path
    iteration: int
    sample_key: list[int]


@dataclass
class CheckpointManager:
    """Where a training of `run` saves itself, None for nowhere, and how often; and the last
    checkpoint."""

    folder: Path | None
    every: int
    n_iter: int
    run: dict
    last: Saved | None = None

    def new_folder(self, iteration: int) -> Path | None:
        """One for the factors after `iteration`, where they are to be saved."""
        due = iteration % self.every == 0 or iteration == self.n_iter
        if self.folder is None or not due:
            return None
        factors = self.folder / f"iteration-{iteration:08d}-{secrets.token_hex(4)}"
        factors.mkdir()
        return factors

    def commit(self, factors: Path, rows: list[Row], sample_key: list[int]) -> None:
        commit(factors, self.run, rows, sample_key)
        self.last = Saved(factors, len(rows), sample_key)


@contextlib.contextmanager
def lock_dir(path, resume=None) -> Iterator[Path]:
    """Yield the folder `path`, absolute, made where there is none, and keep others out of it.

    It must be empty, or of checkpoints already: of the one to `resume` from, or of none that was
    finished. The lock is the operating system's and ends with this process, however it ends.

    Raises TypeError or ValueError for no path, FileExistsError for a folder that holds something
    else, BlockingIOError where another training has it, OSError where nothing can be written:
    not at the first checkpoint only must it fail.
    """
    path = check_path(path, "checkpoint", "pass a folder's name such as 'run'").absolute()
    if resume is not None:
        resume = check_path(resume, "resume", "pass a folder from fit(checkpoint=...)")
    _check_ours(path)
    lock = FileLock(path / LOCK, timeout=0)
    try:
        writable_folder(path)
        lock.acquire()
    except Timeout:
        raise BlockingIOError(
            f"another training is writing to checkpoint {str(path)!r}; wait until it has "
            "ended, or pass another folder"
        ) from None
    except OSError as error:
        raise OSError(
            f"checkpoint {str(path)!r} cannot be written ({error}); pass a folder that you "
            "and the workers can write to, on a disk that knows locks"
        ) from error
    with lock:
        check_overwrite(path, path / STATE, resume)
        yield path


def _check_ours(path: Path) -> None:
    """Raise FileExistsError for a folder that is neither empty nor of checkpoints."""
    names = {entry.name for entry in path.iterdir()} if path.is_dir() else set()
    if names and not names & {STATE, LOCK}:
        raise FileExistsError(
            f"checkpoint {str(path)!r} holds {min(names)!r}, which no training wrote; pass an "
            "empty folder, a new one, or one of checkpoints"
        )


def describe(settings: Settings, data: Manifest) -> dict:
    """What a checkpoint must agree on with the training that resumes from it.

    The objective comes first: on it depends which other parameters there are.
    """
    named = {name: value for name, value in settings.by_name().items() if name != "n_iter"}
    parts = [part.n_users for part in data.parts]
    return {
        **named,
        "the ratings": data.hash,
        "the number of items": data.n_items,
        "the highest grade": data.max_grade,
        "the number of users in each part": parts,
    }


def commit(factors: Path, run: dict, rows: list[Row], sample_key: list[int]) -> None:
    """Let `factors`, a folder already written, be the checkpoint in the folder around it."""
    stored = {"format": FORMAT, "version": VERSION, "run": run, "factors": factors.name}
    stored |= {"history": rows, "sample_key": sample_key}
    with replacing(factors.parent / STATE) as file:
        file.write(json.dumps(stored).encode())
    for older in factors.parent.glob(FACTORS):
        if older != factors:
            shutil.rmtree(older)


def read_state(path, run: dict, n_iter: int) -> tuple[Saved, list[Row]]:
    """The checkpoint at `path`, and its history: its iterations' rows.

    Raises FileNotFoundError, or ValueError for no checkpoint, one of another `run`, naming what
    differs, or one beyond `n_iter`.
    """
    path = check_path(path, "resume", "pass a folder from fit(checkpoint=...)")
    try:
        stored = json.loads((path / STATE).read_text(encoding="utf-8"))
        found = stored["format"], stored["version"]
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(
            f"{path} holds no {STATE}; pass a folder from fit(checkpoint=...)"
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path / STATE} is damaged ({error!r}); fit anew without resume"
        ) from error
    if found != (FORMAT, VERSION):
        raise ValueError(
            f"{path / STATE} was made by an older version, or a newer one (format {found[0]!r}, "
            f"version {found[1]!r}); train it again"
        )
    check_resumable(path, stored["run"], run)
    rows = [(i, f, g) for i, f, g in stored["history"]]
    check_iterations(path, len(rows), n_iter)
    factors = path.absolute() / stored["factors"]
    return Saved(factors, len(rows), stored["sample_key"]), rows
