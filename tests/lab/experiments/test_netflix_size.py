"""What notebook 08 leans on: data of Netflix's kind, counting pairs, and how well nodes do."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.polynomial import chebyshev

from gapfm_teach import load_netflix, plots, simulate_ratings
from gapfm_teach.lab.experiments import netflix_size
from gapfm_teach.lab.netflix_simulation import simulate_netflix
from gapfm_teach.smooth import logistic

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


# ---------------------------------------------------------------- counting


def test_costs_count_the_pairs_one_by_one():
    ratings = simulate_ratings(40, 60, random_state=1)
    table = netflix_size.costs(ratings, (3, 7, None))
    for name, most in {"3": 3, "7": 7, "all": 10**9}.items():
        sizes = [min(len(ratings.row(m)[0]), most) for m in range(ratings.n_users)]
        assert table.loc[name, "users"] == 40
        assert table.loc[name, "ratings"] == sum(sizes)
        assert table.loc[name, "pairs"] == sum(
            1 for S in sizes for _ in range(S) for _ in range(S)
        )
        assert table.loc[name, "paper"] == pytest.approx(sum(sizes) ** 2 / 40, abs=0.5)


def test_the_exponent_of_a_power_is_found():
    x = np.array([10, 30, 300, 17_000])
    assert netflix_size.exponent(x, 3e-9 * x**1.7) == pytest.approx(1.7)


# ---------------------------------------------------------------- the fast sum


@pytest.mark.parametrize("spread", [1.0, 5.0, 30.0])
def test_rho_belongs_to_the_ellipse_through_the_pole(spread):
    """Half axes (ρ ± 1/ρ) / 2; the smaller one ends at 2π i / spread, the larger has focus 1."""
    rho = netflix_size.decay(spread)
    assert (rho - 1 / rho) / 2 == pytest.approx(2 * np.pi / spread)
    assert ((rho + 1 / rho) ** 2 - (rho - 1 / rho) ** 2) / 4 == pytest.approx(1)


@pytest.mark.parametrize(("spread", "n"), [(2.0, 5), (5.0, 12), (20.0, 33), (5.0, 1)])
def test_the_error_is_that_of_numpys_interpolation(spread, n):
    x, half = np.linspace(-1, 1, 41), spread / 2
    worst = np.zeros(41)
    for f in half * np.linspace(-1, 1, 101):
        series = chebyshev.chebinterpolate(lambda s, f=f: logistic(f - half * s), n - 1)
        off = chebyshev.chebval(x, series) - logistic(f - half * x)
        worst = np.maximum(worst, abs(off))
    assert netflix_size.interpolation_error(spread, n, x) == pytest.approx(worst, abs=1e-14)


@pytest.mark.parametrize("spread", [1.0, 2.0, 5.0, 10.0, 20.0])
@pytest.mark.parametrize("n", [6, 12, 20])
def test_the_error_is_close_to_what_rho_predicts(spread, n):
    predicted = max(netflix_size.decay(spread) ** -n, 1e-15)
    assert (
        0.2 * predicted < netflix_size.interpolation_error(spread, n).max() < 10 * predicted
    )


def test_singular_values_are_those_of_the_matrix():
    f = np.linspace(-2.5, 2.5, 50)
    matrix = logistic(f[None, :] - f[:, None])
    values = netflix_size.singular_values(5, 50)
    first = np.sqrt(np.linalg.eigvalsh(matrix @ matrix.T)[-1])
    assert values[0] == 1
    assert np.sum((first * values) ** 2) == pytest.approx(np.sum(matrix**2))


def test_work_by_hand():
    assert netflix_size.relative_work(100, 10, 5) == (1000 + 500 + 1000) / 5000


# ---------------------------------------------------------------- its picture


def test_the_picture_sorts_by_user_and_keeps_the_order_of_the_file():
    _, ax = plt.subplots()
    plots.counting_sort(ax, [1, 1, 8, 8, 8], [7, 3, 3, 9, 7], [5, 2, 4, 1, 3])
    texts = [(text.get_text(), text.get_position()) for text in ax.texts]
    right = sorted((y, text) for text, (x, y) in texts if x > 3 and "grade" in text)
    assert [text for _, text in right] == [
        "movie 1, grade 2", "movie 8, grade 4", "movie 1, grade 5", "movie 8, grade 3",
        "movie 8, grade 1",
    ]  # fmt: skip
    rows = [text for text, _ in texts if "begins" in text]
    assert rows == [f"← row of user {u} begins at {k}" for u, k in ((3, 0), (7, 2), (9, 4))]
    plt.close()
