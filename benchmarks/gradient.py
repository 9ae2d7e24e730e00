"""What the gradient of one user costs, pair by pair and by interpolation, and what an epoch does.

`python benchmarks/gradient.py` prints both; `benchmarks/report.py` takes the sections from here.
`python benchmarks/gradient.py table.csv` measures single users only, and writes that table too.
The epoch runs over `gapfm_lab.experiments.netflix_size.netflix(1.0)`: 100 million ratings, real where
GAPFM_TEACH_NETFLIX names them, else simulated in some minutes and kept in the data folder.
"""

import sys
import time
from pathlib import Path

import numba
import numpy as np
import pandas as pd
from measure import in_fresh_process, peak, seconds

from gapfm_lab.chapter_08 import exponent
from gapfm_lab.experiments.common import small_start
from gapfm_lab.experiments.netflix_size import active_users, netflix
from gapfm_lab.reproduce.timing import machine
from gapfm_lab.result_files import write_csv
from gapfm_lab.versions import versions
from gapfm_teach import kernels
from gapfm_teach.paper import cumulative_weights, thresholding_probabilities
from gapfm_teach.splits import sample_n
from gapfm_teach.training.data import TrainingData
from gapfm_teach.training.machine import threads
from gapfm_teach.training.objectives import PaperObjective

LENGTHS = (10, 30, 100, 300, 1000, 3000, 10_000, 17_000)
FROM = 300  # the exponents are fitted from here on
SPREADS = (
    2.0,
    6.0,
    14.0,
)  # score ranges of trained models: small, usual, the 99th percentile
N_GIVEN = (10, 20, 30, 50)
N_SELECTED = (5, 10, 20, 30, 40, 50)


@numba.njit
def exponential_form(scores, weights, coefficients):
    """Equations (8) and ∂F/∂f as they are usually coded: an exponential for each ordered pair."""
    value = 0.0
    for i in range(scores.shape[0]):
        g_i = 1.0 / (1.0 + np.exp(-scores[i]))
        above = 0.0
        slope = 0.0
        for j in range(scores.shape[0]):
            g_j = 1.0 / (1.0 + np.exp(-scores[j]))
            g_ji = 1.0 / (1.0 + np.exp(scores[i] - scores[j]))
            weight = min(weights[i], weights[j])
            above += weight * g_ji
            slope += weight * (g_j - g_i) * g_ji * (1.0 - g_ji)
        value += g_i * above
        coefficients[i] = g_i * (1.0 - g_i) * above + slope
    return value


@numba.njit(error_model="numpy", fastmath={"reassoc", "contract"})
def divisions(x, n_rounds):
    """Σ 1 / (a + x_j) over j and rounds a: divisions that wait for nothing, and little else."""
    total = 0.0
    for a in range(n_rounds):
        for j in range(x.shape[0]):
            total += 1.0 / (a + x[j])
    return total


def one_core(function) -> float:
    return seconds(function, repeats=30, at_least=0.005, clock=time.thread_time)


def a_user(n_items: int, spread: float):
    """Scores over `spread`, the weights Δ(y) of grades 1 to 5 in descending order, and an out."""
    rng = np.random.default_rng(0)
    worth = cumulative_weights(thresholding_probabilities(5))
    grades = np.sort(rng.choice(np.arange(1, 6), n_items, p=[0.05, 0.1, 0.28, 0.34, 0.23]))
    return spread * (rng.random(n_items) - 0.5), worth[grades[::-1]], np.empty(n_items)


def pair_loop() -> list[str]:
    """Unordered pairs a second of the pair loop beside the exponential form and the divider."""
    x = np.random.default_rng(0).random(512) + 1.0
    limit = x.size * 100 / one_core(lambda: divisions(x, 100))
    lines = [
        "## The pair loop (one core)",
        "",
        f"Divisions that wait for nothing: {limit:.2e} a second. A pair takes one.",
        "",
        "| rated items S | pairs/s, `kernels.pair_sums` | share of the divisions "
        "| pairs/s, exponential form | ratio |",
        "|---:|---:|---:|---:|---:|",
    ]
    for n in LENGTHS:
        arguments, pairs = a_user(n, 6.0), n * (n - 1) / 2
        ours = pairs / one_core(lambda: kernels.pair_sums(*arguments))  # noqa: B023
        line = f"| {n:,} | {ours:.2e} | {ours / limit:.0%} |"
        if n <= 1000:  # the rate no longer changes
            usual = pairs / one_core(lambda: exponential_form(*arguments))  # noqa: B023
        lines.append(f"{line} {usual:.2e} | {ours / usual:.1f} |")
    return lines


def user_times() -> pd.DataFrame:
    """Seconds a user in each form: columns n_items, spread (of the scores), form, seconds.

    The exponential form stops at 3,000 items; longer lists would take minutes.
    """
    rows = []
    for n in LENGTHS:
        scores, weights, out = a_user(n, SPREADS[1])
        forms = {"divisions": lambda *user: kernels.pair_sums(*user)}
        if n <= 3000:
            forms |= {"exponentials": exponential_form}
        for form, sums in forms.items():
            took = one_core(lambda: sums(scores, weights, out))  # noqa: B023
            rows.append((n, SPREADS[1], form, took))
        for spread in SPREADS:
            scores, weights, out = a_user(n, spread)
            took = one_core(
                lambda: kernels.chebyshev_sums(scores, weights, kernels.TOLERANCE, out)  # noqa: B023
            )
            rows.append((n, spread, f"nodes, range {spread:g}", took))
    return pd.DataFrame(rows, columns=["n_items", "spread", "form", "seconds"])


def interpolation(file: str | None = None) -> list[str]:
    """Microseconds a user against S, pair by pair and by interpolation, with the exponents.

    The table of `user_times` goes to `file` as well, where one is named.
    """
    table = user_times()
    if file is not None:
        words = f"One user, one core, tolerance {kernels.TOLERANCE:g}; {machine()}"
        write_csv(
            file,
            table,
            [f"python benchmarks/gradient.py {Path(file).name}", words, versions()],
        )
    times = table.pivot(index="n_items", columns="form", values="seconds")
    times = times[["divisions", *(f"nodes, range {spread:g}" for spread in SPREADS)]]
    long = times[times.index >= FROM]
    fitted = [exponent(long.index, long[form]) for form in times]
    lines = [
        f"## The sums of one user by interpolation (one core, tolerance {kernels.TOLERANCE:g})",
        "",
        f"| rated items S | {' | '.join('µs, ' + form for form in times)} |",
        "|---:" * (times.shape[1] + 1) + "|",
    ]
    for n, row in times.iterrows():
        lines.append(f"| {n:,} | " + " | ".join(f"{1e6 * t:,.1f}" for t in row) + " |")
    exponents = " | ".join(f"{power:.2f}" for power in fitted)
    return [*lines, f"| exponent from S = {FROM} | {exponents} |"]


def epochs(n_given: int | None, n_selected: tuple = (None,)) -> list[dict]:
    """Seconds of a pass (U and V, D = 10) over the active users, and GiB at the peak so far."""
    train, _ = active_users(*netflix(1.0))
    if n_given is not None:
        train = sample_n(train, n_given, random_state=0)
    begin = time.perf_counter()
    problem = TrainingData(train)
    made = time.perf_counter() - begin
    counts, (U, V) = np.diff(train.indptr), small_start(train, 0)
    U, V = 50 * U, 50 * V  # score ranges as after training, not as at the start
    rows = []
    for k in n_selected:
        row = {"n_given": n_given, "n_selected": k, "n_ratings": train.n_ratings}
        row |= {"pairs": int(np.sum(counts**2)), "made": made}
        for n_threads in (1, numba.config.NUMBA_NUM_THREADS):
            with threads(n_threads, train):
                row[n_threads] = seconds(
                    lambda: PaperObjective(k).gradients(problem, U, V),  # noqa: B023
                    repeats=3,
                )
        rows.append(row | {"peak": peak()})
    return rows


def epoch_table() -> list[str]:
    """An iteration over all ratings, Given 10 to 50, and with K selected items."""
    runs = [in_fresh_process(epochs, n) for n in N_GIVEN[:-1]]
    runs.append(in_fresh_process(epochs, N_GIVEN[-1], (None, *N_SELECTED)))
    runs.append(in_fresh_process(epochs, None))
    most = numba.config.NUMBA_NUM_THREADS
    train, _ = netflix(1.0)
    lines = [
        f"## An iteration over 100 million ratings, U and V, D = 10 ({train.source})",
        "",
        "Users with 50 ratings or more. ΣS² is the paper's account of the cost; K is adaptive.",
        "",
        f"| given | K | ΣS | ΣS² | s, 1 thread | s, {most} threads | ns a rating, 1 thread "
        "| s to lay out | GiB at the peak |",
        "|---:" * 9 + "|",
    ]
    for row in (row for run in runs for row in run):
        each = 1e9 * row[1] / row["n_ratings"]
        lines.append(
            f"| {row['n_given'] or 'all'} | {row['n_selected'] or 'all'} | {row['n_ratings']:,} "
            f"| {row['pairs']:.2e} | {row[1]:.2f} | {row[most]:.2f} | {each:.0f} "
            f"| {row['made']:.2f} | {row['peak']:.2f} |"
        )
    return lines


if __name__ == "__main__":
    if sys.argv[1:]:
        print("\n".join(interpolation(sys.argv[1])))
    else:
        print("\n".join([*pair_loop(), "", *interpolation(), "", *epoch_table()]))
