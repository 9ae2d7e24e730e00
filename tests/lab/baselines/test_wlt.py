"""WLT against brute-force loops and tastes planted in the data."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapfm_lab.baselines.wlt import (
    WLT,
    Neighborhood,
    lambda_gradient,
    learn_weights,
)
from gapfm_teach.datasets import simulate_ratings
from gapfm_teach.metrics import ndcg
from gapfm_teach.ratings import Ratings


def as_ratings(matrix: np.ndarray) -> Ratings:
    users, items = np.nonzero(matrix)
    counts = np.bincount(users, minlength=matrix.shape[0])
    indptr = np.concatenate(([0], np.cumsum(counts)))
    return Ratings(
        indptr, items, matrix[users, items], n_items=matrix.shape[1], max_grade=5
    )


def some_matrix(seed: int, n_users: int = 12, n_items: int = 9) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(1, 6, (n_users, n_items)) * (rng.random((n_users, n_items)) < 0.6)


# -------------------------------------------------------------------- the features


@given(st.integers(0, 10_000), st.integers(1, 14))
@settings(max_examples=40, deadline=None)
def test_features_match_loops_over_neighbours(seed, n_neighbors):
    matrix = some_matrix(seed)
    rng = np.random.default_rng(seed)
    precedence = rng.permutation(matrix.shape[0])
    user = int(rng.integers(matrix.shape[0]))
    items = rng.permutation(matrix.shape[1])
    expected = [
        features_by_loops(matrix, user, item, n_neighbors, precedence) for item in items
    ]
    near = Neighborhood(as_ratings(matrix), n_neighbors, precedence)
    np.testing.assert_allclose(near.features(user, items), expected, atol=1e-8)
    rated = near.features_of_rated(user)
    np.testing.assert_allclose(rated, near.features(user, np.flatnonzero(matrix[user])))


def test_scores_are_weighted_sums_of_the_features():
    matrix = simulated(40, 30)
    model = WLT(MIDDLING, random_state=0).fit(as_ratings(matrix))
    for user in range(0, 40, 8):  # no two similarities are equal: no precedence is needed
        rows = [
            features_by_loops(matrix, user, i, MIDDLING, np.zeros(40)) for i in range(30)
        ]
        np.testing.assert_allclose(model.predict(user), rows @ model.weights_, atol=1e-6)


MIDDLING = 26  # neighbours: some items have more raters, some have fewer


def simulated(n_users: int, n_items: int) -> np.ndarray:
    matrix = simulate_ratings(n_users, n_items, random_state=4).to_scipy().toarray()
    n_raters = (matrix > 0).sum(axis=0)
    assert n_raters.min() < MIDDLING < n_raters.max()
    return matrix


def features_by_loops(
    matrix: np.ndarray, user: int, item: int, n_neighbors: int, precedence
) -> list[float]:
    blind = matrix.copy()
    blind[user, item] = 0
    near = sorted(
        (-round(cosine(blind[user], matrix[v]), 9), precedence[v], v)
        for v in range(len(matrix))
        if v != user and matrix[v, item]
    )[:n_neighbors]
    tables: list[list[float]] = [[], [], []]
    for _, _, v in near:
        others = np.delete(matrix[v], item)
        others = others[others > 0]
        for table, hit in zip(
            tables,
            (others < matrix[v, item], others > matrix[v, item], others == matrix[v, item]),
            strict=True,
        ):
            table.append(hit.mean() if len(others) else 0.0)
    row: list[float] = []
    for table in tables:
        if near:
            row += [np.mean(table), np.std(table), max(table), min(table)]
            row += [sum(x > 0 for x in table) / n_neighbors]
        else:
            row += [0.0] * 5
    similarity = [cosine(blind[user], matrix[v]) for _, _, v in near]
    return [*row, len(near) / n_neighbors, np.mean(similarity) if near else 0.0]


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    x, y = (np.where(z > 0, z - z[z > 0].mean() if z.any() else 0, 0) for z in (a, b))
    length = np.linalg.norm(x) * np.linalg.norm(y)
    return float(x @ y / length) if length > 1e-9 else 0.0


# -------------------------------------------------------------------- learning

LIST = st.lists(st.tuples(st.floats(-3, 3), st.integers(1, 5)), min_size=1, max_size=8)


@given(LIST)
@settings(deadline=None)
def test_lambdas_match_swapping_each_pair(pairs):
    scores = np.array([score for score, _ in pairs]) + 1e-7 * np.arange(len(pairs))
    grades = np.array([grade for _, grade in pairs])
    expected = np.zeros(len(pairs))
    order = np.argsort(-scores, kind="stable")
    place = np.argsort(order)
    for i, j in itertools.permutations(range(len(pairs)), 2):
        if grades[i] > grades[j]:
            swapped = order.copy()
            swapped[[place[i], place[j]]] = j, i
            falling = -np.arange(len(pairs), dtype=float)
            change = abs(ndcg(grades[swapped], falling) - ndcg(grades[order], falling))
            push = change / (1 + np.exp(scores[i] - scores[j]))
            expected[i] += push
            expected[j] -= push
    np.testing.assert_allclose(lambda_gradient(scores, grades), expected, atol=1e-9)


def test_weights_find_the_feature_that_orders_the_grades():
    rng = np.random.default_rng(1)
    train = as_ratings(some_matrix(1, n_users=40))
    told = train.grades + rng.normal(0, 1.0, train.n_ratings)
    noise = rng.normal(0, 100.0, train.n_ratings)  # another unit must not matter
    constant = np.ones(train.n_ratings)
    weights = learn_weights(
        np.column_stack([told, noise, -told, constant]), train, 0.1, 20, rng
    )
    told_weight, noise_weight, against, _ = weights * [
        told.std(),
        noise.std(),
        told.std(),
        1,
    ]
    assert told_weight > 5 * abs(noise_weight)
    assert against == pytest.approx(-told_weight)


def test_two_camps_with_opposite_tastes_are_told_apart():
    # Even users love the first half of the items and hate the second, odd users the reverse: item
    # means say nothing, neighbours say all.
    rng = np.random.default_rng(5)
    n_users, n_items = 60, 30
    loved = (np.arange(n_users)[:, None] % 2) == (np.arange(n_items) >= n_items // 2)
    grades = np.where(
        loved, rng.integers(4, 6, loved.shape), rng.integers(1, 3, loved.shape)
    )
    given_ = rng.random(loved.shape) < 0.5
    model = WLT(10, random_state=0).fit(as_ratings(grades * given_))
    for user in range(n_users):
        hidden = np.flatnonzero(~given_[user])
        scores = model.predict(user, hidden)
        liked = loved[user, hidden]
        assert scores[liked].min() > scores[~liked].max()


# -------------------------------------------------------------------- as a system
