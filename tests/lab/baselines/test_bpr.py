"""BPR: its step against finite differences, the whole against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from gapfm_lab.baselines import BPR, bpr
from gapfm_lab.baselines.pairwise_kernels import nth_unrated, step_pairs
from gapfm_teach import Ratings, simulate_ratings
from gapfm_teach.gradcheck import central_difference, relative_error

POSITION = st.integers(0, 11)


def users_of(ratings: Ratings) -> np.ndarray:
    return np.repeat(np.arange(ratings.n_users), np.diff(ratings.indptr))


def climb(ratings, U, V, b, drawn, uniforms, learning_rate, reg) -> None:
    step_pairs(
        U, V, b, users_of(ratings), ratings.indices, ratings.indptr, np.array(drawn),
        np.array(uniforms), learning_rate, reg,
    )  # fmt: skip


@given(st.sets(POSITION, max_size=11))
def test_unrated_items_are_numbered_in_their_order(rated):
    left = np.setdiff1d(np.arange(12), sorted(rated))
    found = [nth_unrated(np.array(sorted(rated), dtype=int), n) for n in range(left.size)]
    assert found == left.tolist()


@pytest.mark.parametrize("reg", [0.0, 0.3])
def test_a_step_goes_down_the_loss_of_its_pair(reg):
    ratings = Ratings([0, 2, 5], [1, 3, 0, 1, 4], [5, 4, 3, 2, 1], n_items=6)
    rng = np.random.default_rng(0)
    shapes = {"U": (2, 3), "V": (6, 3), "b": (6,)}
    before = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    after = {name: x.copy() for name, x in before.items()}
    u, i, j = (
        1,
        4,
        3,
    )  # the last rating; 2, 3 and 5 are unrated, and half of the way stands 3
    climb(ratings, **after, drawn=[4], uniforms=[0.5], learning_rate=1e-3, reg=reg)

    def loss(U, V, b):
        ahead = U[u] @ V[i] + b[i] - U[u] @ V[j] - b[j]
        size = sum(np.sum(x**2) for x in (U[u], V[i], V[j], b[i], b[j]))
        return np.log1p(np.exp(-ahead)) + reg / 2 * size

    for name, start in before.items():
        slope = central_difference(lambda x, name=name: loss(**before | {name: x}), start)
        assert relative_error((start - after[name]) / 1e-3, slope) < 1e-7


@pytest.mark.parametrize("at_once", [64, bpr.PAIRS_AT_ONCE])
def test_the_whole_is_a_plain_loop(at_once, monkeypatch):
    monkeypatch.setattr(bpr, "PAIRS_AT_ONCE", at_once)
    train = simulate_ratings(15, 12, mean_ratings=6, random_state=0)
    model = BPR(3, reg=0.02, learning_rate=0.1, n_iter=3, random_state=8).fit(train)
    rng = np.random.default_rng(8)
    U, V = rng.normal(0, 0.1, (15, 3)), rng.normal(0, 0.1, (12, 3))
    b, users = np.zeros(12), users_of(train)
    for begin in range(0, 3 * train.n_ratings, at_once):
        n = min(at_once, 3 * train.n_ratings - begin)
        drawn = (train.n_ratings * rng.random(n)).astype(int)
        for r, uniform in zip(drawn, rng.random(n), strict=True):
            u, i = users[r], train.indices[r]
            unrated = np.setdiff1d(np.arange(12), train.row(u)[0])
            if not unrated.size:  # someone rated everything
                continue
            j = unrated[int(uniform * unrated.size)]
            u_old, slope = U[u].copy(), expit(V[j] @ U[u] + b[j] - V[i] @ U[u] - b[i])
            U[u] += 0.1 * (slope * (V[i] - V[j]) - 0.02 * U[u])
            for item, sign in ((i, 1), (j, -1)):
                V[item] += 0.1 * (sign * slope * u_old - 0.02 * V[item])
                b[item] += 0.1 * (sign * slope - 0.02 * b[item])
    np.testing.assert_allclose(model.user_factors_, U, rtol=1e-9)
    np.testing.assert_allclose(model.item_factors_, V, rtol=1e-9)
    np.testing.assert_allclose(model.item_bias_, b, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.predict(4), V @ U[4] + b, rtol=1e-9, atol=1e-12)


def test_who_rated_everything_has_no_pairs():
    full = Ratings([0, 3, 6], [0, 1, 2, 0, 1, 2], [5, 4, 3, 1, 2, 3])
    one = BPR(n_iter=1, random_state=0).fit(full)
    more = BPR(n_iter=50, random_state=0).fit(full)
    np.testing.assert_array_equal(one.user_factors_, more.user_factors_)
    np.testing.assert_array_equal(one.item_factors_, more.item_factors_)
    assert not more.item_bias_.any()
