"""What notebook 08 leans on: counting pairs, and how well nodes do."""

import numpy as np
import pytest
from numpy.polynomial import chebyshev

from gapfm_lab import chapter_08
from gapfm_teach import simulate_ratings
from gapfm_teach.paper import logistic

# ---------------------------------------------------------------- counting


def test_costs_count_the_pairs_one_by_one():
    ratings = simulate_ratings(40, 60, random_state=1)
    table = chapter_08.costs(ratings, (3, 7, None))
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
    assert chapter_08.exponent(x, 3e-9 * x**1.7) == pytest.approx(1.7)


# ---------------------------------------------------------------- the fast sum


@pytest.mark.parametrize("spread", [1.0, 5.0, 30.0])
def test_rho_belongs_to_the_ellipse_through_the_pole(spread):
    """Half axes (ρ ± 1/ρ) / 2; the smaller one ends at 2π i / spread, the larger has focus 1."""
    rho = chapter_08.decay(spread)
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
    assert chapter_08.interpolation_error(spread, n, x) == pytest.approx(worst, abs=1e-14)


@pytest.mark.parametrize("spread", [1.0, 2.0, 5.0, 10.0, 20.0])
@pytest.mark.parametrize("n", [6, 12, 20])
def test_the_error_is_close_to_what_rho_predicts(spread, n):
    predicted = max(chapter_08.decay(spread) ** -n, 1e-15)
    assert (
        0.2 * predicted < chapter_08.interpolation_error(spread, n).max() < 10 * predicted
    )


def test_work_by_hand():
    assert chapter_08.relative_work(100, 10, 5) == (1000 + 500 + 1000) / 5000
