"""PairwiseLogistic: its gradient against the loss as defined, pair by pair."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapfm_lab.baselines import PairwiseLogistic
from gapfm_lab.baselines.pairwise_kernels import pairwise_gradients, pairwise_sums
from gapfm_teach import Ratings
from gapfm_teach.consistent.measures import sample_unrated
from gapfm_teach.gradcheck import central_difference, relative_error
from gapfm_teach.training.data import TrainingData

MAX_GRADE = 5
WORTH = np.arange(MAX_GRADE + 1) / MAX_GRADE
SEED = st.integers(0, 10**6)


def loss_of_user(scores, grades, weights) -> float:
    """As defined. `grades` 0: unrated; weights: what each item counts for."""
    return sum(
        grades[i] / MAX_GRADE * weights[j] * np.logaddexp(0, scores[j] - scores[i])
        for i in np.flatnonzero(grades)
        for j in range(len(grades))
        if grades[j] < grades[i]
    )


def loss_of_all(U, V, b, ratings: Ratings, unrated_weight, uniforms=None) -> float:
    """The sum over users, each with `sample_unrated` for all unrated items (None: all of them)."""
    total = 0.0
    for user in range(ratings.n_users):
        rated, grades = ratings.row(user)
        draw = np.zeros(ratings.n_items) if uniforms is None else uniforms[user]
        others, stands_for = sample_unrated(rated, draw, ratings.n_items)
        items = np.concatenate([rated, others])
        total += loss_of_user(
            V[items] @ U[user] + b[items],
            np.concatenate([grades, np.zeros_like(others)]),
            np.repeat([1.0, unrated_weight * stands_for], [rated.size, others.size]),
        )
    return total


def sums(scores, grades, weight):
    e, coefficients = np.empty_like(scores), np.empty_like(scores)
    loss = pairwise_sums(scores, grades, WORTH, weight, e, coefficients)
    return loss, coefficients


@given(SEED, st.integers(1, 9), st.integers(0, 9), st.sampled_from([0.1, 3.0, 120.0]),
       st.sampled_from([0.01, 40.0]))  # fmt: skip
@settings(max_examples=60)
def test_loss_and_gradient_of_a_user(seed, n_rated, n_unrated, spread, weight):
    rng = np.random.default_rng(seed)
    grades = np.sort(rng.integers(1, MAX_GRADE + 1, n_rated))[::-1].copy()
    scores = spread * rng.random(n_rated + n_unrated) + 1000.0  # only differences matter
    listed = np.append(grades, np.zeros(n_unrated, dtype=int))
    weights = np.repeat([1.0, weight], [n_rated, n_unrated])
    loss, coefficients = sums(scores, grades, weight)
    assert loss == pytest.approx(loss_of_user(scores, listed, weights), rel=1e-9, abs=1e-12)
    slope = central_difference(
        lambda f: loss_of_user(f, listed, weights), scores - 1000.0, step=1e-5
    )
    np.testing.assert_allclose(-coefficients, slope, atol=1e-6 * max(1, weight * n_rated))


def test_the_loss_of_a_list_by_hand():
    # Scores 0: each pair costs ln 2. The 5 beats the 2 and both unrated items, the 2 those two.
    loss, coefficients = sums(np.zeros(4), np.array([5, 2]), 0.25)
    assert loss == pytest.approx(np.log(2) * (1.0 * (1 + 0.5) + 0.4 * 0.5))
    pull = [0.5 * (1 + 0.5), 0.5 * (0.4 * 0.5 - 1.0), *[-0.5 * 0.25 * (1.0 + 0.4)] * 2]
    np.testing.assert_allclose(coefficients, pull)


def test_scores_too_far_apart_are_no_small_loss():
    loss, _ = sums(np.array([0.0, 2000.0, 2000.0]), np.array([5]), 1.0)
    assert not np.isfinite(loss)


@pytest.fixture
def few():
    """Five users, seven items: user 1 rated nothing, user 2 everything."""
    rows = [[1, 4], [], list(range(7)), [0, 2, 3, 6], [5]]
    grades = [5, 2, 1, 5, 3, 3, 4, 2, 5, 4, 4, 4, 1, 3]
    indptr = np.cumsum([0, *map(len, rows)])
    return Ratings(indptr, np.concatenate(rows).astype(int), grades, n_items=7, max_grade=5)


@pytest.mark.parametrize("n_drawn", [1, 3, 7])
def test_gradients_of_all_users(n_drawn, few):
    rng = np.random.default_rng(n_drawn)
    U, V, b = rng.normal(size=(5, 2)), rng.normal(size=(7, 2)), rng.normal(size=7)
    uniforms, laid = rng.random((5, n_drawn)), TrainingData(few)
    rows = np.column_stack([U, np.ones(5)]), np.column_stack([V, b])
    by_user, by_item = np.empty((5, 3)), np.full((7, 3), 9.0)
    loss = pairwise_gradients(
        *rows, laid.indptr, laid.items, laid.grades, WORTH, few.indices, uniforms, 0.3,
        by_user, by_item,
    )  # fmt: skip
    given_ = few, 0.3, uniforms
    assert loss == pytest.approx(loss_of_all(U, V, b, *given_))
    slopes = (
        (by_user[:, :2], central_difference(lambda x: loss_of_all(x, V, b, *given_), U)),
        (by_item[:, :2], central_difference(lambda x: loss_of_all(U, x, b, *given_), V)),
        (by_item[:, 2], central_difference(lambda x: loss_of_all(U, V, x, *given_), b)),
    )
    for found, slope in slopes:
        assert relative_error(-found, slope) < 1e-7


def test_the_whole_is_adagrad_down_the_regularised_loss(few):
    """Of seven items all come in each iteration, so nothing is drawn but the start."""
    rng = np.random.default_rng(3)
    point = [rng.normal(0, 0.3, (5, 2)), rng.normal(0, 0.3, (7, 2)), np.zeros(7)]

    def loss(U, V, b):
        size = sum(np.sum(x**2) for x in (U, V, b))
        return loss_of_all(U, V, b, few, 0.3) + 0.4 / 2 * size

    squares = [np.zeros_like(x) for x in point]
    for _ in range(3):
        slopes = [
            central_difference(
                lambda x, k=k: loss(*point[:k], x, *point[k + 1 :]), point[k]
            )
            for k in range(3)
        ]
        for k in range(3):
            squares[k] += slopes[k] ** 2
            point[k] = point[k] - 0.1 * slopes[k] / (np.sqrt(squares[k]) + 1e-12)
    model = PairwiseLogistic(
        2, reg=0.4, learning_rate=0.1, n_iter=3, unrated_weight=0.3, random_state=3
    ).fit(few)
    np.testing.assert_allclose(model.user_factors_, point[0], atol=1e-6)
    np.testing.assert_allclose(model.item_factors_, point[1], atol=1e-6)
    np.testing.assert_allclose(model.item_bias_, point[2], atol=1e-6)
