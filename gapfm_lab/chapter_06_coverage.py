"""How often 95% intervals from repeated splits hold the truth, where the truth is known.

Many groups of simulated users, all with taste in the same films. The ratings of each group are
split several times, and in each split two systems are tuned on its training part, fitted and
measured: what a table of this course does once. The truth is the mean over all groups, and each
way of making an interval is asked how often its interval of one group holds it.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats
from tqdm.auto import tqdm

from gapfm_teach._support.checks import check_count
from gapfm_teach.datasets import simulate_ratings
from gapfm_teach.intervals import average_splits, summarize, summarize_splits
from gapfm_teach.model import GAPfm
from gapfm_teach.ratings import Ratings
from gapfm_teach.splits import select_users
from gapfm_teach.training.machine import threads

from .baselines import MeanRating
from .protocols import N_TEST, split
from .systems import System
from .tuning import folds_of, per_user, tune

TASK, METRIC, GIVEN = "top_n", "NDCG@5", 10
N_USERS, N_SPLITS = 300, (5, 10)
N_RESAMPLES = 1000
SYSTEMS = {
    "GAPfm": System(GAPfm, {"learning_rate": [0.01, 0.03, 0.1]}, {"n_iter": 20}),
    "Shrunken mean rating": System(MeanRating, {"shrinkage": [1, 5, 20, 100, 500]}),
}
ONE, OTHER = SYSTEMS
DIFFERENCE, FAILED = f"{ONE} - {OTHER}", f"{ONE}, one run failed"


class Group(NamedTuple):
    """What was measured with one group of users.

    values : (n_splits, n_users) for each system; failed : the same of a system that has learned
    nothing; ratio : test ratings to training ratings; overlap : the share of a split's training
    ratings that another split trains on, too.
    """

    values: dict[str, np.ndarray]
    failed: np.ndarray
    ratio: float
    overlap: float


class _Unlearned:
    """Scores that say nothing: ties, which evaluation breaks at random."""

    def predict(self, user: int, items: np.ndarray) -> np.ndarray:
        return np.zeros(len(items))


def population(n_users: int = 40_000, random_state: int = 0) -> Ratings:
    """Simulated users with ratings enough for a split, about two thirds of `n_users`."""
    ratings = simulate_ratings(n_users, 100, mean_ratings=40, random_state=random_state)
    enough = np.diff(ratings.indptr) >= GIVEN + N_TEST + 1
    return select_users(
        ratings, enough, f"users with at least {GIVEN + N_TEST + 1} ratings"
    )


def group(people: Ratings, n_users: int, n_splits: int, random_state: int) -> Group:
    """Draw `n_users` of `people`, and tune, fit and measure in each of `n_splits` splits."""
    rng = np.random.default_rng(random_state)
    drawn = np.zeros(people.n_users, dtype=bool)
    drawn[rng.choice(people.n_users, n_users, replace=False)] = True
    ratings = select_users(people, drawn, "a group")
    tables: dict[str, list] = {name: [] for name in (*SYSTEMS, FAILED)}
    for _ in range(n_splits):
        seed = int(rng.integers(2**31))
        train, known, test = split(TASK, ratings, GIVEN, seed)
        fitted = {name: _tuned(name, train, known, seed).fit(train) for name in SYSTEMS}
        for name, system in (fitted | {FAILED: _Unlearned()}).items():
            tables[name].append(per_user(TASK, system, known, test, seed)[METRIC])
    values = {name: np.array(rows) for name, rows in tables.items()}
    failed, overlap = values.pop(FAILED), np.mean(GIVEN / np.diff(ratings.indptr))
    return Group(values, failed, test.n_ratings / train.n_ratings, float(overlap))


def _tuned(name: str, train: Ratings, known: Ratings, seed: int):
    system = SYSTEMS[name]
    folds = folds_of(train, known, seed, n_validations=1)
    # All points, and none beyond the grid: each is tuned some ten thousand times.
    points = len(system.points())
    search = tune(system, folds, TASK, n_trials=points, random_state=seed)
    return system.build(search.chosen(METRIC), seed)


# --------------------------------------------------------------------------- intervals

Interval = tuple[float, float]
Method = Callable[[np.ndarray, Group, np.random.Generator], Interval]


def users_only(values: np.ndarray, of: Group, rng: np.random.Generator) -> Interval:
    """Bootstrap over users of each user's mean over the splits."""
    return _limits(summarize(average_splits(_tables(values)), rng))


def users_and_splits(values: np.ndarray, of: Group, rng: np.random.Generator) -> Interval:
    """`summarize_splits` as if splits had nothing in common: both squared errors, added."""
    return _limits(summarize_splits(_tables(values)))


def shared_ratings(values: np.ndarray, of: Group, rng: np.random.Generator) -> Interval:
    """`summarize_splits` that knows how much of their training ratings the splits share."""
    return _limits(summarize_splits(_tables(values), overlap=of.overlap))


def crossed_effects(values: np.ndarray, of: Group, rng: np.random.Generator) -> Interval:
    """Two crossed random effects: (MS_users + MS_splits - MS_error) / cells, t quantile.

    Not below the larger of the one-way errors; degrees of freedom of Satterthwaite (1946).
    """
    users, splits, error = squares = np.array(mean_squares(values))
    n_splits, n_users = values.shape
    total = max(users + splits - error, users, splits)
    df = np.array([n_users - 1, n_splits - 1, (n_users - 1) * (n_splits - 1)])
    return _t_interval(values, total / values.size, total**2 / np.sum(squares**2 / df))


def pigeonhole(values: np.ndarray, of: Group, rng: np.random.Generator) -> Interval:
    """Percentiles where users and splits are drawn anew, each by themselves (Owen 2007)."""
    times = [
        rng.multinomial(n, np.full(n, 1 / n), size=N_RESAMPLES) / n for n in values.shape
    ]
    means = np.einsum("rs,su,ru->r", times[0], values, times[1], optimize=True)
    low, high = np.percentile(means, [2.5, 97.5])
    return low, high


def corrected_t(values: np.ndarray, of: Group, rng: np.random.Generator) -> Interval:
    """The splits' means alone, with 1/n + test/train for 1/n (Nadeau and Bengio 2003)."""
    n_splits = len(values)
    spread = values.mean(axis=1).var(ddof=1)
    return _t_interval(values, (1 / n_splits + of.ratio) * spread, n_splits - 1)


METHODS: dict[str, Method] = {
    "users only": users_only,
    "users and splits": users_and_splits,
    "users and splits that share ratings": shared_ratings,
    "crossed random effects": crossed_effects,
    "pigeonhole bootstrap": pigeonhole,
    "corrected resampled t": corrected_t,
}


def mean_squares(values: np.ndarray) -> tuple[float, float, float]:
    """(MS_users, MS_splits, MS_error) of values (n_splits, n_users), one in each cell."""
    n_splits, n_users = values.shape
    of_user = values.mean(axis=0) - values.mean()
    of_split = values.mean(axis=1) - values.mean()
    rest = values - values.mean() - of_user - of_split[:, None]
    return (
        n_splits * np.sum(of_user**2) / (n_users - 1),
        n_users * np.sum(of_split**2) / (n_splits - 1),
        np.sum(rest**2) / ((n_users - 1) * (n_splits - 1)),
    )


def _t_interval(values: np.ndarray, variance: float, df: float) -> Interval:
    half = stats.t.ppf(0.975, df) * np.sqrt(variance)
    return values.mean() - half, values.mean() + half


def _tables(values: np.ndarray) -> list[pd.DataFrame]:
    return [pd.DataFrame({METRIC: row}) for row in values]


def _limits(table: pd.DataFrame) -> Interval:
    return table["ci_low"].item(), table["ci_high"].item()


# --------------------------------------------------------------------------- coverage


def coverage(
    groups: Iterable[Group], n_splits: Iterable[int] = N_SPLITS, random_state: int = 0
) -> pd.DataFrame:
    """How often the intervals of each of `METHODS` hold the truth, from `groups`.

    n_splits : of how many of a group's splits, the first ones, an interval is made.

    Returns a DataFrame with columns what (a system's mean, the paired difference of both, and
    the mean of the first where one of its runs failed, a split drawn at random: its lists are in
    random order); n_splits, method; coverage, the share of groups whose interval holds the truth,
    which is the mean over all groups and splits, without failed runs; mc_error, the coverage's
    own standard error; width, the intervals' mean; truth; n_groups.
    """
    groups, rng = list(groups), np.random.default_rng(random_state)
    truths = {name: np.mean([one.values[name] for one in groups]) for name in SYSTEMS}
    truths |= {DIFFERENCE: truths[ONE] - truths[OTHER], FAILED: truths[ONE]}
    rows = []
    for n in n_splits:
        cases = [(one, _cases(one, n, rng)) for one in groups]
        for what, truth in truths.items():
            for method, interval in METHODS.items():
                found = np.array(
                    [interval(values[what], one, rng) for one, values in cases]
                )
                held = np.mean((found[:, 0] <= truth) & (truth <= found[:, 1]))
                rows.append({
                    "what": what, "n_splits": n, "method": method, "coverage": held,
                    "mc_error": np.sqrt(held * (1 - held) / len(groups)),
                    "width": np.mean(found[:, 1] - found[:, 0]),
                    "truth": truth, "n_groups": len(groups),
                })  # fmt: skip
    return pd.DataFrame(rows)


def _cases(one: Group, n_splits: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """The first `n_splits` splits of everything that an interval is made of."""
    of = {name: values[:n_splits] for name, values in one.values.items()}
    failed = of[ONE].copy()
    place = rng.integers(n_splits)
    failed[place] = one.failed[place]
    return of | {DIFFERENCE: of[ONE] - of[OTHER], FAILED: failed}


def simulated_groups(n_groups: int = 500, n_users: int = N_USERS) -> list[Group]:
    """`n_groups` groups of `n_users` users of one population; the same ones each time."""
    n_groups, people = check_count(n_groups, "n_groups"), population()
    n_users = check_count(n_users, "n_users", high=people.n_users)
    with threads(1, people):
        return [
            group(people, n_users, max(N_SPLITS), seed)
            for seed in tqdm(range(n_groups), "groups")
        ]
