"""Make a table or figure of the paper in kind: CSV files and a picture, resumed if interrupted."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import matplotlib.figure
import pandas as pd

from gapfm_teach._support.files import replacing, writable_folder
from gapfm_teach.ratings import Ratings

from ..primary.measure import ALL, MOST_USERS
from ..primary.protocol import Protocol
from ..primary.run import described, folder_name, measure_all, remove_pieces
from ..primary.run import run as measure_pieces
from ..primary.search import REDUCED
from ..primary.table import make_tables
from ..protocols import PROTOCOLS
from ..result_files import check_overwrite, write_csv
from ..versions import versions
from . import netflix
from .figures import FIGURES, draw_table
from .table1 import draw_statistics, statistics
from .timing import machine

MAIN = "100k"  # the data whose results are called by the table's name alone
QUICK_SPLITS = 2
FIGURE_SPLITS = 10
NEEDS = {"SVD++": "surprise"}


@dataclass(frozen=True)
class Run:
    """What to make of which ratings.

    name : "table1".."table4", "figure1".."figure4", "ablation", "family"; data : short name of
    the ratings ("100k"); out : folder of the results; command : what was typed, for the header;
    n_splits : seeds 0..n_splits - 1, or None for as many as the protocol has; quick : with the
    reduced search and few splits; probe : test ratings where they are set apart, as Netflix's are, else None.
    Results are called by `name`, with `data` before it but for MovieLens 100K.
    """

    name: str
    ratings: Ratings
    data: str
    out: Path
    command: str
    n_splits: int | None = None
    quick: bool = False
    probe: Ratings | None = None

    def __post_init__(self) -> None:
        tables, figures = netflix.TABLES, netflix.FIGURES
        if self.probe is not None and self.name not in {"table1", *tables, *figures}:
            raise ValueError(
                f"{self.name} is not made from Netflix's data; choose table1, "
                f"{', '.join([*tables, *figures])}"
            )

    def file(self, ending: str) -> Path:
        """Of the results, by how its name ends."""
        name = self.name if self.data == MAIN else f"{self.data}_{self.name}"
        return self.out / f"{name}{ending}"

    @property
    def parts(self) -> tuple[Ratings, ...]:
        """The ratings and, where there is one, the probe."""
        return (self.ratings,) if self.probe is None else (self.ratings, self.probe)

    @property
    def protocol(self) -> Protocol | None:
        """How a table of systems is made from such data; None for what is another kind."""
        known = PROTOCOLS if self.probe is None else netflix.TABLES
        if self.name not in known:
            return None
        protocol = known[self.name]
        if self.quick:
            few = min(QUICK_SPLITS, protocol.n_splits)
            protocol = replace(protocol, extent=REDUCED, n_splits=few)
        return replace(protocol, n_splits=self.n_splits or protocol.n_splits)


def reproduce(run: Run) -> pd.DataFrame:
    """Make it: `<out>/<name>.csv` (returned), `.png`, and of systems `_differences.csv`, `_choices.csv`.

    An interrupted run goes on where it stopped: what it has finished is in
    `<out>/<name>.unfinished`, which is removed at the end. Raises OSError, before any work,
    where a folder cannot be written to, or a file is there that we did not write.
    """
    check_overwrite(map(run.file, (".csv", ".png", "_differences.csv", "_choices.csv")))
    protocol = run.protocol
    searched = run.name if protocol is None else described(protocol)
    pieces = run.file(".unfinished") / folder_name(run.data, searched, *run.parts)
    for folder in (run.out, pieces):
        try:
            writable_folder(folder)
        except OSError as error:
            raise OSError(
                f"{folder} cannot be written to ({error.strerror}); name another folder with "
                "--out"
            ) from error
    if protocol is not None:
        tables, header, picture = _of_systems(run, protocol, pieces)
    elif run.name == "table1":
        tables, header, picture = _statistics(run)
    else:
        tables, header, picture = _figure(run, pieces)
    header = [run.command, f"Data: {run.ratings!r}", *header, versions()]
    for ending, table in tables.items():
        write_csv(run.file(ending), table, header)
    if run.probe is not None:  # real or simulated: a picture is shown without its table
        picture.suptitle(run.ratings.source.split(";")[0])
    with replacing(run.file(".png")) as file:
        picture.savefig(file, format="png", dpi=150)
    remove_pieces(pieces)
    return tables[".csv"]


Made = tuple[Mapping[str, pd.DataFrame], list[str], matplotlib.figure.Figure]


def _statistics(run: Run) -> Made:
    header = ["Counted: users with at least 50 ratings"]
    return {".csv": statistics(run.ratings)}, header, draw_statistics(run.ratings)


def _figure(run: Run, pieces: Path) -> Made:
    figure = (FIGURES if run.probe is None else netflix.FIGURES)[run.name]
    usual = QUICK_SPLITS if run.quick else FIGURE_SPLITS
    n_splits = run.n_splits or (usual if run.probe is None else 1)
    todo = {f"{seed:02d}.csv": seed for seed in range(n_splits)}
    parts = measure_pieces(
        todo, lambda seed: figure.measure(*run.parts, seed), pieces, n_jobs=1
    )
    table = pd.concat(parts.values(), ignore_index=True)
    header = [_splits(n_splits), figure.words, f"Machine: {machine()}"]
    return {".csv": table}, header, figure.draw(table)


def _of_systems(run: Run, protocol: Protocol, pieces: Path) -> Made:
    absent = [
        name for name in protocol.systems if name in NEEDS and not find_spec(NEEDS[name])
    ]
    left_out = [
        f"{name} is left out for want of its library: pip install 'gapfm-teach[baselines]'"
        for name in absent
    ]
    for reason in left_out:
        print(reason, file=sys.stderr)
    systems = {
        name: space for name, space in protocol.systems.items() if name not in absent
    }
    protocol = replace(protocol, systems=systems)
    measured = measure_all(protocol, run.ratings, pieces, run.probe)
    means, differences, choices = make_tables(protocol, run.ratings, measured)
    tables = {
        ".csv": _by_candidates(means),
        "_differences.csv": _by_candidates(differences.drop(columns="p_value")),
        "_choices.csv": choices,
    }
    extent = protocol.extent
    header = [
        _splits(protocol.n_splits),
        f"Tuned on a third of the users of each split{_of_so_many(run.ratings)}: steps by {extent.factor:g}, "
        f"{extent.steps} either side, at most {extent.rounds} rounds; declared in gapfm_lab/protocols.py",
        f"Protocol: {protocol.words}; measured on the other users",
        "Intervals: 95%, over users and splits with their tuning; differences: paired",
        *left_out,
    ]
    several = ["Each metric with the settings best by it"]
    header += several if len(protocol.tuned_for) > 1 else []
    return tables, header, draw_table(tables[".csv"])


def _splits(n_splits: int) -> str:
    return f"Splits: {n_splits}, seeds 0 to {n_splits - 1}"


def _of_so_many(ratings: Ratings) -> str:
    return f", of {MOST_USERS:,} of them" if ratings.n_users > MOST_USERS else ""


def _by_candidates(table: pd.DataFrame) -> pd.DataFrame:
    """With "all P@5" taken apart into candidates and metric, if there is such; the others are of 1000."""
    whole = table["metric"].str.startswith(ALL)
    if whole.any():
        table = table.assign(
            metric=table["metric"].str.removeprefix(ALL),
            candidates=whole.map({True: "all", False: "1000"}),
        )
    return table
