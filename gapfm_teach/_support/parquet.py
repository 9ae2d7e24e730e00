"""Ratings as a folder of Parquet files, a part for each worker: what `Ratings.to_parquet` writes.

    ratings.json          sizes, grade scale, source, the list of parts, hashes of all that is in
                          the other files, in its order, and one of itself
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
from .files import content_hash, new_folder, read_json, regular

FORMAT, VERSION = "gapfm_teach.Ratings in Parquet", 2
MANIFEST, ITEMS = "ratings.json", "items.parquet"
_MOST_IN_A_PART = 2**31 - 1  # Arrow counts a list's entries in 32 bits
_AGAIN = "write the folder again with Ratings.to_parquet"


@dataclass(frozen=True)
class Part:
    """One file of users, the hash of its ratings and that of its users' ids."""

    file: str
    n_users: int
    n_ratings: int
    hash: str
    ids_hash: str


@dataclass(frozen=True)
class Manifest:
    """What a folder holds, all that is known without opening a Parquet file.

    hash : of all ratings; items_hash : of the items' ids and titles.
    """

    n_users: int
    n_items: int
    n_ratings: int
    max_grade: int
    source: str
    origin: str
    hash: str
    items_hash: str
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
    for name in ("users", "items"):
        ids = getattr(ratings, name)
        if ids.dtype.kind not in "iufU":
            raise ValueError(
                f"{name} are of type {ids.dtype}, such as {ids[0]!r}; make them all whole "
                "numbers or all text to write Parquet"
            )
    cuts = _cuts(ratings.indptr, n_partitions)
    with new_folder(path) as folder:
        parts = [
            _write_part(folder, number, ratings, int(first), int(last))
            for number, (first, last) in enumerate(pairwise(cuts))
        ]
        columns = {"item": pa.array(ratings.items), "title": pa.array(ratings.titles)}
        pq.write_table(pa.table(columns), folder / ITEMS, write_page_checksum=True)
        sizes = {
            name: getattr(ratings, name)
            for name in ("n_users", "n_items", "n_ratings", "max_grade", "source", "origin")
        }
        content = content_hash(ratings.indptr, ratings.indices, ratings.grades)
        labels = _labels_hash(ratings.items, ratings.titles)
        manifest = Manifest(**sizes, hash=content, items_hash=labels, parts=tuple(parts))
        stored = asdict(manifest)
        head = {"format": FORMAT, "version": VERSION, "checksum": _text_hash(stored)}
        text = json.dumps(head | stored, indent=1)
        (folder / MANIFEST).write_text(text, encoding="utf-8")


def _labels_hash(*columns: np.ndarray) -> str:
    """A hash of ids and titles: 1 is not "1", and how wide an array of text is does not matter."""
    return _text_hash([column.tolist() for column in columns])


def _text_hash(value) -> str:
    """A hash of what JSON can hold."""
    text = json.dumps(value, sort_keys=True).encode()
    return content_hash(np.frombuffer(text, np.uint8))


def _cuts(indptr: np.ndarray, n_parts: int) -> np.ndarray:
    """First user of each part, and n_users: (n_parts + 1,), strictly increasing."""
    n_users = indptr.size - 1
    wanted = indptr[-1] / n_parts * np.arange(1, n_parts)
    inner = np.searchsorted(indptr[1:], wanted) + 1
    order = np.arange(1, n_parts)
    inner = np.maximum.accumulate(np.maximum(inner - order, 0)) + order  # none is empty ...
    inner = np.minimum(inner, n_users - n_parts + order)  # ... the last ones neither
    return np.concatenate([[0], inner, [n_users]])


def _write_part(folder: Path, number: int, ratings, first: int, last: int) -> Part:
    pa, pq = _pyarrow()
    starts = ratings.indptr[first : last + 1]
    inside = slice(starts[0], starts[-1])
    size = int(starts[-1] - starts[0])
    if size > _MOST_IN_A_PART:
        raise ValueError(
            f"part {number} would hold {size:,} ratings, above {_MOST_IN_A_PART:,}; raise "
            "n_partitions"
        )
    offsets = pa.array((starts - starts[0]).astype(np.int32))
    columns = {
        "user": pa.array(ratings.users[first:last]),
        "items": pa.ListArray.from_arrays(offsets, pa.array(ratings.indices[inside])),
        "grades": pa.ListArray.from_arrays(offsets, pa.array(ratings.grades[inside])),
    }
    content = content_hash(
        starts - starts[0], ratings.indices[inside], ratings.grades[inside]
    )
    ids = _labels_hash(ratings.users[first:last])
    part = Part(f"part-{number:05d}.parquet", last - first, size, content, ids)
    pq.write_table(pa.table(columns), folder / part.file, write_page_checksum=True)
    return part


# ------------------------------------------------------------------ reading


def read_manifest(path) -> Manifest:
    """What the folder `path` holds.

    Raises FileNotFoundError where there is none, ValueError for a file that is none, is not as it
    was written, or whose parts do not add up. Version 1 is refused: it told nothing of ids and titles.
    """
    file = check_path(path, "path", "pass a folder from Ratings.to_parquet") / MANIFEST
    try:
        stored = read_json(file)
        found = stored.pop("format"), stored.pop("version")
        if found == (FORMAT, VERSION):
            if stored.pop("checksum") != _text_hash(stored):
                raise ValueError("it does not fit its checksum")
            parts = tuple(Part(**part) for part in stored.pop("parts"))
            manifest = Manifest(**stored, parts=parts)
            for name in ("n_users", "n_ratings"):
                total = sum(getattr(part, name) for part in parts)
                if total != getattr(manifest, name):
                    raise ValueError(f"its parts have {name} {total} together")
            return manifest
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(
            f"{file} is missing; pass a folder from Ratings.to_parquet, and let every worker "
            "see it under the same name"
        ) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{file} is damaged ({error}); {_AGAIN}") from error
    raise ValueError(
        f"{file} has format {found[0]!r} version {found[1]!r}, but {FORMAT!r} version {VERSION} "
        f"is read here; {_AGAIN}, or update gapfm_teach if the file is newer"
    )


def read_part(path, part: Part, n_items: int, max_grade: int) -> tuple:
    """indptr (n_users + 1,) int64, indices and grades (n_ratings,) int32 and int8 of one part.

    Raises FileNotFoundError, or ValueError, naming the file, for a damaged one, other columns,
    what cannot be ratings of these items on this scale of grades, and other ratings.
    """
    file = Path(path) / part.file
    table = _read_columns(file, {"items": "list of int32", "grades": "list of int8"})
    (starts, indices), (ends, grades) = (_lists(file, table, n) for n in table.column_names)
    _refuse(
        file, not np.array_equal(starts, ends), "unequally many items and grades a user"
    )
    sizes = starts.size - 1, indices.size
    due = part.n_users, part.n_ratings
    _refuse(file, sizes != due, f"(users, ratings) {sizes}, where {MANIFEST} has {due}")
    for name, values, low, high in [
        ("items", indices, 0, n_items - 1),
        ("grades", grades, 1, max_grade),
    ]:
        bad = (values < low) | (values > high)
        first = int(values[np.argmax(bad)]) if bad.any() else None
        _refuse(file, first is not None, f"{name} outside {low}..{high}, such as {first}")
    falls = np.diff(indices) <= 0
    falls[starts[(starts > 0) & (starts < indices.size)] - 1] = False
    _refuse(file, falls.any(), "items that do not increase inside a row")
    other = content_hash(starts, indices, grades) != part.hash
    _refuse(file, other, f"other ratings than {MANIFEST} describes")
    return starts, indices, grades


def read_folder(path) -> dict[str, Any]:
    """All that `write_folder` wrote, as the arguments of Ratings, by name. Raises as
    `read_manifest` and `read_part` do, and ValueError for other ids or titles, and for parts that
    are together not what the manifest says."""
    path = check_path(path, "path", "pass a folder from Ratings.to_parquet")
    manifest = read_manifest(path)
    sizes = manifest.n_items, manifest.max_grade
    parts = [read_part(path, part, *sizes) for part in manifest.parts]
    lengths = np.concatenate([np.diff(starts) for starts, _, _ in parts])
    indices, grades = (np.concatenate([part[k] for part in parts]) for k in (1, 2))
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    other = content_hash(indptr, indices, grades) != manifest.hash
    _refuse(path, other, f"other ratings in all than {MANIFEST} describes")
    users = np.concatenate(
        [_labels(path / one.file, one.ids_hash, "user")[0] for one in manifest.parts]
    )
    items, titles = _labels(path / ITEMS, manifest.items_hash, "item", "title")
    found, due = (users.size, items.size), (manifest.n_users, manifest.n_items)
    _refuse(path, found != due, f"(users, items) {found}, where {MANIFEST} has {due}")
    return {
        "indptr": indptr,
        "indices": indices,
        "grades": grades,
        "max_grade": manifest.max_grade,
        "users": users,
        "items": items,
        "titles": titles,
        "source": manifest.source,
        "origin": manifest.origin,
    }


def _read_columns(file: Path, wanted: dict[str, str | None]):
    """The `wanted` columns as an Arrow table; a name stands with its type, None for any."""
    pa, pq = _pyarrow()
    try:
        with pq.ParquetFile(regular(file), page_checksum_verification=True) as opened:
            schema = opened.schema_arrow
            for name, kind in wanted.items():
                n_times = schema.names.count(name)
                _refuse(file, n_times == 0, f"no column {name!r}")
                _refuse(file, n_times > 1, f"{n_times} columns {name!r}")
                found = schema.field(name).type
                found = (
                    f"list of {found.value_type}" if pa.types.is_list(found) else str(found)
                )
                wrong = kind not in (None, found)
                _refuse(file, wrong, f"{name!r} of type {found}, not {kind}")
            return opened.read(columns=list(wanted))
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"{file} is missing; copy the whole folder, let every worker see it under the same "
            f"name, or {_AGAIN}"
        ) from error
    except (OSError, pa.ArrowException) as error:
        if isinstance(error, ValueError) and str(file) in str(error):
            raise  # ours already
        raise ValueError(f"{file} is damaged ({error}); {_AGAIN}") from error


def _lists(file: Path, table, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Where each row of a column of lists begins, int64, and the values of all rows."""
    column = table.column(name).combine_chunks()
    values = column.flatten()
    _refuse(file, column.null_count or values.null_count, f"missing values in {name!r}")
    starts = column.offsets.to_numpy().astype(np.int64)
    return starts - starts[0], values.to_numpy()


def _labels(file: Path, due: str, *names: str) -> list[np.ndarray]:
    """Columns of ids or titles, of which `due` is the hash."""
    kinds = {name: "string" if name == "title" else None for name in names}
    table = _read_columns(file, kinds)
    found = [_label(file, table, name) for name in names]
    wrong = f"another {' or '.join(map(repr, names))} than {MANIFEST} describes"
    _refuse(file, _labels_hash(*found) != due, wrong)
    return found


def _label(file: Path, table, name: str) -> np.ndarray:
    """A column of ids or titles."""
    types, column = _pyarrow()[0].types, table.column(name)
    kind = column.type
    fit = types.is_string(kind) or types.is_integer(kind) or types.is_floating(kind)
    _refuse(file, not fit, f"{name!r} of type {kind}, neither numbers nor text")
    _refuse(file, column.null_count, f"missing values in {name!r}")
    values = column.to_numpy()
    return values.astype(np.str_) if values.dtype == object else values


def _refuse(file: Path, wrong, what: str) -> None:
    if wrong:
        raise ValueError(f"{file} has {what}; {_AGAIN}")


def _pyarrow():
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(
            "Parquet needs pyarrow; install it by: pip install 'gapfm-teach[distributed]'"
        ) from error
    return pyarrow, pyarrow.parquet
