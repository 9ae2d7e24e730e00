"""What per-user results say about systems: means with intervals, and paired comparisons.

All functions read tables with one row a user and one column a metric, as `top_n_per_user` and
`ranking_per_user` give them. Users are the sample: intervals are about other users like these.
Where ratings were split repeatedly, so are the splits.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from ._support.checks import check_random_state, check_real
from ._support.per_user import check_same_metrics, check_values, differences_of

N_RESAMPLES = 1000
NUMBERS_AT_ONCE = 2**21  # random numbers in memory at any time


def summarize(per_user: pd.DataFrame, random_state=0) -> pd.DataFrame:
    """Mean of each column with a 95% percentile bootstrap interval over the rows (users).

    Returns a DataFrame with columns metric, mean, ci_low, ci_high, n_users.
    Raises ValueError for a table without rows or with a value that is not finite.
    Source: Efron and Tibshirani (1993), chapter 13; 1,000 resamples.

    >>> import pandas as pd
    >>> from gapfm_teach.intervals import summarize
    >>> per_user = pd.DataFrame({"P@5": [0.2, 0.4, 0.6, 0.8]}, index=["Ann", "Bo", "Cy", "Di"])
    >>> summarize(per_user).round(3).to_dict("records")
    [{'metric': 'P@5', 'mean': 0.5, 'ci_low': 0.3, 'ci_high': 0.7, 'n_users': 4}]
    """
    rng = check_random_state(random_state)
    check_values(per_user)
    values = per_user.to_numpy(dtype=np.float64)
    n_users = values.shape[0]
    if n_users == 0:
        raise ValueError("per_user has 0 rows; there is nothing to average")
    at_once = max(1, min(N_RESAMPLES, NUMBERS_AT_ONCE // n_users))
    means: list[np.ndarray] = []
    while len(means) < N_RESAMPLES:
        drawn = rng.integers(n_users, size=(at_once, n_users))
        drawn += n_users * np.arange(at_once)[:, None]
        times = np.bincount(drawn.ravel(), minlength=at_once * n_users)
        means.extend(times.reshape(at_once, n_users) @ values / n_users)
    low, high = np.percentile(means[:N_RESAMPLES], [2.5, 97.5], axis=0)
    table = {"metric": per_user.columns, "mean": values.mean(axis=0)}
    return pd.DataFrame(table | {"ci_low": low, "ci_high": high, "n_users": n_users})


def average_splits(results: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Each user's mean over repeated splits, from one per-user table a split: one row a user.

    Users count once however often the ratings were split: repeating the split does not make
    more people. A user who is missing in a split is averaged over the others.
    Raises ValueError for no table, one without rows, tables with different metrics, or a value
    that is not finite.

    >>> import pandas as pd
    >>> from gapfm_teach.intervals import average_splits
    >>> first = pd.DataFrame({"P@5": [0.2, 0.4]}, index=["Ann", "Bo"])
    >>> second = pd.DataFrame({"P@5": [0.8]}, index=["Bo"])
    >>> average_splits([first, second])["P@5"].round(3).to_dict()
    {'Ann': 0.2, 'Bo': 0.6}
    """
    results = list(results)
    if not results:
        raise ValueError("results has no tables; pass one per-user table for each split")
    for k, table in enumerate(results):
        check_same_metrics(results[0], table, f"split {k}: ")
        if table.empty:
            raise ValueError(f"split {k} has 0 rows; see why nobody was measured in it")
    return pd.concat(results).groupby(level=0, sort=False).mean()


def summarize_splits(
    results: Sequence[pd.DataFrame], random_state=0, *, overlap: float = 0.0
) -> pd.DataFrame:
    """Mean of each column over repeated splits, with a 95% interval that holds users and splits.

    The interval is about other users and other splits, with all that is drawn or tuned anew in
    each. Its squared standard error is that of the users' means plus that of the splits' means,

        s_users² / n_users + s_splits² (1 / n_splits + overlap / (1 − overlap)),

    and its t quantile has the degrees of freedom of Welch (1938) and Satterthwaite (1946). What
    is neither a user's nor a split's own is counted twice, to be safe.

    Splits of the same ratings are alike, which no table shows. If a share f of the training
    ratings of one split is in another one, too, then what a system owes to its training ratings
    varies between splits by 1 - f of what it would with other people's; f / (1 - f) adds the
    rest. (The corrected resampled t test of Nadeau and Bengio 2003 adds n_test / n_train.) What
    a run owes to its own seed has no such rest, so that the interval is rather too wide.
    `gapfm_lab.chapter_06_coverage` measures how often such intervals hold the truth, beside others.

    Parameters: results, one per-user table a split; overlap, f in [0, 1): the mean over users of
    n_given / n_ratings where each split draws n_given of a user's ratings for training. Without
    it the interval is about other splits of the same ratings.
    Returns a DataFrame with columns metric, mean (of `average_splits`), ci_low, ci_high,
    n_users, n_splits, split_sd (standard deviation of the splits' means, nan for one split),
    split_min, split_max. A user may be missing in some splits: the splits' means then differ
    also by who is in them, which makes the interval wider. One split does not show how far
    splits lie apart: the interval is `summarize`'s, about other users alone, with its
    `random_state`; n_splits says 1. The limits are nan for one user in several splits.
    Errors as in `average_splits`, and ValueError for `overlap` out of its range.

    Two draws of the training ratings, and the same two people:

    >>> import pandas as pd
    >>> from gapfm_teach import summarize_splits
    >>> splits = [pd.DataFrame({"P@5": [0.2, p]}, index=["Ann", "Bo"]) for p in (0.4, 0.8)]
    >>> columns = ["mean", "n_users", "n_splits", "split_min", "split_max"]
    >>> summarize_splits(splits)[columns].round(3).to_dict("records")
    [{'mean': 0.4, 'n_users': 2, 'n_splits': 2, 'split_min': 0.3, 'split_max': 0.5}]
    """
    results, overlap = list(results), _check_overlap(overlap)
    users, means = average_splits(results), _split_means(results)
    if len(means) == 1:
        table = summarize(users, random_state)
    else:
        mean, half, _ = _of_users_and_splits(users, means, overlap)
        table = pd.DataFrame({"metric": users.columns, "mean": mean})
        table = table.assign(ci_low=mean - half, ci_high=mean + half, n_users=len(users))
    sd = means.std(axis=0, ddof=1) if len(means) > 1 else np.nan
    return table.assign(
        n_splits=len(means), split_sd=sd, split_min=means.min(axis=0),
        split_max=means.max(axis=0),
    )  # fmt: skip


def _check_overlap(overlap: float) -> float:
    overlap = check_real(overlap, "overlap")
    if overlap >= 1:
        raise ValueError(
            f"overlap must be below 1, got {overlap!r}; equal splits are one split"
        )
    return overlap


def _split_means(results: Sequence[pd.DataFrame]) -> np.ndarray:
    return np.array([per_user.mean().to_numpy() for per_user in results])


def _of_users_and_splits(
    users: pd.DataFrame, split_means: np.ndarray, overlap: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, half of its 95% interval, and two-sided p-value of a mean of 0, for each metric.

    users : `average_splits`; split_means : (n_splits, n_metrics). One split adds nothing.
    """
    n_users, n_splits = len(users), len(split_means)
    mean, of_users = users.mean().to_numpy(), users.var(ddof=1).to_numpy() / n_users
    of_splits = np.zeros_like(of_users)
    if n_splits > 1:
        spread = split_means.var(axis=0, ddof=1)
        of_splits = spread * (1 / n_splits + overlap / (1 - overlap))
    variance = of_users + of_splits
    ratio = np.divide(of_users, variance, out=np.ones_like(mean), where=variance > 0)
    df = 1 / (ratio**2 / max(n_users - 1, 1) + (1 - ratio) ** 2 / max(n_splits - 1, 1))
    error = np.sqrt(variance)
    # Without any spread the mean is 0 or it is not.
    t = np.divide(mean, error, out=np.where(mean == 0, 0.0, np.inf), where=error != 0)
    return mean, stats.t.ppf(0.975, df) * error, 2 * stats.t.sf(np.abs(t), df)


def compare(
    results_a: pd.DataFrame, results_b: pd.DataFrame, random_state=0
) -> pd.DataFrame:
    """Is A better than B for the same users? Paired differences, effect size and Wilcoxon test.

    Parameters: per-user tables of two systems over the same split and seed (or of
    `average_splits`). Returns a DataFrame with a row for each metric and the columns
    difference (mean of A - B), ci_low, ci_high (95% bootstrap over users), effect_size (matched
    pairs rank-biserial correlation, from -1, B better for all, to 1), p_value (Wilcoxon
    signed-rank, two-sided), n_users, n_different (users for whom A and B differ; the test and
    the effect size rest on them alone).
    Raises ValueError when the tables hold different users or metrics, or a value is not finite.
    Source: Wilcoxon (1945); Kerby (2014) for the effect size.

    A is better for three people and worse for the fourth, by the smallest of the four differences:
    the ranks 2, 3 and 4 against 1.

    >>> import pandas as pd
    >>> from gapfm_teach import compare
    >>> a = pd.DataFrame({"P@5": [0.4, 0.6, 0.8, 0.1]}, index=["Ann", "Bo", "Cy", "Di"])
    >>> b = pd.DataFrame({"P@5": [0.2, 0.3, 0.4, 0.2]}, index=["Ann", "Bo", "Cy", "Di"])
    >>> compare(a, b)[["difference", "effect_size", "p_value"]].round(3).to_dict("records")
    [{'difference': 0.2, 'effect_size': 0.8, 'p_value': 0.25}]
    """
    differences = differences_of(results_a, results_b)
    table = summarize(differences, random_state).rename(columns={"mean": "difference"})
    values = [differences[metric].to_numpy() for metric in differences]
    n_users = table.pop("n_users")
    return table.assign(
        effect_size=[_effect_size(of_users) for of_users in values],
        p_value=[_signed_rank(of_users) for of_users in values],
        n_users=n_users,
        n_different=[np.count_nonzero(of_users) for of_users in values],
    )


def compare_splits(
    results_a: Sequence[pd.DataFrame],
    results_b: Sequence[pd.DataFrame],
    *,
    overlap: float = 0.0,
) -> pd.DataFrame:
    """Is A better than B for other users and other splits? The differences of repeated splits.

    Parameters: per-user tables of two systems, one a split, over the same splits in the same
    order; overlap, as in `summarize_splits`. Returns a DataFrame with a row for each metric and the
    columns difference (mean of A - B), ci_low, ci_high (95%, users and splits, as in
    `summarize_splits`), p_value (two-sided t test by the same standard error: below .05 just
    where the interval leaves 0 out), effect_size (as in `compare`, of each user's mean difference
    over the splits), n_users, n_splits. The p_values of many systems or metrics want `holm`.

    One split does not show how far splits lie apart: interval and test are then those of the
    paired t test over users alone; n_splits says 1. Limits and p_value are nan for one user.
    Raises ValueError when there are not equally many splits, a pair of tables does not match as
    in `compare`, or `overlap` is out of its range.

    A is better by .1 for both people in one split and by .3 in the other. The people are alike, and
    the means of the splits have the standard error .1: t is 2, with one degree of freedom.

    >>> import pandas as pd
    >>> from gapfm_teach import compare_splits
    >>> a = [pd.DataFrame({"P@5": [p, 0.8]}, index=["Ann", "Bo"]) for p in (0.6, 0.8)]
    >>> b = [pd.DataFrame({"P@5": [0.5, p]}, index=["Ann", "Bo"]) for p in (0.7, 0.5)]
    >>> compare_splits(a, b)[["difference", "effect_size", "p_value"]].round(3).to_dict("records")
    [{'difference': 0.2, 'effect_size': 1.0, 'p_value': 0.295}]
    """
    results_a, results_b, overlap = (
        list(results_a),
        list(results_b),
        _check_overlap(overlap),
    )
    if len(results_a) != len(results_b):
        raise ValueError(
            f"results_a has {len(results_a)} splits and results_b {len(results_b)}; evaluate "
            "both systems on the same splits"
        )
    pairs = zip(results_a, results_b, strict=True)
    differences = [differences_of(*pair, f"split {k}: ") for k, pair in enumerate(pairs)]
    users = average_splits(differences)
    mean, half, p = _of_users_and_splits(users, _split_means(differences), overlap)
    effects = [_effect_size(users[metric].round(12).to_numpy()) for metric in users]
    return pd.DataFrame({
        "metric": users.columns, "difference": mean, "ci_low": mean - half,
        "ci_high": mean + half, "p_value": p, "effect_size": effects,
        "n_users": len(users), "n_splits": len(differences),
    })  # fmt: skip


def holm(p_values: ArrayLike) -> np.ndarray:
    """p-values of several tests, adjusted for there being several, by Holm's step-down method.

    Call those significant that are at most α when adjusted: the probability that even one of them
    is so by chance is at most α, however the tests depend on each other. The k-th smallest of m
    is multiplied by m - k + 1, and none ends below one before it, or above 1.

    p_values : (m,) in [0, 1], else ValueError. Returns (m,) in the same order.
    Source: Holm (1979).

    >>> from gapfm_teach.intervals import holm
    >>> holm([0.01, 0.04, 0.03]).tolist()  # 3 × .01; 2 × .03; and .04, raised to that
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not np.all((p >= 0) & (p <= 1)):
        raise ValueError(
            f"p_values must be a list of numbers from 0 to 1, got {p_values!r}; leave out what "
            "was not tested"
        )
    order = np.argsort(p)
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    return np.minimum(adjusted, 1.0)


def _effect_size(differences: np.ndarray) -> float:
    """The matched pairs rank-biserial correlation; 0 where no difference is left."""
    differences = differences[differences != 0]
    if differences.size == 0:
        return 0.0
    ranks = stats.rankdata(np.abs(differences))
    return float(np.sum(np.sign(differences) * ranks) / ranks.sum())


def _signed_rank(differences: np.ndarray) -> float:
    """Wilcoxon's two-sided p-value; 1 where no difference is left."""
    differences = differences[differences != 0]
    return float(stats.wilcoxon(differences).pvalue) if differences.size else 1.0
