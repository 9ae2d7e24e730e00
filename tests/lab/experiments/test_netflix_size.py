"""Data of Netflix's kind: the files that are named, or a simulation that says so."""

import numpy as np
import pytest

from gapfm_lab.experiments import netflix_size
from gapfm_lab.netflix_simulation import simulate_netflix
from gapfm_teach import load_netflix

TINY = 1e-4  # 48 users


@pytest.fixture(autouse=True)
def own_data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GAPFM_TEACH_DATA", str(tmp_path / "data"))
    monkeypatch.delenv(netflix_size.PLACE, raising=False)


# ---------------------------------------------------------------- the data


def test_without_real_files_the_data_are_simulated_once_and_say_so(tmp_path, monkeypatch):
    train, probe = netflix_size.netflix(TINY)
    assert train.n_users == probe.n_users == 48
    assert "simulated" in train.source
    monkeypatch.setattr(
        netflix_size, "simulate_netflix", None
    )  # a second time nothing is written
    again, _ = netflix_size.netflix(TINY)
    assert np.array_equal(again.grades, train.grades)
    assert [p.name for p in (tmp_path / "data").glob("simulated*")] == [
        f"simulated-netflix-{TINY:g}"
    ]


@pytest.mark.parametrize("named_by", ["path", "environment"])
def test_files_that_are_named_are_used(tmp_path, monkeypatch, named_by):
    folder = simulate_netflix(tmp_path / "theirs", 10 * TINY, random_state=5)
    whole, held = load_netflix(folder)
    path = folder if named_by == "path" else None
    if path is None:
        monkeypatch.setenv(netflix_size.PLACE, str(folder))
    train, probe = netflix_size.netflix(1.0, path)
    assert (train.n_ratings, probe.n_ratings) == (whole.n_ratings, held.n_ratings)
    some, some_held = netflix_size.netflix(0.3, path)
    assert 0.15 < some.n_users / whole.n_users < 0.45
    assert np.array_equal(some.users, some_held.users)
    assert "of the users" in some.source
    for user in range(some.n_users):  # each user who is there is there wholly
        place = int(np.flatnonzero(whole.users == some.users[user])[0])
        assert np.array_equal(some.row(user), whole.row(place))
        assert np.array_equal(some_held.row(user), held.row(place))


@pytest.mark.parametrize("wrong", [0, -0.1, 1.5, float("nan")])
def test_a_scale_that_is_no_share_is_refused(wrong):
    with pytest.raises(ValueError, match="scale"):
        netflix_size.netflix(wrong)


def test_active_users_are_those_with_50_training_ratings():
    whole, held = netflix_size.netflix(TINY)
    train, probe = netflix_size.active_users(whole, held)
    counts = np.diff(whole.indptr)
    assert np.array_equal(train.users, whole.users[counts >= 50])
    assert np.array_equal(train.users, probe.users)
    assert np.diff(train.indptr).min() >= 50
