"""CofiRank: its bound against all permutations, its solver against scipy, what it learns."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from gapfm_lab.baselines.cofirank import CofiRank, NDCGBound, minimize_bundle
from gapfm_teach import Ratings, ndcg
from gapfm_teach.gradcheck import central_difference, relative_error


def discounts(n: int) -> np.ndarray:
    return np.array([1 / (r + 1) ** 0.25 for r in range(n)])


def loss_of(order, grades, at: int) -> float:
    """1 − NDCG@k when the items are shown in `order`."""
    scores = np.empty(len(grades))
    scores[list(order)] = -np.arange(len(grades))
    return 1 - ndcg(grades, scores, at=at)


def bound_by_enumeration(grades, scores, at: int) -> float:
    """The paper's max over all orders, for each ideal order; then the mean over those."""
    c = discounts(len(grades))
    orders = [list(order) for order in permutations(range(len(grades)))]
    ideal = [order for order in orders if np.all(np.diff(grades[order]) <= 0)]
    most = max(loss_of(order, grades, at) + c @ scores[order] for order in orders)
    return float(np.mean([most - c @ scores[order] for order in ideal]))


@st.composite
def lists(draw, most=5):
    n = draw(st.integers(1, most))
    grades = draw(st.lists(st.integers(1, 5), min_size=n, max_size=n))
    scores = draw(st.lists(st.floats(-3, 3, width=32), min_size=n, max_size=n))
    return np.array(grades), np.array(scores, dtype=float)


@settings(deadline=None, max_examples=60)
@given(lists(), st.integers(1, 6))
def test_bound_is_the_maximum_over_all_orders(one, at):
    grades, scores = one
    value, _ = NDCGBound(grades, at=at)(scores)
    assert value == pytest.approx(bound_by_enumeration(grades, scores, at), abs=1e-10)


@settings(deadline=None, max_examples=60)
@given(lists(most=12), st.integers(1, 12))
def test_bound_is_tight_at_the_order_found(one, at):
    grades, scores = one
    bound = NDCGBound(grades, at=at)
    order, most = bound.assign(scores)
    assert sorted(order) == list(range(len(grades)))
    reached = loss_of(order, grades, at) + discounts(len(grades)) @ scores[order]
    assert most == pytest.approx(reached, abs=1e-12)
    value, subgradient = bound(scores)
    assert value == pytest.approx(
        loss_of(order, grades, at) + subgradient @ scores, abs=1e-9
    )


def test_subgradient_is_the_gradient_where_there_is_one():
    rng = np.random.default_rng(0)
    for n in (2, 5, 20, 40):
        bound = NDCGBound(rng.integers(1, 6, n))
        scores = rng.normal(size=n)
        numeric = central_difference(lambda f, bound=bound: bound(f)[0], scores)
        assert relative_error(bound(scores)[1], numeric) < 1e-6


def test_bundle_finds_the_minimum_that_scipy_finds():
    rng = np.random.default_rng(1)
    planes, heights, reg = rng.normal(size=(6, 12, 3)), rng.random((6, 12)) + 1, 0.5

    def loss(points, which):
        values = np.einsum("ptd,pd->pt", planes[which], points) + heights[which]
        top = values.argmax(axis=1)
        rows = np.arange(which.shape[0])
        return values[rows, top], planes[which, top]

    best, value, lower = minimize_bundle(loss, np.ones((6, 3)), reg, tol=1e-5)
    for p in range(6):
        # Smooth form: the least ceiling over all planes.
        found = minimize(
            lambda z: z[3] + reg / 2 * z[:3] @ z[:3],
            np.array([1.0, 1.0, 1.0, 20.0]),
            constraints={
                "type": "ineq",
                "fun": lambda z, p=p: z[3] - planes[p] @ z[:3] - heights[p],
            },
            method="SLSQP",
            options={"ftol": 1e-12},
        )
        assert value[p] == pytest.approx(found.fun, rel=2e-5)
        assert lower[p] <= found.fun * (1 + 1e-9)
        assert best[p] == pytest.approx(found.x[:3], abs=1e-2)


def ratings_of(table) -> Ratings:
    """Ratings from a dense table, 0 = unrated."""
    table = np.asarray(table)
    indptr = np.concatenate([[0], np.cumsum((table > 0).sum(axis=1))])
    users, items = np.nonzero(table)
    return Ratings(indptr, items, table[users, items], n_items=table.shape[1], max_grade=5)


def planted(rng, two_camps: bool, n_users=50, n_items=24):
    """Grades that follow one order of the items, or this order and its reverse for camp two."""
    quality = np.tile(np.linspace(-2, 2, n_items), (n_users, 1))
    if two_camps:
        quality[n_users // 2 :] *= -1
    noisy = quality + 0.2 * rng.normal(size=quality.shape)
    grades = np.clip(np.round(noisy + 3), 1, 5).astype(int)
    seen = rng.random(quality.shape) < 0.4
    return ratings_of(np.where(seen, grades, 0)), quality


def agreement(model, quality) -> float:
    """Mean correlation of scores and planted quality over the users."""
    pairs = [
        np.corrcoef(model.predict(user), quality[user])[0, 1]
        for user in range(len(quality))
    ]
    return float(np.mean(pairs))


@pytest.mark.slow
def test_planted_camps_need_the_factors():
    train, quality = planted(np.random.default_rng(0), two_camps=True)
    for offset in (False, True):
        model = CofiRank(2, reg=0.5, item_offset=offset, tol=0.01, random_state=0).fit(
            train
        )
        assert agreement(model, quality) > 0.8
    # With factors switched off by a high λ, camps that disagree leave the offsets nothing.
    flat = CofiRank(2, reg=100.0, random_state=0).fit(train)
    assert abs(agreement(flat, quality)) < 0.5


def objective_of(model, train) -> float:
    """The objective from its definition, the model's predictions and the bounds alone."""
    total = 0.0
    for user in range(train.n_users):
        items, grades = train.row(user)
        total += NDCGBound(grades, at=model.at)(model.predict(user, items))[0]
    parts = (model.user_factors_, model.item_factors_, model.item_offsets_)
    return total + model.reg / 2 * sum(np.sum(part**2) for part in parts)


@pytest.mark.parametrize("offset", [False, True])
def test_objective_falls_to_the_value_recorded(offset):
    train, _ = planted(np.random.default_rng(2), two_camps=True)
    model = CofiRank(3, reg=0.5, at=5, item_offset=offset, tol=0.01, random_state=1).fit(
        train
    )
    objectives = model.history_["objective"].to_numpy()
    assert np.all(np.diff(objectives) <= 1e-9)
    assert objectives[-1] == pytest.approx(objective_of(model, train))
    nothing = sum(
        NDCGBound(train.row(user)[1], at=5)(np.zeros(train.row(user)[1].shape[0]))[0]
        for user in range(train.n_users)
    )
    assert objectives[-1] < 0.7 * nothing


def test_an_item_offset_that_is_no_yes_or_no_is_named():
    with pytest.raises(TypeError, match="item_offset"):
        CofiRank(item_offset=1)


def test_unfit_lists_are_named():
    with pytest.raises(ValueError, match="grades"):
        NDCGBound([1, 0])
    with pytest.raises(ValueError, match="scores"):
        NDCGBound([1, 2])([0.0, np.nan])
    with pytest.raises(ValueError, match="2 grades"):
        NDCGBound([1, 2])([0.0])
