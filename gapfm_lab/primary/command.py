"""`python -m gapfm_teach reproduce primary`: the declared comparison, or the same of your ratings."""

import shutil
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from gapfm_teach._support.checks import check_count, check_path
from gapfm_teach._support.files import replacing
from gapfm_teach.datasets import load_movielens
from gapfm_teach.ratings import Ratings

from ..overwriting import check_overwrite
from ..versions import versions
from . import declared
from .own_data import read_ratings
from .run import Piece, folder_name, pieces, run
from .search import FULL, REDUCED, Extent
from .table import make_tables, with_holm

RESULTS, OWN_RESULTS = Path("notebooks/results"), Path("results")
UNFINISHED = "primary.unfinished"
OWN_SPLITS = 2
FEWEST_USERS = 30  # a third of them to tune on, and enough others for a mean


def main(options: Namespace) -> int:
    """Measure, write `primary*.csv` and print the primary endpoint; return 0."""
    own = options.path is not None
    loaded = (
        _own(options.path)
        if own
        else {name: load_movielens(name) for name in _names(options)}
    )
    quick = own or options.quick
    n_splits = OWN_SPLITS if quick else declared.N_SPLITS
    if options.splits is not None:
        n_splits = check_count(options.splits, "--splits")
    extent = FULL if options.full or not quick else REDUCED
    default = OWN_RESULTS if own else RESULTS / "quick" if quick else RESULTS
    out = (
        default
        if options.out is None
        else Path(check_path(options.out, "--out", "name a folder"))
    )
    out.mkdir(parents=True, exist_ok=True)
    files = [
        out / f"{name}.csv"
        for name in ("primary", "primary_differences", "primary_choices")
    ]
    check_overwrite(files)
    tables = [
        _measure(name, ratings, n_splits, extent, out / UNFINISHED)
        for name, ratings in loaded.items()
    ]
    means, differences, choices = (pd.concat(parts) for parts in zip(*tables, strict=True))
    header = [
        f"python -m gapfm_teach reproduce primary{_typed(options)}",
        *(f"Data: {ratings!r}" for ratings in loaded.values()),
        f"Search: {'full' if extent == FULL else 'reduced'}; declared in gapfm_lab/primary/declared.py",
        "Intervals: 95%, over users and splits; n_users 0: over splits alone",
        versions(),
    ]
    for file, table in zip(files, (means, with_holm(differences), choices), strict=True):
        _write(file, table, header)
    for (
        name,
        ratings,
    ) in loaded.items():  # those of other data may belong to a run to be resumed
        shutil.rmtree(out / UNFINISHED / folder_name(name, ratings, extent))
    if not any((out / UNFINISHED).iterdir()):
        (out / UNFINISHED).rmdir()
    print(shown(means))
    print(files[0])
    return 0


def shown(means: pd.DataFrame) -> str:
    """The primary endpoint, best first, with intervals; a block for each data set and given."""
    blocks = []
    primary = means[means["metric"] == declared.METRIC]
    for (data, given), rows in primary.groupby(["data", "given"], sort=False):
        rows = rows.sort_values("mean", ascending=False)
        lines = [
            f"{row.system:27} {row.mean:.3f} [{row.ci_low:.3f}, {row.ci_high:.3f}]"
            for row in rows.itertuples()
        ]
        splits = rows["n_splits"].max()
        title = f"{declared.METRIC}, {data}, Given {given}, {splits} splits, "
        blocks.append("\n".join([f"{title}{rows['n_users'].max()} users", *lines]))
    return "\n\n".join(blocks)


def _names(options: Namespace) -> Sequence[str]:
    return declared.DATA if options.data is None else (options.data,)


def _own(path) -> Mapping[str, Ratings]:
    ratings = read_ratings(path)
    print(f"{ratings!r}")
    return {Path(path).stem: ratings}


def _measure(
    name: str, ratings: Ratings, n_splits: int, extent: Extent, folder: Path
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    givens = [given for given in declared.GIVEN if _n_users(ratings, given) >= FEWEST_USERS]
    if not givens:
        most = int(np.diff(ratings.indptr).max())
        raise ValueError(
            f"{name}: fewer than {FEWEST_USERS} users have {min(declared.GIVEN)} ratings to train "
            f"on and {declared.FEWEST_LEFT} to test (the most that one has is {most}); use more ratings"
        )
    systems = [
        system
        for system, space in declared.SYSTEMS.items()
        if extent == FULL or not space.dear
    ]
    todo: list[Piece] = list(pieces(n_splits, systems, givens))
    place = folder / folder_name(name, ratings, extent)
    return make_tables(name, ratings, run(ratings, place, todo, extent))


def _n_users(ratings: Ratings, given: int) -> int:
    return int(np.sum(np.diff(ratings.indptr) >= given + declared.FEWEST_LEFT))


def _typed(options: Namespace) -> str:
    """The options, without folders of this machine."""
    words = [f" --data {options.data}"] if options.data else []
    words += [f" --path {Path(options.path).name}"] if options.path else []
    words += [f" --splits {options.splits}"] if options.splits else []
    return "".join(
        words + [f" --{name}" for name in ("quick", "full") if getattr(options, name)]
    )


def _write(file: Path, table: pd.DataFrame, header: Sequence[str]) -> None:
    text = "".join(f"# {line}\n" for line in header) + table.to_csv(index=False)
    with replacing(file) as out:
        out.write(text.encode())
