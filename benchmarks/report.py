"""Measure what the text says about speed, and write it down: `make bench`.

Every figure is a median or best of repeated runs in this one process; compare within a table,
never between machines.
"""

import importlib.util
import platform
import time
from pathlib import Path

import numpy as np
from gradient import a_user, epoch_table, interpolation, one_core, pair_loop
from measure import in_fresh_process, peak, seconds
from netflix_reading import reading

from gapfm_lab.reproduce.timing import machine
from gapfm_lab.versions import versions
from gapfm_teach import GAPfm, Ratings, evaluation, kernels, load_movielens, split_given
from gapfm_teach._support.files import replacing

RESULTS = Path(__file__).with_name("results.md")


def consistent() -> list[str]:
    """Microseconds of consistent GAP of one user, pair by pair and as training takes it."""
    lines = [
        "## Consistent GAP of one user, value and gradient (one core, score range 20 τ)",
        "",
        "The unrated items stand for 17,000. What training takes is the cheaper of both, by an "
        "estimate that leaves the pairs a fifth.",
        "",
        "| rated items S | unrated items | µs, pairs | µs, nodes | µs in training | ratio to pairs |",
        "|---:" * 6 + "|",
    ]
    for n_unrated in (50, 200, 1600, 17_000):
        for n in (30, 100, 200, 300, 500, 1000, 3000):
            scores, gains = a_user(n + n_unrated, 20.0)[0], a_user(n, 20.0)[1]
            kernels.normalize_gains(kernels.PAIRS, 0.0, gains)
            fixed = scores, gains, gains, kernels.PAIRS, 0.0, 17_000 / n_unrated, 1.0
            out = np.empty((3, scores.size)), np.empty(scores.size)
            pairs, nodes, chosen = (
                1e6 * one_core(lambda: sums(*fixed, *options, *out))  # noqa: B023
                for sums, options in (
                    (kernels.consistent_pair_sums, ()),
                    (kernels.consistent_chebyshev_sums, (kernels.TOLERANCE,)),
                    (kernels.consistent_sums, (kernels.TOLERANCE,)),
                )
            )
            lines.append(
                f"| {n:,} | {n_unrated:,} | {pairs:,.1f} | {nodes:,.1f} | {chosen:,.1f} "
                f"| {pairs / chosen:.2f} |"
            )
    return lines


def training() -> list[str]:
    """Time of 60 iterations on MovieLens 100K, one thread and the automatic choice, and per rating."""
    lines = [
        "## Training on MovieLens 100K (60 iterations, D = 10, no validation)",
        "",
        "| given | ratings | pairs | ms, 1 thread | ms, n_threads=None | µs a rating and iteration |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    ratings = load_movielens("100k")
    for given in (10, 20, 30, 50, 100, 200):
        train, _ = split_given(ratings, given, random_state=0)
        pairs = train.n_users * given * (given - 1) // 2
        one, automatic = (
            seconds(
                lambda: GAPfm(learning_rate=1e-3, random_state=0, n_threads=n).fit(train),  # noqa: B023
                repeats=3,
            )
            for n in (1, None)
        )
        each = one / 60 / train.n_ratings
        lines.append(
            f"| {given} | {train.n_ratings:,} | {pairs:,} | {one * 1e3:.0f} | "
            f"{automatic * 1e3:.0f} | {each * 1e6:.3f} |"
        )
    return lines


def ten_and_ten(n_users: int, n_items: int) -> tuple[Ratings, Ratings]:
    """Ten ratings of each user to train on and ten held out, at random."""
    rng = np.random.default_rng(0)
    start, step = (
        rng.integers(n_items, size=n_users),
        rng.integers(1, n_items // 20, n_users),
    )
    items = (start[:, None] + step[:, None] * np.arange(20)) % n_items
    indptr = 10 * np.arange(n_users + 1)
    train, test = (
        Ratings(
            indptr,
            np.sort(half, axis=1).ravel(),
            rng.integers(1, 6, half.size),
            n_items=n_items,
        )
        for half in (items[:, ::2], items[:, 1::2])
    )
    return train, test


class RandomFactors:
    """A factor model that was never trained."""

    def __init__(self, n_users: int, n_items: int, n_factors: int = 10):
        rng = np.random.default_rng(1)
        self.user_factors_ = rng.normal(size=(n_users, n_factors))
        self.item_factors_ = rng.normal(size=(n_items, n_factors))

    def predict(self, user, items):
        return self.item_factors_[items] @ self.user_factors_[user]


def lists_and_memory(n_users: int, n_items: int) -> tuple[float, float, float]:
    """Seconds to rank, seconds for the intervals, and GiB at the peak of the whole process."""
    small = ten_and_ten(100, n_items)
    evaluation.evaluate_top_n(RandomFactors(100, n_items), *small)  # compiles
    train, test = ten_and_ten(n_users, n_items)
    begin = time.perf_counter()
    model = RandomFactors(n_users, n_items)
    per_user = evaluation.top_n_per_user(model, train, test, random_state=0)
    ranked = time.perf_counter()
    evaluation.summarize(per_user)
    done = time.perf_counter()
    return ranked - begin, done - ranked, peak()


def evaluating() -> list[str]:
    """A million lists with 1,000 drawn candidates each."""
    n_users, n_items = 1_000_000, 17_770
    ranking, intervals, memory = in_fresh_process(lists_and_memory, n_users, n_items)
    return [
        "## Evaluation: one list a user, 10 held-out items and 1,000 drawn, D = 10",
        "",
        "| lists | items | s, lists and measures | s, bootstrap | GiB at the peak |",
        "|---:|---:|---:|---:|---:|",
        f"| {n_users:,} | {n_items:,} | {ranking:.0f} | {intervals:.0f} | {memory:.2f} |",
    ]


def some_lists(n_lists: int, length: int = 1010):
    """Grades (10 rated items a list) and scores of lists in random order, and as CSR ratings."""
    rng = np.random.default_rng(0)
    grades = np.zeros((n_lists, length), dtype=np.int8)
    grades[:, :10] = rng.integers(1, 6, (n_lists, 10))
    grades = rng.permuted(grades, axis=1)
    items = np.flatnonzero(grades.ravel()) % length
    test = Ratings(
        10 * np.arange(n_lists + 1), items, grades[grades > 0], n_items=length, max_grade=5
    )
    return grades, rng.normal(size=(n_lists, length)), test


def ours_on_lists(n_lists: int) -> tuple[float, float, np.ndarray]:
    """Seconds to measure ranked lists, to rank and measure; means of P, NDCG and GAP at 5."""
    grades, scores, test = some_lists(n_lists)
    users, indptr = np.arange(n_lists), grades.shape[1] * np.arange(n_lists + 1)
    top = np.empty((n_lists, 5), dtype=np.int8)

    def rank():
        lists = scores.ravel(), grades.ravel(), indptr, top
        kernels.parallel_for(kernels.top_grades, n_lists, *lists)

    def measure():
        return evaluation._measures(top, test, users, 5, test.max_grade)

    both = seconds(lambda: (rank(), measure()), repeats=3)
    means = np.array([values.mean() for values in measure().values()])
    return seconds(measure, repeats=5), both, means


def ranx_on_lists(n_lists: int) -> tuple[float, float, np.ndarray]:
    """`ours_on_lists` by ranx: arrays sorted beforehand; a Run of named items, which it sorts."""
    from ranx import Run, evaluate  # sets numba's threading layer, so never in our process

    grades, scores, _ = some_lists(n_lists)
    order = np.argsort(-scores, axis=1)
    run = np.stack([order, -np.sort(-scores, axis=1)], axis=2).astype(np.float64)
    best = np.argsort(-grades, axis=1, kind="stable")[:, :10]
    qrels = np.stack([best, np.take_along_axis(grades, best, axis=1)], axis=2).astype(float)
    metrics = ["precision@5-l5", "ndcg_burges@5", "map@5"]
    measured = evaluate(qrels, run, metrics)
    measuring = seconds(lambda: evaluate(qrels, run, metrics), repeats=5)
    named = {str(k): {str(i): s for i, s in enumerate(row)} for k, row in enumerate(scores)}
    sorting = seconds(lambda: Run(named), repeats=1)
    return measuring, sorting + measuring, np.array([measured[name] for name in metrics])


def beside_ranx() -> list[str]:
    """The same lists measured by ranx, in another process."""
    if importlib.util.find_spec("ranx") is None:
        return ["ranx is not installed: no comparison."]
    n = 2000
    ours, theirs = in_fresh_process(ours_on_lists, n), in_fresh_process(ranx_on_lists, n)
    apart = np.abs(ours[2][:2] - theirs[2][:2]).max()
    lines = [
        f"## Beside ranx: {n:,} lists of 1,010 items (best times, all threads)",
        "",
        "Ours gives P@5, NDCG@5 and GAP@5 in three readings, ranx P@5, NDCG@5 and AP@5. "
        f"The means of P@5 and NDCG@5 differ by {apart:.0e}.",
        "",
        "| | µs a list, ours | µs a list, ranx | ratio |",
        "|---|---:|---:|---:|",
    ]
    whats = ("measure lists already ranked", "rank by scores, then measure")
    for what, us, them in zip(whats, ours[:2], theirs[:2], strict=True):
        lines.append(
            f"| {what} | {us / n * 1e6:.2f} | {them / n * 1e6:.2f} | {them / us:.1f} |"
        )
    return lines


def main() -> None:
    head = [
        "# Benchmark results",
        "",
        "Written by `make bench`; not edited by hand.",
        "",
        f"{machine()}, {platform.system()}. {versions()}.",
    ]
    parts = (
        pair_loop, interpolation, epoch_table, consistent, reading, training, evaluating, beside_ranx,
    )  # fmt: skip
    text = "\n".join(head)
    for part in parts:
        text += "\n\n" + "\n".join(part())
    print(text)
    with replacing(RESULTS) as file:
        file.write((text + "\n").encode())


if __name__ == "__main__":
    main()
