"""Intervals, splits and paired comparisons against known populations and by-hand values."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from gapfm_teach.intervals import average_splits, compare, summarize


def table(seed, n_users=80, shift=0.0):
    rng = np.random.default_rng(seed)
    index = pd.Index([f"u{k}" for k in range(n_users)], name="user")
    return pd.DataFrame(
        {"P@5": rng.random(n_users) + shift, "NDCG@5": rng.random(n_users)}, index=index
    )


def test_intervals_cover_the_mean_of_the_population():
    rng = np.random.default_rng(0)
    covered = 0
    for repeat in range(200):
        result = summarize(pd.DataFrame({"x": rng.exponential(size=60)}), repeat)
        covered += bool(result["ci_low"][0] <= 1.0 <= result["ci_high"][0])
    # 95% in name; the bootstrap of 60 skewed values covers a bit less
    assert 0.88 <= covered / 200 <= 0.99


@pytest.mark.parametrize("n_users", [50, 30_000], ids=["one batch", "many batches"])
def test_the_interval_of_many_users_is_that_of_the_normal_law(n_users):
    values = np.random.default_rng(0).random(n_users)
    result = summarize(pd.DataFrame({"x": values})).iloc[0]
    half = 1.96 * values.std() / np.sqrt(n_users)
    assert result["ci_low"] == pytest.approx(values.mean() - half, abs=0.15 * half)
    assert result["ci_high"] == pytest.approx(values.mean() + half, abs=0.15 * half)
    assert result["n_users"] == n_users


def test_a_user_missing_in_a_split_is_averaged_over_the_others():
    one, two = table(0), table(1)
    result = average_splits([one, two.drop("u3")])
    assert len(result) == 80
    assert result.loc["u3", "P@5"] == one.loc["u3", "P@5"]
    assert result.loc["u4", "P@5"] == pytest.approx((one + two).loc["u4", "P@5"] / 2)


def test_comparison_by_hand():
    """Differences 3, -1, 2, 0: ranks 3, 1, 2, so (5 - 1) / 6; 3 users of 4 differ."""
    b = pd.DataFrame({"x": [0.0, 0.0, 0.0, 0.0]}, index=list("abcd"))
    a = pd.DataFrame({"x": [3.0, -1.0, 2.0, 0.0]}, index=list("abcd"))
    row = compare(a, b).iloc[0]
    assert row["metric"] == "x"
    assert row["difference"] == 1.0
    assert row["effect_size"] == pytest.approx(4 / 6)
    assert row["p_value"] == pytest.approx(0.5)  # 4 of the 8 signings reach |T| >= 4
    assert (row["n_users"], row["n_different"]) == (4, 3)
    back = compare(b, a).iloc[0]
    assert back["effect_size"] == -row["effect_size"]
    assert back["p_value"] == row["p_value"]


def test_users_are_paired_by_id_whatever_their_order():
    a, b = table(0, shift=0.2), table(1)
    result = compare(a, b.sample(frac=1, random_state=0))
    pd.testing.assert_frame_equal(result, compare(a, b))
    expected = stats.wilcoxon(a["P@5"], b["P@5"]).pvalue
    assert result["p_value"][0] == pytest.approx(expected)
    half = stats.t.ppf(0.975, 79) * (a - b)["P@5"].std() / np.sqrt(80)
    assert result["ci_low"][0] == pytest.approx(result["difference"][0] - half, abs=0.02)
    assert result["ci_high"][0] == pytest.approx(result["difference"][0] + half, abs=0.02)


def test_extremes_of_the_effect_size():
    a = table(0)
    better = compare(a + 0.1, a)
    assert (better["effect_size"] == 1.0).all()
    same = compare(a, a + 1e-17)
    assert (same["effect_size"] == 0.0).all()
    assert (same["p_value"] == 1.0).all()
    assert (same["n_different"] == 0).all()


def test_tables_that_do_not_match_are_refused():
    a = table(0)
    with pytest.raises(ValueError, match="different metrics"):
        compare(a, a[["P@5"]])
    with pytest.raises(ValueError, match="80 users and results_b 79, not the same ones"):
        compare(a, a.drop("u7"))
    with pytest.raises(ValueError, match="twice"):
        compare(pd.concat([a, a]), pd.concat([a, a]))
    with pytest.raises(ValueError, match="no tables"):
        average_splits([])
    with pytest.raises(ValueError, match="different metrics"):
        average_splits([a, a[["P@5"]]])
    with pytest.raises(ValueError, match="0 rows"):
        summarize(a.iloc[:0])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_value_that_is_no_number_is_named(value):
    """Else it would spread to every mean, or a split without it be averaged in silence."""
    good, bad = table(0), table(1)
    bad.loc["u7", "NDCG@5"] = value
    for call in (
        lambda: summarize(bad),
        lambda: compare(good, bad),
        lambda: compare(bad, good),
        lambda: average_splits([good, bad]),
    ):
        with pytest.raises(ValueError, match=f"finite.*{value} for user 'u7' in 'NDCG@5'"):
            call()


def test_what_is_no_table_is_refused():
    with pytest.raises(TypeError, match="must be a DataFrame, got ndarray"):
        summarize(table(0).to_numpy())
    with pytest.raises(TypeError, match="must be a DataFrame, got list"):
        compare([1.0], [2.0])
