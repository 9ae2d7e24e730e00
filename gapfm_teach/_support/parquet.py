"""Ratings as a folder of Parquet files, a part for each worker: what `Ratings.to_parquet` writes.

    ratings.json          sizes, grade scale, source, the list of parts, and a hash of all ratings
    items.parquet         `item` (id) and `title`: row i is the item at position i
    part-00000.parquet    a row a user, in order: `user` (id), `items` (positions, increasing) and
                          `grades` (1..max_grade), two lists of equal length, perhaps empty

Any Parquet reader opens them. The two lists are a part's compressed rows as they are, so that
reading one copies arrays and converts nothing. Times are left out: training needs none. Needs
pyarrow, of the extra "distributed".
"""

import json
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from .checks import check_count, check_path
from .columns import check_storable
from .files import content_hash, new_folder

FORMAT, VERSION = "gapfm_teach.Ratings in Parquet", 3
MANIFEST, ITEMS = "ratings.json", "items.parquet"
_AGAIN = "write the folder again with Ratings.to_parquet"


@dataclass(frozen=True)
class Part:
    """One file of users."""

    file: str
    n_users: int
    n_ratings: int


@dataclass(frozen=True)
class Manifest:
    """What a folder holds, all that is known without opening a Parquet file.

    hash : of all ratings.
    """

    n_users: int
    n_items: int
    n_ratings: int
    max_grade: int
    source: str
    origin: str
    hash: str
    parts: tuple[Part, ...]


# ------------------------------------------------------------------ writing


def write_folder(path, ratings, n_partitions: int) -> None:
    """Write `ratings` (a Ratings) to a new folder of `n_partitions` parts, whole or not at all.

    The parts hold neighbouring users and about equally many ratings.

    Raises ValueError for more parts than users and for ids that are neither numbers nor text,
    FileExistsError where `path` is taken, ImportError without pyarrow.
    """
    pa, pq = _pyarrow()
    path = check_path(path, "path", "pass a folder's name such as 'ratings.parquet'")
    n_partitions = check_count(n_partitions, "n_partitions")
    if n_partitions > ratings.n_users:
        raise ValueError(
            f"n_partitions is {n_partitions} but there are {ratings.n_users} users; a part "
            "holds at least one"
        )
    users, items = (
        check_storable(getattr(ratings, name), name) for name in ("users", "items")
    )
    with new_folder(path) as folder:
        parts: list[Part] = []
        for first, last in pairwise(_cuts(ratings.indptr, n_partitions).tolist()):
            starts = ratings.indptr[first : last + 1]
            inside = slice(starts[0], starts[-1])
            offsets = pa.array(starts - starts[0], pa.int32())
            columns = {
                "user": pa.array(users[first:last]),
                "items": pa.ListArray.from_arrays(
                    offsets, pa.array(ratings.indices[inside])
                ),
                "grades": pa.ListArray.from_arrays(
                    offsets, pa.array(ratings.grades[inside])
                ),
            }
            name = f"part-{len(parts):05d}.parquet"
            parts.append(Part(name, last - first, int(starts[-1] - starts[0])))
            pq.write_table(pa.table(columns), folder / name)
        columns = {"item": pa.array(items), "title": pa.array(ratings.titles)}
        pq.write_table(pa.table(columns), folder / ITEMS)
        sizes = {
            name: getattr(ratings, name)
            for name in ("n_users", "n_items", "n_ratings", "max_grade", "source", "origin")
        }
        content = content_hash(ratings.indptr, ratings.indices, ratings.grades)
        stored = asdict(Manifest(**sizes, hash=content, parts=tuple(parts)))
        text = json.dumps({"format": FORMAT, "version": VERSION} | stored, indent=1)
        (folder / MANIFEST).write_text(text, encoding="utf-8")


def _cuts(indptr: np.ndarray, n_parts: int) -> np.ndarray:
    """First user of each part, and n_users: (n_parts + 1,), strictly increasing."""
    n_users = indptr.size - 1
    wanted = indptr[-1] / n_parts * np.arange(1, n_parts)
    inner = np.searchsorted(indptr[1:], wanted) + 1
    order = np.arange(1, n_parts)
    inner = np.maximum.accumulate(np.maximum(inner - order, 0)) + order  # none is empty ...
    inner = np.minimum(inner, n_users - n_parts + order)  # ... the last ones neither
    return np.concatenate([[0], inner, [n_users]])


# ------------------------------------------------------------------ reading


def read_manifest(path) -> Manifest:
    """What the folder `path` holds.

    Raises FileNotFoundError where there is none, ValueError for another file or version.
    """
    file = check_path(path, "path", "pass a folder from Ratings.to_parquet") / MANIFEST
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
        found = stored.pop("format"), stored.pop("version")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(
            f"{file} is missing; pass a folder from Ratings.to_parquet, and let every worker "
            "see it under the same name"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{file} is damaged ({error}); {_AGAIN}") from error
    if found != (FORMAT, VERSION):
        raise ValueError(
            f"{file} has format {found[0]!r} version {found[1]!r}, but {FORMAT!r} version "
            f"{VERSION} is read here; {_AGAIN}, or update gapfm_teach if the file is newer"
        )
    parts = tuple(Part(**part) for part in stored.pop("parts"))
    return Manifest(**stored, parts=parts)


def read_part(path, part: Part) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """indptr (n_users + 1,) int64, indices and grades (n_ratings,) int32 and int8 of one part.

    Raises FileNotFoundError, or ValueError, naming the file, for a damaged one and for one that
    does not hold as many users and ratings as the manifest says.
    """
    file = Path(path) / part.file
    items, grades = (_read(file, name).combine_chunks() for name in ("items", "grades"))
    starts = items.offsets.to_numpy().astype(np.int64)
    found = items.offsets.equals(grades.offsets), len(items), len(items.flatten())
    if found != (True, part.n_users, part.n_ratings):
        raise ValueError(f"{file} holds other ratings than {MANIFEST} describes; {_AGAIN}")
    return starts, items.flatten().to_numpy(), grades.flatten().to_numpy()


def read_folder(path) -> dict[str, Any]:
    """All that `write_folder` wrote, as the arguments of Ratings, by name. Raises as
    `read_manifest` and `read_part` do, and ValueError for other ratings than were written."""
    path = check_path(path, "path", "pass a folder from Ratings.to_parquet")
    manifest = read_manifest(path)
    parts = [read_part(path, part) for part in manifest.parts]
    lengths = np.concatenate([np.diff(starts) for starts, _, _ in parts])
    indices, grades = (np.concatenate([part[k] for part in parts]) for k in (1, 2))
    arrays = {
        "indptr": np.concatenate([[0], np.cumsum(lengths)]),
        "indices": indices,
        "grades": grades,
    }
    labels = {
        "users": np.concatenate(
            [_labels(path / one.file, "user") for one in manifest.parts]
        ),
        "items": _labels(path / ITEMS, "item"),
        "titles": _labels(path / ITEMS, "title"),
    }
    if content_hash(*arrays.values()) != manifest.hash or (
        labels["items"].size != manifest.n_items
    ):
        raise ValueError(f"{path} holds other ratings than {MANIFEST} describes; {_AGAIN}")
    about = {name: getattr(manifest, name) for name in ("max_grade", "source", "origin")}
    return arrays | labels | about


def _read(file: Path, name: str):
    """A column of a file, of Arrow."""
    pa, pq = _pyarrow()
    try:
        return pq.read_table(file, columns=[name]).column(name)
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"{file} is missing; copy the whole folder, let every worker see it under the same "
            f"name, or {_AGAIN}"
        ) from error
    except (OSError, KeyError, pa.ArrowException) as error:
        raise ValueError(f"{file} is damaged ({error}); {_AGAIN}") from error


def _labels(file: Path, name: str) -> np.ndarray:
    """A column of ids or titles."""
    values = _read(file, name).to_numpy()
    return values.astype(np.str_) if values.dtype == object else values


def _pyarrow():
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(
            "Parquet needs pyarrow; install it by: pip install 'gapfm-teach[distributed]'"
        ) from error
    return pyarrow, pyarrow.parquet
