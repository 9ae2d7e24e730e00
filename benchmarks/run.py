"""Measure what the text says about speed, and write it down: `make bench`.

Every figure is a median or best of repeated runs in this one process; compare within a table,
never between machines.
"""

import platform
import time
from pathlib import Path

import numba
import numpy as np

from gapfm_teach import GAPfm, kernels, load_movielens, split_given
from gapfm_teach.files import replacing
from gapfm_teach.metrics import thresholding_probabilities

RESULTS = Path(__file__).with_name("results.md")


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


def seconds(function, repeats: int = 7, at_least: float = 0.05) -> float:
    """Best time of one call, over `repeats` blocks of calls lasting `at_least` seconds each."""
    function()
    calls, best = 1, np.inf
    for _ in range(repeats):
        while True:
            start = time.perf_counter()
            for _ in range(calls):
                function()
            took = time.perf_counter() - start
            if took >= at_least:
                break
            calls *= 2
        best = min(best, took / calls)
    return best


def pair_loop() -> list[str]:
    """Unordered pairs a second of the pair loop beside the exponential form."""
    lines = [
        "## The pair loop (one core)",
        "",
        "| rated items S | pairs/s, `kernels.pair_sums` | pairs/s, exponential form | ratio |",
        "|---:|---:|---:|---:|",
    ]
    rng = np.random.default_rng(0)
    cumulative = np.concatenate([[0.0], np.cumsum(thresholding_probabilities(5))])
    for n in (10, 30, 100, 300, 1000, 3000):
        scores = rng.normal(size=n)
        weights = cumulative[np.sort(rng.integers(1, 6, n))[::-1]]
        out = np.empty(n)
        pairs = n * (n - 1) / 2
        fast = pairs / seconds(lambda: kernels.pair_sums(scores, weights, out))  # noqa: B023
        slow = pairs / seconds(lambda: exponential_form(scores, weights, out))  # noqa: B023
        lines.append(f"| {n} | {fast:.2e} | {slow:.2e} | {fast / slow:.1f} |")
    return lines


def training() -> list[str]:
    """Time of 60 iterations on MovieLens 100K, per rating and per pair, one thread and all."""
    lines = [
        "## Training on MovieLens 100K (60 iterations, D = 10, no validation)",
        "",
        "| given | ratings | pairs | ms, 1 thread | ms, all threads | µs a rating and iteration |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    ratings = load_movielens("100k")
    for given in (10, 20, 30, 50, 100, 200):
        train, _ = split_given(ratings, given, random_state=0)
        pairs = train.n_users * given * (given - 1) // 2
        one, all_threads = (
            seconds(
                lambda: GAPfm(learning_rate=1e-3, random_state=0, n_threads=n).fit(train),  # noqa: B023
                repeats=3,
            )
            for n in (1, None)
        )
        each = one / 60 / train.n_ratings
        lines.append(
            f"| {given} | {train.n_ratings:,} | {pairs:,} | {one * 1e3:.0f} | "
            f"{all_threads * 1e3:.0f} | {each * 1e6:.3f} |"
        )
    return lines


def processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
        return text.split("model name", 1)[1].split(":", 1)[1].split("\n", 1)[0].strip()
    except (OSError, IndexError):
        return platform.processor() or platform.machine()


def main() -> None:
    head = [
        "# Benchmark results",
        "",
        "Written by `make bench`; not edited by hand.",
        "",
        f"Processor: {processor()}, {numba.config.NUMBA_NUM_THREADS} threads; "
        f"{platform.system()}, Python {platform.python_version()}, "
        f"numpy {np.__version__}, numba {numba.__version__}.",
        "",
    ]
    text = "\n".join([*head, *pair_loop(), "", *training(), ""])
    print(text)
    with replacing(RESULTS) as file:
        file.write(text.encode())


if __name__ == "__main__":
    main()
