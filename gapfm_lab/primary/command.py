"""`python -m gapfm_teach reproduce primary`: the declared comparison, or the same of your ratings."""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from gapfm_teach._support.checks import check_count, check_path
from gapfm_teach.datasets import load_movielens
from gapfm_teach.intervals import holm
from gapfm_teach.ratings import Ratings

from ..result_files import check_overwrite, write_csv
from ..versions import versions
from . import declared
from .own_data import read_ratings
from .protocol import Protocol
from .run import folder_name, measure_all, remove_pieces
from .search import FULL, REDUCED, Extent
from .table import make_tables

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
    protocol = primary(n_splits, FULL if options.full or not quick else REDUCED)
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
    folders = {
        name: out / UNFINISHED / folder_name(name, protocol.extent, ratings)
        for name, ratings in loaded.items()
    }
    tables = [
        _tables(protocol, name, ratings, folders[name]) for name, ratings in loaded.items()
    ]
    means, differences, choices = (pd.concat(parts) for parts in zip(*tables, strict=True))
    header = [
        f"python -m gapfm_teach reproduce primary{_typed(options)}",
        *(f"Data: {ratings!r}" for ratings in loaded.values()),
        f"Search: {'full' if protocol.extent == FULL else 'reduced'}; declared in gapfm_lab/primary/declared.py",
        "Intervals: 95%, over users and splits; n_users 0: over splits alone",
        versions(),
    ]
    for file, table in zip(files, (means, with_holm(differences), choices), strict=True):
        write_csv(file, table, header)
    for folder in folders.values():
        remove_pieces(folder)
    print(shown(means))
    print(files[0])
    return 0


def primary(n_splits: int, extent: Extent) -> Protocol:
    """The protocol of what is declared; a shorter search is not made for the dear systems."""
    systems = {
        name: space
        for name, space in declared.SYSTEMS.items()
        if extent == FULL or not space.dear
    }
    return Protocol(
        "catalogue", declared.GIVEN, systems, (*declared.PER_USER, declared.FEW_CANDIDATES),
        declared.COMPARISONS, extent, n_splits, declared.N_SPLITS_DEAR, declared.PER_SPLIT,
    )  # fmt: skip


def with_holm(differences: pd.DataFrame) -> pd.DataFrame:
    """p_value of the primary endpoint alone, and `p_holm`: those adjusted together."""
    on_primary = differences["metric"] == declared.METRIC
    adjusted = pd.Series(np.nan, differences.index)
    adjusted[on_primary] = holm(differences.loc[on_primary, "p_value"])
    p_value = differences["p_value"].where(on_primary)
    return differences.assign(p_value=p_value, p_holm=adjusted)


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


def _tables(
    protocol: Protocol, name: str, ratings: Ratings, folder: Path
) -> list[pd.DataFrame]:
    """Those of one data set, the name in front."""
    counts = np.diff(ratings.indptr)
    givens = [
        given for given in protocol.givens
        if np.sum(counts >= given + declared.FEWEST_LEFT) >= FEWEST_USERS
    ]  # fmt: skip
    if not givens:
        raise ValueError(
            f"{name}: fewer than {FEWEST_USERS} users have {min(protocol.givens)} ratings to train "
            f"on and {declared.FEWEST_LEFT} to test (the most that one has is {counts.max()}); use more "
            "ratings"
        )
    protocol = replace(protocol, givens=givens)
    tables = make_tables(protocol, ratings, measure_all(protocol, ratings, folder))
    for table in tables:
        table.insert(0, "data", name)
    return list(tables)


def _typed(options: Namespace) -> str:
    """The options, without folders of this machine."""
    words = [f" --data {options.data}"] if options.data else []
    words += [f" --path {Path(options.path).name}"] if options.path else []
    words += [f" --splits {options.splits}"] if options.splits else []
    return "".join(
        words + [f" --{name}" for name in ("quick", "full") if getattr(options, name)]
    )
