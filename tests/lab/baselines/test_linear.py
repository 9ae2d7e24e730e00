"""Neighbours, SLIM, EASE and iALS, by their definitions on dense matrices."""

import numpy as np
import pytest

from gapfm_lab.baselines import EASE, IALS, SLIM, ItemKNN, RP3beta, UserKNN, neighbors
from gapfm_lab.grades import grade_weights
from gapfm_teach import Ratings


def dense(train: Ratings, curve: str) -> np.ndarray:
    """x_mi, (n_users, n_items)."""
    table = np.zeros((train.n_users, train.n_items))
    mean = grade_weights(curve, train.max_grade)[train.grades].mean()
    for user in range(train.n_users):
        items, grades = train.row(user)
        table[user, items] = grade_weights(curve, train.max_grade)[grades] / mean
    return table


def largest(similarity: np.ndarray, n: int) -> np.ndarray:
    """With the n largest of each row alone, and nothing on the diagonal."""
    out = np.zeros_like(similarity)
    for k, row in enumerate(similarity):
        order = [j for j in np.argsort(-row, kind="stable") if j != k][:n]
        out[k, order] = row[order]
    return out


def cosine(rows: np.ndarray, shrinkage: float) -> np.ndarray:
    norms = np.linalg.norm(rows, axis=1)
    return (rows @ rows.T) / (np.outer(norms, norms) + shrinkage)


def all_scores(model, train: Ratings) -> np.ndarray:
    return np.array([model.predict(user) for user in range(train.n_users)])


@pytest.mark.parametrize("rows_at_once", [7, 1024])
@pytest.mark.parametrize("curve", ["1", "y²"])
def test_neighbours(train, curve, rows_at_once, monkeypatch):
    monkeypatch.setattr(neighbors, "ROWS_AT_ONCE", rows_at_once)
    X = dense(train, curve)
    by_item = ItemKNN(5, 2.0, curve).fit(train)
    np.testing.assert_allclose(
        all_scores(by_item, train), X @ largest(cosine(X.T, 2.0), 5).T, atol=1e-12
    )
    by_user = UserKNN(5, 2.0, curve).fit(train)
    np.testing.assert_allclose(
        all_scores(by_user, train), largest(cosine(X, 2.0), 5) @ X, atol=1e-12
    )


def test_walk_of_three_steps(train):
    X = dense(train, "y")
    to_item = X / X.sum(axis=1, keepdims=True)
    total = X.sum(axis=0)[:, None]
    to_user = np.divide(X.T, total, out=np.zeros_like(X.T), where=total > 0)
    popularity = np.maximum((X > 0).sum(axis=0), 1)
    similarity = (to_user**0.7 @ to_item**0.7) / popularity**0.3
    model = RP3beta(6, 0.7, 0.3, "y").fit(train)
    np.testing.assert_allclose(
        all_scores(model, train), X @ largest(similarity, 6), atol=1e-12
    )


def test_cosine_without_shrinkage_is_that_of_implicit(train):
    library = pytest.importorskip("implicit.nearest_neighbours")
    theirs = library.CosineRecommender(K=8)
    theirs.fit(train.to_scipy().astype(bool).astype(float), show_progress=False)
    ours = ItemKNN(7, 0.0).fit(train)  # theirs count the item itself
    rows = ours.similarity_.T.toarray()
    for item in np.unique(train.indices):
        kept = np.setdiff1d(theirs.similarity[item].indices, [item])
        values = theirs.similarity[item].toarray()[0][kept]
        np.testing.assert_allclose(np.sort(rows[item][rows[item] > 0]), np.sort(values))


@pytest.mark.parametrize("curve", ["1", "Δ"])
def test_ease_is_the_constrained_least_squares(train, curve):
    X, reg = dense(train, curve), 7.0
    model = EASE(reg, curve).fit(train)
    for item in np.unique(train.indices)[:10]:
        others = np.delete(np.arange(train.n_items), item)
        A = X[:, others]
        solved = np.linalg.solve(A.T @ A + reg * np.eye(others.size), A.T @ X[:, item])
        np.testing.assert_allclose(model.weights_[others, item], solved, atol=1e-10)
        assert model.weights_[item, item] == 0


def test_slim_meets_its_optimality_conditions(train):
    X, l1, l2 = dense(train, "y"), 0.3, 2.0
    W = SLIM(l1, l2, "y").fit(train).weights_.toarray()
    gradient = X.T @ (X @ W - X) + l2 * W + l1
    np.fill_diagonal(gradient, 0.0)
    assert (W >= 0).all()
    assert not W.diagonal().any()
    assert (W > 0).any()
    assert np.abs(gradient[W > 0]).max() < 0.05  # tolerance of the solver
    assert gradient.min() > -0.05


@pytest.mark.parametrize("exponent", [0.0, 1.0])
def test_ials_ends_where_its_loss_is_flat(train, exponent):
    X, weight, reg = dense(train, "y²"), 0.2, 0.8
    model = IALS(
        3, reg=reg, unobserved_weight=weight, grades="y²", exponent=exponent, n_iter=400,
        random_state=0,
    ).fit(train)  # fmt: skip
    C, P = X + weight, (X > 0) * 1.0

    def scaled(totals: np.ndarray) -> np.ndarray:
        return reg * (totals / totals.mean()) ** exponent

    def loss(U: np.ndarray, V: np.ndarray) -> float:
        fit = np.sum(X * (1 - U @ V.T) ** 2) + weight * np.sum((P - U @ V.T) ** 2)
        held = scaled(C.sum(axis=1)) @ (U**2).sum(axis=1)
        return fit + held + scaled(C.sum(axis=0)) @ (V**2).sum(axis=1)

    U, V = model.user_factors_, model.item_factors_
    best = loss(U, V)
    rng = np.random.default_rng(0)
    for _ in range(20):
        toward = 1e-3 * rng.normal(size=U.shape), 1e-3 * rng.normal(size=V.shape)
        assert loss(U + toward[0], V + toward[1]) > best
        change = loss(U + 1e-5 * toward[0], V + 1e-5 * toward[1]) - best
        assert abs(change) < 1e-9 * best


def test_ials_leaves_unrated_items_at_zero():
    train = Ratings([0, 2, 4], [0, 1, 1, 3], [5, 3, 4, 4], n_items=5)
    model = IALS(2, random_state=0).fit(train)
    assert not model.item_factors_[[2, 4]].any()
    assert model.item_factors_[[0, 1, 3]].all()
