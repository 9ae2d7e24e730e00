"""WLT against features counted by hand, brute-force loops, and tastes planted in the data."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapfm_lab.baselines.wlt import (
    FEATURES,
    WLT,
    Neighborhood,
    lambda_gradient,
    learn_weights,
    outcome_shares,
    unit_profiles,
)
from gapfm_teach.datasets import simulate_ratings
from gapfm_teach.metrics import ndcg
from gapfm_teach.ratings import Ratings

#         items: 0  1  2  3
TINY = np.array(
    [[5, 1, 3, 0],
     [5, 1, 4, 4],
     [1, 5, 0, 2],
     [0, 2, 2, 5]]
)  # fmt: skip


def as_ratings(matrix: np.ndarray) -> Ratings:
    users, items = np.nonzero(matrix)
    counts = np.bincount(users, minlength=matrix.shape[0])
    indptr = np.concatenate(([0], np.cumsum(counts)))
    return Ratings(
        indptr, items, matrix[users, items], n_items=matrix.shape[1], max_grade=5
    )


def features(
    matrix: np.ndarray, user: int, items, n_neighbors: int, precedence=None
) -> np.ndarray:
    if precedence is None:
        precedence = np.arange(matrix.shape[0])
    near = Neighborhood(as_ratings(matrix), n_neighbors, precedence)
    return near.features(user, np.asarray(items))


def some_matrix(seed: int, n_users: int = 12, n_items: int = 9) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(1, 6, (n_users, n_items)) * (rng.random((n_users, n_items)) < 0.6)


# -------------------------------------------------------------------- the features


def test_the_outcomes_of_a_profile_are_counted_against_its_other_items():
    # User 1 graded 5, 1, 4, 4: the second 4 beats one of three, loses to one, ties with one.
    by_hand = np.array([[3, 0, 0], [0, 3, 0], [1, 1, 1], [1, 1, 1]]) / 3
    np.testing.assert_allclose(outcome_shares(as_ratings(TINY))[3:7], by_hand)


def test_a_profile_of_one_item_has_no_outcomes():
    assert not outcome_shares(as_ratings(np.array([[0, 3], [0, 0]]))).any()


def test_the_features_of_one_pair_by_hand():
    # Item 3 for user 0: users 1, 2, 3 rated it. User 0's centred profile is (2, -2, 0, 0); the
    # others' are (1.5, -2.5, .5, .5), (-5/3, 7/3, 0, -2/3) and (0, -1, -1, 2).
    likeness = [
        8 / np.sqrt(8 * 9),
        -8 / np.sqrt(8 * 78 / 9),
        2 / np.sqrt(8 * 6),
    ]
    # Nearest two: user 1 (wins 1/3, loses 1/3, ties 1/3) and user 3 (wins all).
    win = [2 / 3, 1 / 3, 1, 1 / 3, 1]
    loss_and_tie = [1 / 6, 1 / 6, 1 / 3, 0, 1 / 2]
    by_hand = [
        *win,
        *loss_and_tie,
        *loss_and_tie,
        1,
        (likeness[0] + likeness[2]) / 2,
    ]
    np.testing.assert_allclose(features(TINY, 0, [3], 2), [by_hand], atol=1e-8)
    nearest_first = [likeness[0], likeness[2], likeness[1]]
    for k in (1, 2, 3):
        assert features(TINY, 0, [3], k)[0, 16] == pytest.approx(np.mean(nearest_first[:k]))


def test_there_are_seventeen_features():
    assert len(FEATURES) == len(set(FEATURES)) == 17
    assert features(TINY, 0, [0, 1, 2, 3], 3).shape == (4, 17)


def test_counts_of_neighbours_are_shares_of_those_asked_for():
    row = dict(zip(FEATURES, features(TINY, 0, [3], 6)[0], strict=True))
    assert row["neighbours found"] == pytest.approx(3 / 6)
    assert row["win share"] == pytest.approx(3 / 6)  # user 2's grade 2 beats their 1
    assert row["loss share"] == pytest.approx(2 / 6)
    assert row["tie share"] == pytest.approx(1 / 6)


def test_an_item_that_no_other_rated_has_features_of_zero():
    alone = np.pad(TINY, ((0, 0), (0, 2)))
    alone[0, 4] = 5  # item 4: only user 0; item 5: nobody
    assert not features(alone, 0, [4, 5], 3).any()


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
    np.testing.assert_allclose(
        features(matrix, user, items, n_neighbors, precedence), expected, atol=1e-8
    )


@pytest.mark.slow
def test_features_of_every_pair_match_loops_on_simulated_ratings():
    # The last two users have no taste to go by: one rating, and equal ones.
    matrix = simulated(40, 30)
    matrix[-2, 1:] = 0
    matrix[-1] = np.where(matrix[-1] > 0, 3, 0)
    precedence = np.random.default_rng(2).permutation(len(matrix))
    near = Neighborhood(as_ratings(matrix), MIDDLING, precedence)
    for user, row in enumerate(matrix):
        expected = np.array(
            [features_by_loops(matrix, user, i, MIDDLING, precedence) for i in range(30)]
        )
        np.testing.assert_allclose(near.features(user, slice(None)), expected, atol=1e-8)
        np.testing.assert_allclose(
            near.features_of_rated(user), expected[row > 0], atol=1e-8
        )


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


# -------------------------------------------------------------------- no leak


def test_a_grade_does_not_reach_the_features_of_its_own_pair():
    matrix = some_matrix(3)
    user, item = map(int, np.argwhere(matrix)[7])
    others = np.flatnonzero(matrix[user])
    others = others[others != item]
    seen, rest = [], []
    for grade in (0, 1, 2, 3, 4, 5):
        changed = matrix.copy()
        changed[user, item] = grade
        seen.append(features(changed, user, [item], 4))
        rest.append(features(changed, user, others, 4))
    for row in seen[1:]:
        np.testing.assert_allclose(row, seen[0], atol=1e-8)
    assert not np.allclose(rest[1], rest[5])  # the grade does matter for the other items


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


def test_training_raises_ndcg_on_the_training_lists():
    train = simulate_ratings(80, 60, random_state=0)
    lists = [(user, *train.row(user)) for user in range(train.n_users)]
    model = WLT(20, random_state=0).fit(train)

    def mean_ndcg(weights):
        model.weights_ = weights
        return np.mean(
            [ndcg(grades, model.predict(u, items)) for u, items, grades in lists]
        )

    learned = model.weights_
    untrained = np.random.default_rng(0).permuted(np.tile(learned, (10, 1)), axis=1)
    assert mean_ndcg(learned) > max(mean_ndcg(weights) for weights in untrained)
    assert mean_ndcg(learned) > mean_ndcg(-learned) + 0.1


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


def test_users_without_ratings_and_items_without_raters_are_scored():
    matrix = np.pad(some_matrix(2), ((0, 1), (0, 1)))
    model = WLT(4, random_state=0).fit(as_ratings(matrix))
    scores = model.predict(matrix.shape[0] - 1)
    assert np.isfinite(scores).all()
    assert scores[-1] == 0
    assert not unit_profiles(as_ratings(matrix))[[-1]].toarray().any()
