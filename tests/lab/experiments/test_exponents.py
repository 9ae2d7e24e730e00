"""Where the pull goes: against differences, and what the two ends are known to do."""

import numpy as np
import pandas as pd
import pytest

from gapfm_teach import GAPfm, simulate_ratings, split_given, thresholding_probabilities
from gapfm_teach.gradcheck import central_difference
from gapfm_teach.lab.experiments.exponents import pulls, share_of_lower_half
from gapfm_teach.repaired.power_mean import consistent_power_mean
from gapfm_teach.repaired.ranks import consistent_rank


@pytest.fixture(scope="module")
def train():
    ratings = simulate_ratings(60, 80, mean_ratings=25, random_state=0)
    return split_given(ratings, 8, min_test=5, random_state=1)[0]


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_a_pull_is_the_slope_of_the_users_mean(train, p):
    model = GAPfm(3, objective="geometric", n_iter=10, random_state=0).fit(train)
    table = pulls(model, p, every=7)
    assert set(table["user"]) == set(range(0, train.n_users, 7))
    items, given = train.row(7)
    grades = np.zeros(train.n_items, int)
    grades[items] = given
    weights, delta = np.where(grades > 0, 1.0, 0.1), thresholding_probabilities(5)

    def value(f):
        return consistent_power_mean(f, grades, delta, p, 1.0, weights)

    slope, ranks = (
        central_difference(value, model.predict(7)),
        consistent_rank(model.predict(7)),
    )
    mine = table[table["user"] == 7].set_index("item")
    np.testing.assert_allclose(mine.loc[items, "pull"], slope[items], atol=1e-7)
    np.testing.assert_allclose(mine.loc[items, "place"], ranks[items], rtol=1e-12)


def test_the_share_is_that_of_the_films_below_the_median():
    table = pd.DataFrame({"place": [1.0, 2.0, 3.0, 4.0], "pull": [1.0, -5.0, 2.0, 1.0]})
    assert share_of_lower_half(table) == pytest.approx(3 / 4)


def test_the_arithmetic_mean_pulls_on_the_upper_half():
    train = simulate_ratings(60, 800, mean_ratings=15, random_state=0)
    model = GAPfm(3, objective="geometric", reg=1.0, n_iter=30, random_state=0).fit(train)
    shares = [share_of_lower_half(pulls(model, p)) for p in (1.0, 0.5, 0.0)]
    assert shares == sorted(shares)
    assert shares[0] < 0.8 * shares[-1]
