"""Time and memory of reading data of the Netflix Prize's size, beside the usual pandas recipe.

`python benchmarks/netflix_reading.py [scale [table.csv]]`: at scale 1, the default, 100 million
simulated ratings are written to a temporary folder (2.1 GB of disk for a few minutes) and the
recipe needs several GiB of memory.
"""

import os
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from measure import in_fresh_process, peak

from gapfm_lab.netflix_simulation import simulate_netflix
from gapfm_lab.reproduce.timing import machine
from gapfm_lab.result_files import write_csv
from gapfm_lab.versions import versions
from gapfm_teach import load_netflix
from gapfm_teach.datasets.netflix import load
from gapfm_teach.datasets.netflix.arrange import by_movie
from gapfm_teach.datasets.netflix.files import find_inputs

PARTS = [f"combined_data_{n}.txt" for n in range(1, 5)]
TINY = 1e-4


def parser(folder: Path) -> tuple[int, int]:
    """Files to users and grades in the order of the movies: what the recipe does."""
    segments, _, _ = load.parse_all(find_inputs(folder))
    _, ratings = by_movie(segments)
    return ratings.nnz, int(ratings.data.sum(dtype=np.int64))


def ours(folder: Path) -> tuple[int, int]:
    """Files to ratings by user, probe taken out, titles read, cache written or used."""
    train, probe = load_netflix(folder)
    return (
        train.n_ratings + probe.n_ratings,
        int(train.grades.sum() + probe.grades.sum()),
    )


def recipe(folder: Path) -> tuple[int, int]:
    """Files to one table (user, movie, grade): lines without a grade are the movies' headers."""
    tables = []
    for name in PARTS:
        table = pd.read_csv(
            folder / name, header=None, names=["user", "grade"], usecols=[0, 1]
        )
        header = table["grade"].isna().to_numpy()
        movies = table["user"][header].str.rstrip(":").astype(np.int32).to_numpy()
        sizes = np.diff([*np.flatnonzero(header), len(table)]) - 1
        table = table[~header].astype({"user": np.int32, "grade": np.int8})
        table["movie"] = np.repeat(movies, sizes)
        tables.append(table)
    joined = pd.concat(tables, ignore_index=True)
    return len(joined), int(joined["grade"].sum())


READERS = {
    "the parser alone (the recipe's content)": parser,
    "load_netflix, first load (sorted by user, probe taken out, cache written)": ours,
    "load_netflix, second load (from the cache)": ours,
    "pandas.read_csv recipe (a table in the order of the files, no more)": recipe,
}


def measured(function, folder: Path, tiny: Path) -> tuple[float, float, tuple[int, int]]:
    """Seconds of one call, GiB at this process's peak, and the result.

    The call comes after one with a tiny data set, which compiles and imports.
    """
    function(tiny)
    begin = time.perf_counter()
    result = function(folder)
    return time.perf_counter() - begin, peak(), result


def measure(scale: float = 1.0) -> tuple[pd.DataFrame, int]:
    """First load, load from the cache, and the recipe, all on the same files.

    Returns a table with columns reader, n_ratings, seconds, peak_gib, and the files' bytes.
    """
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        # Not in this process: those begun later would start with its peak of memory as theirs.
        write = partial(simulate_netflix, random_state=0)
        folder = in_fresh_process(write, place / "netflix", scale)
        tiny = in_fresh_process(write, place / "tiny", TINY)
        kept = os.environ.get("GAPFM_TEACH_DATA")
        os.environ["GAPFM_TEACH_DATA"] = str(place / "data")  # for the processes begun here
        try:
            runs = [
                in_fresh_process(measured, function, folder, tiny)
                for function in READERS.values()
            ]
        finally:
            os.environ.pop("GAPFM_TEACH_DATA")
            if kept is not None:
                os.environ["GAPFM_TEACH_DATA"] = kept
        size = sum((folder / name).stat().st_size for name in PARTS)
    assert len({result for _, _, result in runs}) == 1, "they do not read the same ratings"
    rows = [(count, took, peak) for took, peak, (count, _) in runs]
    table = pd.DataFrame(rows, columns=["n_ratings", "seconds", "peak_gib"])
    table.insert(0, "reader", [name.split(" (")[0] for name in READERS])
    return table, size


def reading(scale: float = 1.0, file: str | None = None) -> list[str]:
    """The table of `measure` in words; written to `file` as well, where one is named."""
    table, size = measure(scale)
    n_ratings, took = int(table["n_ratings"].iloc[0]), table["seconds"]
    if file is not None:
        command = f"python benchmarks/netflix_reading.py {scale:g}"
        data = (
            f"Data: simulated, in Netflix's formats, scale {scale:g}; {size} bytes of text"
        )
        words = f"{machine()}; {versions()}"
        write_csv(file, table, [command, data, *READERS, words])
    lines = [
        f"## Reading {n_ratings:,} simulated ratings (Kaggle's files, {size / 1e9:.2f} GB)",
        "",
        "| | s | million ratings/s | GiB at the peak |",
        "|---|---:|---:|---:|",
    ]
    for name, row in zip(READERS, table.itertuples(), strict=True):
        rate = n_ratings / row.seconds / 1e6
        lines.append(f"| {name} | {row.seconds:.2f} | {rate:.1f} | {row.peak_gib:.2f} |")
    alone, first = took.iloc[3] / took.iloc[:2]
    return [
        *lines,
        "",
        f"The recipe takes {alone:.1f} times as long as the parser, and {first:.1f} times as "
        "long as the whole first load.",
    ]


if __name__ == "__main__":
    scale, file = [*sys.argv[1:3], None, None][:2]
    print("\n".join(reading(float(scale or 1), file)))
