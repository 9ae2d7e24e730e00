"""What a new laptop waits for: the first fit and the first evaluation, compiled anew and kept.

`python benchmarks/first_fit.py` prints a table. Each row is a process with an empty folder for
compiled code (cold), then one with what that has left there (warm); it takes some minutes. The
processor's seconds, beside the clock's, leave out what other programs take.
"""

import os
import subprocess
import sys
import tempfile

from gapfm_lab.reproduce.timing import machine
from gapfm_lab.versions import versions

PROGRAM = """
import time
begin = time.perf_counter()
from gapfm_teach import *
ratings = simulate_ratings(943, 1682, mean_ratings=106, random_state=0)
train, test = split_given(ratings, 10, random_state=0)
model = GAPfm(n_iter=1, random_state=0)
print(time.perf_counter() - begin)
{before}
begin, used = time.perf_counter(), time.process_time()
{what}
print(time.perf_counter() - begin, time.process_time() - used)
"""
FIT = "model.fit(train)"
ROWS = {
    'fit, objective="paper", Given 10': ("", FIT),
    "fit, all ratings": ("", "model.fit(ratings)"),
    "fit with validation": ("", "model.fit(train, validation=test)"),
    "fit with n_selected=5": ("", "GAPfm(n_iter=1, n_selected=5).fit(train)"),
    'fit, objective="consistent"': (
        "",
        'GAPfm(n_iter=1, objective="consistent").fit(train)',
    ),
    'fit, objective="geometric"': ("", 'GAPfm(n_iter=1, objective="geometric").fit(train)'),
    "fit, consistent, all ratings": (
        "",
        'GAPfm(n_iter=1, objective="consistent").fit(ratings)',
    ),
    "evaluate_top_n after a fit": (FIT, "evaluate_top_n(model, train, test)"),
    "evaluate_ranking after a fit": (FIT, "evaluate_ranking(model, test)"),
}


def first(before: str, what: str, cache: str) -> list[float]:
    """Seconds to import and make data; to do `what` for the first time; of the processor for that."""
    program = PROGRAM.format(before=before, what=what)
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    printed = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    ).stdout  # fmt: skip
    return [float(line) for line in printed.split()]


def table() -> list[str]:
    """Seconds cold and warm of each of `ROWS`."""
    columns = (
        "the first ...",
        "s, cold",
        "s of processor",
        "s, warm",
        "s, imports and data",
    )
    lines = [f"| {' | '.join(columns)} |", "|---" + "|---:" * 4 + "|"]
    for name, (before, what) in ROWS.items():
        with tempfile.TemporaryDirectory() as cache:
            cold, warm = (first(before, what, cache) for _ in range(2))
        _, waited, used = cold
        lines.append(
            f"| {name} | {waited:.1f} | {used:.1f} | {warm[1]:.2f} | {warm[0]:.1f} |"
        )
    return lines


if __name__ == "__main__":
    print("\n".join([f"{machine()}. {versions()}.", "", *table()]))
