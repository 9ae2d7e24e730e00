"""Make a table or figure of the paper in kind: a CSV file and a picture, taken up if interrupted."""

from collections.abc import Callable

import matplotlib.figure
import pandas as pd
from tqdm.auto import tqdm

from gapfm_teach._support.files import replacing, writable_folder

from ..overwriting import check_overwrite
from ..protocols import PROTOCOLS
from ..versions import versions
from .choices import sample_of
from .figures import draw_table
from .result_cache import stoppable, write_csv
from .run import Run
from .table1 import draw_statistics, statistics
from .tables import make_table
from .timing import machine


def reproduce(run: Run) -> pd.DataFrame:
    """Make it: `<out>/<file_name>.csv` (returned), `<out>/<file_name>.png`.

    An interrupted run goes on where it stopped: what it has finished is in
    `<out>/<file_name>.unfinished`, which is removed at the end. Raises OSError, before any work,
    where one of both folders cannot be written to, or a file is there that we did not write.
    """
    for folder in (run.out, run.results.folder):
        try:
            writable_folder(folder)
        except OSError as error:
            raise OSError(
                f"{folder} cannot be written to ({error.strerror}); name another folder with "
                "--out"
            ) from error
    check_overwrite(run.files)
    make = {"table1": _statistics} | dict.fromkeys(PROTOCOLS, _table)
    table, header, picture = make.get(run.name, _figure)(run)
    write_csv(run.out / f"{run.file_name}.csv", table, [run.command, *header, versions()])
    if run.probe is not None:  # real or simulated: a picture is shown without its table
        picture.suptitle(run.ratings.source.split(";")[0])
    with replacing(run.out / f"{run.file_name}.png") as file:
        picture.savefig(file, format="png", dpi=150)
    run.results.clear()
    return table


Made = tuple[pd.DataFrame, list[str], matplotlib.figure.Figure]


def _statistics(run: Run) -> Made:
    header = [f"Data: {run.ratings!r}", "Counted: users with at least 50 ratings"]
    return statistics(run.ratings), header, draw_statistics(run.ratings)


def _figure(run: Run) -> Made:
    figure = run.figure

    def work(check: Callable[[], None]) -> list[pd.DataFrame]:
        parts = []
        for seed in tqdm(range(run.n_splits), desc=run.name):
            check()
            make = lambda seed=seed: figure.measure(*run.parts, seed)  # noqa: E731
            parts.append(run.results.get(run.key(seed), make))
        return parts

    table = pd.concat(stoppable(work), ignore_index=True)
    header = [_data(run), figure.words, f"Machine: {machine()}"]
    return table, header, figure.draw(table)


def _table(run: Run) -> Made:
    table, compared, left_out = make_table(run)
    header = [
        _data(run),
        "Tuned inside each split's training part, "
        + ("the whole grid" if run.n_trials is None else f"{run.n_trials} points drawn")
        + sample_of(run.ratings)
        + f"; chosen settings: {run.choices.name}",
        f"Protocol: {run.protocol.words}",
        "Intervals: 95%, over users and splits with their tuning; differences: paired, p_holm "
        "corrected for all comparisons with one reference",
        *left_out,
    ]
    several = ["Each metric with the settings best by it"]
    header += several if len(run.protocol.tuned_for) > 1 else []
    write_csv(run.differences, compared, [run.command, *header, versions()])
    return table, header, draw_table(table)


def _data(run: Run) -> str:
    seeds = f"seeds 0 to {run.n_splits - 1}" if run.n_splits > 1 else "seed 0"
    probe = "" if run.probe is None else f"; probe: {run.probe.n_ratings:,} ratings"
    return f"Data: {run.ratings!r}{probe}; {seeds}, a split each"
