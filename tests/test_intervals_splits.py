"""Intervals and comparisons over users and splits: by hand, by loops, and by how often they hold."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gapfm_teach.intervals import (
    average_splits,
    compare,
    compare_splits,
    holm,
    summarize,
    summarize_splits,
)


def crossed(rng, n_splits, n_users, sd=(1.0, 1.0, 1.0), mean=0.0):
    """One table a split of mean + user + split + rest, normal with standard deviations `sd`."""
    of_user = sd[0] * rng.normal(size=n_users)
    index = pd.Index([f"u{k}" for k in range(n_users)], name="user")
    return [
        pd.DataFrame(
            {"x": mean + of_user + sd[1] * rng.normal() + sd[2] * rng.normal(size=n_users)},
            index=index,
        )
        for _ in range(n_splits)
    ]


def limits(splits):
    return summarize_splits(splits).loc[0, ["ci_low", "ci_high"]].to_numpy(dtype=float)


# ------------------------------------------------------------------ means


def test_the_interval_in_plain_loops():
    """Both variances and Satterthwaite's degrees of freedom as the books have them."""
    splits = crossed(np.random.default_rng(0), 4, 30, mean=2.0)
    values = [split["x"].tolist() for split in splits]
    users = [sum(row[u] for row in values) / 4 for u in range(30)]
    means = [sum(row) / 30 for row in values]
    mean = sum(users) / 30
    a = sum((value - mean) ** 2 for value in users) / 29 / 30
    b = sum((value - mean) ** 2 for value in means) / 3 / 4
    df = (a + b) ** 2 / (a**2 / 29 + b**2 / 3)
    half = stats.t.ppf(0.975, df) * (a + b) ** 0.5
    assert limits(splits) == pytest.approx([mean - half, mean + half])
    row = summarize_splits(splits).iloc[0]
    assert row["mean"] == pytest.approx(mean)
    assert row["split_sd"] == pytest.approx((b * 4) ** 0.5)
    assert (row["split_min"], row["split_max"]) == pytest.approx((min(means), max(means)))
    assert (row["n_users"], row["n_splits"]) == (30, 4)


@pytest.mark.parametrize("sd", [(1, 0.3, 1), (0.3, 0.3, 1), (1, 0, 0)], ids=str)
@pytest.mark.parametrize("n_splits", [5, 10])
def test_intervals_hold_the_mean_of_a_known_population(sd, n_splits):
    """95% or more, whatever the components; those over users alone fall far below, once the
    splits lie apart."""
    rng = np.random.default_rng(7)
    held = alone = 0
    for _ in range(400):
        splits = crossed(rng, n_splits, 40, sd, mean=0.5)
        low, high = limits(splits)
        held += low <= 0.5 <= high
        users = average_splits(splits)["x"]
        half = stats.t.ppf(0.975, 39) * stats.sem(users)
        alone += abs(users.mean() - 0.5) <= half
    assert held / 400 >= 0.93
    if sd[1]:
        assert alone < held
    else:
        assert held / 400 <= 0.97


def test_splits_that_share_ratings_say_less_about_other_ratings():
    """A learner that adds up its ratings, a part of them common to all splits of a data set."""
    rng = np.random.default_rng(5)
    held = {0.0: 0, 0.3: 0}
    for _ in range(400):
        pool = 0.3**0.5 * rng.normal()
        splits = [
            pd.DataFrame({"x": pool + 0.7**0.5 * rng.normal() + 0.1 * rng.normal(size=20)})
            for _ in range(10)
        ]
        for overlap in held:
            row = summarize_splits(splits, overlap=overlap).iloc[0]
            held[overlap] += row["ci_low"] <= 0 <= row["ci_high"]
    assert held[0.0] / 400 < 0.75
    assert 0.92 <= held[0.3] / 400 <= 0.98


def test_the_shared_part_comes_into_comparisons_and_out_of_range_is_refused():
    rng = np.random.default_rng(0)
    a, b = crossed(rng, 5, 40), crossed(rng, 5, 40)
    row = compare_splits(a, b, overlap=0.4).iloc[0]
    apart = [one - other for one, other in zip(a, b, strict=True)]
    expected = summarize_splits(apart, overlap=0.4).iloc[0]
    assert row["ci_low"] == pytest.approx(expected["ci_low"])
    assert row["ci_low"] < compare_splits(a, b)["ci_low"][0]
    with pytest.raises(ValueError, match=r"overlap must be below 1, got 1\.0"):
        summarize_splits(a[:1], overlap=1)
    with pytest.raises(
        ValueError, match=r"overlap must be finite and at least 0, got -0\.1"
    ):
        compare_splits(a, b, overlap=-0.1)


def test_one_split_gives_the_interval_of_its_users():
    (split,) = crossed(np.random.default_rng(0), 1, 50)
    result = summarize_splits([split], random_state=3)
    expected = summarize(split, random_state=3)
    pd.testing.assert_frame_equal(result[expected.columns], expected)
    assert result["n_splits"].tolist() == [1]
    assert result["split_sd"].isna().all()


def test_one_user_has_no_interval():
    splits = crossed(np.random.default_rng(0), 3, 1)
    assert np.isnan(limits(splits)).all()
    row = compare_splits(splits, [split - 1 for split in splits]).iloc[0]
    assert row["difference"] == pytest.approx(1)
    assert np.isnan(row[["ci_low", "ci_high", "p_value"]].astype(float)).all()


def test_a_user_missing_in_a_split_makes_the_interval_wider():
    """With users far apart, a split without the best ones looks like a worse split."""
    splits = crossed(np.random.default_rng(0), 4, 30, (5.0, 0.1, 0.1))
    best = average_splits(splits)["x"].nlargest(5).index
    fewer = [splits[0].drop(best), *splits[1:]]
    result = summarize_splits(fewer).iloc[0]
    assert result["n_users"] == 30
    assert result["mean"] == pytest.approx(average_splits(fewer)["x"].mean())
    assert result["ci_high"] - result["ci_low"] > np.diff(limits(splits))


def test_splits_may_come_one_after_the_other():
    splits = crossed(np.random.default_rng(0), 3, 5)
    pd.testing.assert_frame_equal(summarize_splits(iter(splits)), summarize_splits(splits))


# ------------------------------------------------------------------ differences


def test_a_comparison_is_an_interval_of_differences():
    rng = np.random.default_rng(1)
    a, b = crossed(rng, 5, 40, mean=0.5), crossed(rng, 5, 40)
    shuffled = [split.sample(frac=1, random_state=k) for k, split in enumerate(b)]
    row = compare_splits(a, shuffled).iloc[0]
    apart = [one - other for one, other in zip(a, b, strict=True)]
    expected = summarize_splits(apart).iloc[0]
    assert row["difference"] == pytest.approx(expected["mean"])
    assert [row["ci_low"], row["ci_high"]] == pytest.approx(limits(apart))
    of_users = compare(average_splits(a), average_splits(b)).iloc[0]
    assert row["effect_size"] == pytest.approx(of_users["effect_size"])
    assert (row["metric"], row["n_users"], row["n_splits"]) == ("x", 40, 5)


def test_one_split_is_the_paired_t_test():
    rng = np.random.default_rng(2)
    a, b = crossed(rng, 1, 25, mean=0.4), crossed(rng, 1, 25)
    row = compare_splits(a, b).iloc[0]
    expected = stats.ttest_rel(a[0]["x"], b[0]["x"])
    assert row["p_value"] == pytest.approx(expected.pvalue)
    assert [row["ci_low"], row["ci_high"]] == pytest.approx(
        list(expected.confidence_interval())
    )
    assert row["n_splits"] == 1


def test_equal_systems_are_not_different_and_a_certain_gain_is():
    a = crossed(np.random.default_rng(0), 3, 10)
    same = compare_splits(a, [split + 1e-17 for split in a]).iloc[0]
    assert (same["difference"], same["p_value"], same["effect_size"]) == (0.0, 1.0, 0.0)
    better = compare_splits([split + 0.5 for split in a], a).iloc[0]
    assert better["p_value"] < 1e-6
    assert better["effect_size"] == 1.0
    assert better[["ci_low", "ci_high"]].tolist() == pytest.approx([0.5, 0.5])


def test_splits_that_do_not_match_are_refused_by_number():
    a = crossed(np.random.default_rng(0), 3, 6)
    with pytest.raises(ValueError, match="3 splits and results_b 2; evaluate both"):
        compare_splits(a, a[:2])
    with pytest.raises(ValueError, match="no tables"):
        compare_splits([], [])
    with pytest.raises(ValueError, match="split 1: results_a has 6 users and results_b 5"):
        compare_splits(a, [a[0], a[1].drop("u3"), a[2]])
    with pytest.raises(ValueError, match="split 2: the tables have different metrics"):
        compare_splits(a, [*a[:2], a[2].rename(columns={"x": "y"})])
    with pytest.raises(ValueError, match="split 0: a user stands twice"):
        compare_splits([pd.concat([split, split]) for split in a], a)
    with pytest.raises(ValueError, match="split 1 has 0 rows"):
        summarize_splits([a[0], a[1].iloc[:0]])
    bad = a[2].copy()
    bad.loc["u4", "x"] = np.inf
    for call in (
        lambda: summarize_splits([*a[:2], bad]),
        lambda: compare_splits(a, [*a[:2], bad]),
        lambda: compare_splits([*a[:2], bad], a),
    ):
        with pytest.raises(
            ValueError, match=r"split 2: .*finite.*inf for user 'u4' in 'x'"
        ):
            call()


# ------------------------------------------------------------------ several tests


@given(st.lists(st.floats(0, 1), max_size=8), st.sampled_from([0.01, 0.05, 0.2]))
def test_holm_rejects_what_stepping_down_rejects(p, level):
    """Holm (1979) as he tells it: go on from the smallest as long as p <= level / those left."""
    rejected = set()
    for k, place in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        if p[place] * (len(p) - k) > level:
            break
        rejected.add(place)
    adjusted = holm(p)
    assert set(np.flatnonzero(adjusted <= level)) == rejected
    assert np.all((adjusted >= p) & (adjusted <= 1))


def test_holm_by_hand():
    assert holm([0.04, 0.01, 0.03, 0.5]) == pytest.approx([0.09, 0.04, 0.09, 0.5])
    assert holm(pd.Series([0.6, 0.7])).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("p", [[0.1, np.nan], [1.2], [-0.1], 0.3, [[0.1]]], ids=str)
def test_what_is_no_list_of_p_values_is_refused(p):
    with pytest.raises(ValueError, match="p_values must be a list of numbers from 0 to 1"):
        holm(p)
