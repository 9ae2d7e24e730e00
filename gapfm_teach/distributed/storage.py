"""Checkpoints of a distributed training: a folder that every worker must see.

    checkpoint.lock               that the folder is one of checkpoints; see `place`
    checkpoint.json               what was trained, on what, how far, the history, what samples
                                  depend on, and in which folder the factors are
    iteration-00000010-1f2e3d4c/  they: items.npy, and users-00000.npy for part 0, ...; rows as in
                                  `tasks.Method`

The workers write the factors, each its own users'. Only when all are on the disk is
`checkpoint.json` renamed to its place: the one instant in which the checkpoint changes. Then the
older factors go, and nothing else. Their folder has a name that was never used: another training
that begins in the same place does not write over factors that count.
"""

import json
import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from .._support.checks import check_path
from .._support.files import read_json, remove_files, replacing
from .._support.parquet import Manifest
from ..training.checkpoint import differences
from ..training.estimator import Settings
from .place import FORMAT, STATE, VERSION

Row = tuple[int, float, float]
_FACTORS = re.compile(r"iteration-\d{8,}-[0-9a-f]{8}")
_ARRAYS = re.compile(r"(users-\d{5,}|items)\.npy")


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


def describe(settings: Settings, data: Manifest) -> dict:
    """What a checkpoint must agree on with the training that resumes from it.

    The objective comes first: on it depends which other parameters there are.
    """
    kept = {name: value for name, value in settings.by_name().items() if name != "n_iter"}
    parts = [part.n_users for part in data.parts]
    return {
        **kept,
        "the ratings": data.hash,
        "the number of items": data.n_items,
        "the highest grade": data.max_grade,
        "the number of users in each part": parts,
    }


def commit(factors: Path, run: dict, rows: list[Row], sample_key: list[int]) -> None:
    """Let `factors`, a folder already written, be the checkpoint in the folder around it."""
    stored = {"format": FORMAT, "version": VERSION, "run": run, "factors": factors.name}
    with replacing(factors.parent / STATE) as file:
        file.write(
            json.dumps(stored | {"history": rows, "sample_key": sample_key}).encode()
        )
    with os.scandir(factors.parent) as entries:
        older = [
            Path(entry)
            for entry in entries
            if _FACTORS.fullmatch(entry.name)
            and entry.name != factors.name
            and entry.is_dir(follow_symlinks=False)
        ]
    for folder in older:
        remove_files(folder, _ARRAYS)


def read_state(path, run: dict, n_iter: int) -> tuple[Saved, list[Row]]:
    """The checkpoint at `path`, and its history: its iterations' rows.

    Raises FileNotFoundError, or ValueError for no checkpoint, one of another `run`, naming what
    differs, or one beyond `n_iter`.
    """
    path = check_path(path, "resume", "pass a folder from fit(checkpoint=...)")
    try:
        stored = read_json(path / STATE)
        found = stored["format"], stored["version"]
        rows = [(int(i), float(f), float(g)) for i, f, g in stored["history"]]
        theirs = stored["run"]
        factors, key = path.absolute() / stored["factors"], stored["sample_key"]
        different = differences(theirs, run)
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
            f"{path / STATE} was made by an older version, or a newer one (format {found[0]!r}, "
            f"version {found[1]!r}); train it again"
        )
    if different:
        raise ValueError(
            f"{path} cannot be resumed here: {different}. Resume with the same data and parameters, "
            "or fit anew without resume"
        )
    if len(rows) > n_iter:
        raise ValueError(
            f"{path} has {len(rows)} iterations behind it, more than n_iter={n_iter}; "
            "n_iter counts from the very start: raise it"
        )
    return Saved(factors, len(rows), key), rows
