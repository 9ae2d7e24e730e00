"""What per-user results say about systems: means with intervals, and paired comparisons.

All functions read tables with one row a user and one column a metric, as `top_n_per_user` and
`ranking_per_user` give them. Users are the sample: intervals are about other users like these.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from ._support.checks import check_random_state

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
    _check_values(per_user)
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
    Raises ValueError for no table, tables with different metrics, or a value that is not finite.

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
    for table in results:
        _check_same_metrics(results[0], table)
    return pd.concat(results).groupby(level=0, sort=False).mean()


def summarize_splits(results: Sequence[pd.DataFrame], random_state=0) -> pd.DataFrame:
    """`summarize` over repeated splits, with how far the splits lie apart.

    Parameters: results, one per-user table a split. Returns the columns of `summarize`, taken
    from `average_splits`, and n_splits, split_sd (standard deviation of the splits' means, nan
    for one split), split_min, split_max. The interval is about other users, the spread about
    other draws of the training ratings. Errors as in `average_splits`.

    Two draws of the training ratings, and the same two people:

    >>> import pandas as pd
    >>> from gapfm_teach import summarize_splits
    >>> splits = [pd.DataFrame({"P@5": [0.2, p]}, index=["Ann", "Bo"]) for p in (0.4, 0.8)]
    >>> columns = ["mean", "n_users", "n_splits", "split_min", "split_max"]
    >>> summarize_splits(splits)[columns].round(3).to_dict("records")
    [{'mean': 0.4, 'n_users': 2, 'n_splits': 2, 'split_min': 0.3, 'split_max': 0.5}]
    """
    table = summarize(average_splits(results), random_state)
    means = np.array([per_user.mean().to_numpy() for per_user in results])
    sd = means.std(axis=0, ddof=1) if len(means) > 1 else np.nan
    return table.assign(
        n_splits=len(means), split_sd=sd, split_min=means.min(axis=0),
        split_max=means.max(axis=0),
    )  # fmt: skip


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
    _check_same_metrics(results_a, results_b)
    if not (results_a.index.is_unique and results_b.index.is_unique):
        raise ValueError(
            "a user stands twice in a table; pass average_splits of the tables"
        )
    if results_a.index.symmetric_difference(results_b.index).size:
        raise ValueError(
            f"results_a has {len(results_a)} users and results_b {len(results_b)}, not the "
            "same ones; evaluate both systems on the same train and test"
        )
    # Rounded, for sums in another order must not make a difference of a tie.
    differences = (results_a - results_b.loc[results_a.index]).round(12)
    table = summarize(differences, random_state).rename(columns={"mean": "difference"})
    tests = [_signed_rank(differences[metric].to_numpy()) for metric in differences]
    effect, p, n_different = zip(*tests, strict=True)
    n_users = table.pop("n_users")
    return table.assign(
        effect_size=effect, p_value=p, n_users=n_users, n_different=n_different
    )


def _signed_rank(differences: np.ndarray) -> tuple[float, float, int]:
    """Rank-biserial correlation, two-sided p-value, and how many differences are not zero."""
    differences = differences[differences != 0]
    if differences.size == 0:
        return 0.0, 1.0, 0
    ranks = stats.rankdata(np.abs(differences))
    effect = float(np.sum(np.sign(differences) * ranks) / ranks.sum())
    return effect, float(stats.wilcoxon(differences).pvalue), differences.size


def _check_values(table) -> None:
    if not isinstance(table, pd.DataFrame):
        raise TypeError(
            f"a per-user table must be a DataFrame, got {type(table).__name__}; pass what "
            "top_n_per_user or ranking_per_user gives"
        )
    values = table.to_numpy(dtype=np.float64)
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(
            f"values must be finite, got {values[row, column]} for user "
            f"{table.index.tolist()[row]!r} in {table.columns[column]!r}; check that system"
        )


def _check_same_metrics(one: pd.DataFrame, other: pd.DataFrame) -> None:
    _check_values(one)
    _check_values(other)
    if list(one.columns) != list(other.columns):
        raise ValueError(
            f"the tables have different metrics, {list(one.columns)} and "
            f"{list(other.columns)}; use the same function and `at` for both"
        )
