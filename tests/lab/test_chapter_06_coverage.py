"""The coverage of intervals: each way against its definition, and all where the truth is known."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from gapfm_lab import chapter_06_coverage as coverage
from gapfm_lab.chapter_06_coverage import METHODS, Group
from gapfm_lab.tuning import System
from gapfm_teach.intervals import summarize_splits
from gapfm_teach.splits import overlap_mask

STORED = Path(__file__).parents[2] / "notebooks" / "results" / "coverage.csv"


def crossed(rng, n_splits, n_users, sd):
    """Values (n_splits, n_users) with mean 0 and normal users, splits and rest."""
    users, splits = rng.normal(size=n_users), rng.normal(size=(n_splits, 1))
    return sd[0] * users + sd[1] * splits + sd[2] * rng.normal(size=(n_splits, n_users))


def interval(method, values, ratio=0.5, common=0.2):
    of = Group({}, np.array([]), ratio, common)
    return METHODS[method](values, of, np.random.default_rng(0))


# ------------------------------------------------------------------ the intervals


def test_mean_squares_in_plain_loops():
    values = crossed(np.random.default_rng(0), 3, 7, (1, 1, 1)).tolist()
    mean = sum(map(sum, values)) / 21
    of_split = [sum(row) / 7 for row in values]
    of_user = [sum(row[u] for row in values) / 3 for u in range(7)]
    users = splits = rest = 0.0
    for s in range(3):
        for u in range(7):
            users += (of_user[u] - mean) ** 2 / 6
            splits += (of_split[s] - mean) ** 2 / 2
            rest += (values[s][u] - of_split[s] - of_user[u] + mean) ** 2 / 12
    assert coverage.mean_squares(np.array(values)) == pytest.approx((users, splits, rest))


def test_the_corrected_t_test_is_the_plain_one_with_more_variance():
    values = crossed(np.random.default_rng(2), 6, 20, (1, 1, 1))
    plain = stats.ttest_1samp(values.mean(axis=1), 0).confidence_interval()
    assert interval("corrected resampled t", values, 0.0) == pytest.approx(tuple(plain))
    low, high = interval("corrected resampled t", values, 0.5)
    assert high - low == pytest.approx((plain.high - plain.low) * (1 + 6 * 0.5) ** 0.5)


def test_the_others_are_those_of_the_package():
    values = crossed(np.random.default_rng(3), 6, 20, (1, 1, 1))
    splits = [pd.DataFrame({"x": of_split}) for of_split in values]
    for method, common in {
        "users and splits": 0.0, "users and splits that share ratings": 0.2
    }.items():  # fmt: skip
        row = summarize_splits(splits, overlap=common).iloc[0]
        assert interval(method, values) == (row["ci_low"], row["ci_high"])
    users = values.mean(axis=0)
    half = 1.96 * users.std() / 20**0.5
    low, high = interval("users only", values)
    assert (high - low) / 2 == pytest.approx(half, rel=0.15)


# ------------------------------------------------------------------ what holds the truth


def test_coverage_where_the_components_are_known():
    """Normal values, and splits whose means are as unsure as the users'; a failed run is -10."""
    rng = np.random.default_rng(0)
    groups = [
        Group(
            {name: crossed(rng, 6, 25, (1.0, 0.6, 1.0)) for name in coverage.SYSTEMS},
            np.full((6, 25), -10.0),
            1.0,
            0.25,
        )
        for _ in range(150)
    ]
    found = coverage.coverage(groups, n_splits=(4, 6))
    assert len(found) == 4 * 2 * len(METHODS)
    assert (found["n_groups"] == 150).all()
    share = found.pivot_table(
        index=["what", "n_splits"], columns="method", values="coverage"
    )
    whole = share.drop(coverage.FAILED, level="what")
    assert (whole["users only"] < 0.88).all()
    assert (whole["users and splits"] > 0.9).all()
    assert (whole["crossed random effects"] > 0.87).all()
    # One run so far off: what looks at users alone is sure of a wrong mean.
    assert (share.loc[coverage.FAILED, "users only"] < 0.05).all()
    assert (share.loc[coverage.FAILED, "users and splits"] > 0.95).all()
    error = (found["coverage"] * (1 - found["coverage"]) / 150) ** 0.5
    np.testing.assert_allclose(found["mc_error"], error)
    one, other = coverage.SYSTEMS
    truth = found.groupby("what")["truth"].first()
    means = {name: np.mean([g.values[name] for g in groups]) for name in (one, other)}
    assert truth[coverage.DIFFERENCE] == pytest.approx(means[one] - means[other])
    assert truth[coverage.FAILED] == truth[one] == pytest.approx(means[one])


# ------------------------------------------------------------------ the groups


@pytest.fixture
def quick(monkeypatch):
    systems = {
        "GAPfm": System(coverage.GAPfm, {"learning_rate": [0.01, 0.03]}, {"n_iter": 3})
    }
    name = "Shrunken mean rating"
    monkeypatch.setattr(coverage, "SYSTEMS", systems | {name: coverage.SYSTEMS[name]})


def test_a_group_is_measured_in_splits_of_its_own(quick):
    people = coverage.population(300)
    assert np.diff(people.indptr).min() >= 21
    one, same, other = (coverage.group(people, 40, 2, seed) for seed in (1, 1, 2))
    assert set(one.values) == set(coverage.SYSTEMS)
    for name, values in one.values.items():
        assert values.shape == one.failed.shape == (2, 40)
        assert np.all((values >= 0) & (values <= 1))
        np.testing.assert_array_equal(values, same.values[name])
        assert not np.array_equal(values, other.values[name])
        assert not np.array_equal(values[0], values[1])
    assert one.ratio == 1.0  # ten ratings of each user for either
    assert 0 < one.overlap < coverage.GIVEN / 21
    assert one.failed.mean() < one.values["GAPfm"].mean()


def test_the_shared_part_is_what_two_splits_have_in_common(quick, monkeypatch):
    trains = []
    monkeypatch.setattr(
        coverage, "_tuned",
        lambda name, train, known, seed: trains.append(train) or coverage.MeanRating(),
    )  # fmt: skip
    one = coverage.group(coverage.population(3000), 1000, 2, 0)
    common = overlap_mask(trains[0], trains[-1]).mean()
    assert one.overlap == pytest.approx(common, abs=0.02)


# ------------------------------------------------------------------ what is stored


@pytest.fixture(scope="module")
def stored():
    return pd.read_csv(STORED, comment="#")


def test_the_stored_table_shows_why_users_and_splits_are_both_needed(stored):
    share = stored.pivot_table(
        index=["what", "n_splits"], columns="method", values="coverage"
    )
    assert list(share.columns) == sorted(METHODS)
    whole = share.drop(coverage.FAILED, level="what")
    assert (whole["users only"] < whole["users and splits"]).all()
    assert whole["users only"].min() < 0.7
    assert (whole["users and splits"] > 0.85).all()
    assert (whole["users and splits that share ratings"] > 0.95).all()
    assert (share.loc[coverage.FAILED, "users only"] < 0.15).all()
    assert (share.loc[coverage.FAILED, "users and splits"] > 0.95).all()
