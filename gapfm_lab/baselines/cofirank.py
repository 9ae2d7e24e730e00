"""CofiRank: matrix factorisation that minimises a convex upper bound of 1 − NDCG@k."""

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from gapfm_teach._support.checks import (
    check_count,
    check_grades,
    check_random_state,
    check_real,
    check_scores,
)
from gapfm_teach.ratings import Ratings
from gapfm_teach.training.recommender import Recommender

C_EXPONENT = -0.25
MOST_CUTS = 50
MOST_PAIR_STEPS = 1000
INIT_SCALE = 0.1


class NDCGBound:
    """The structured upper bound of one user's loss Δ = 1 − NDCG@k, convex in the scores.

        l(f) = max_π [Δ(π) + <c, f_π>] − <c̄, f>,   c_r = r^(−1/4) at rank r = 1, 2, …

    π puts item π(r) at rank r. <c, f_π> is largest for the order of the scores themselves, so
    l(f) ≥ Δ at that order. c̄ is c laid out along the ideal order; l is 0 once the ideal order
    beats every other by a margin of that order's loss. Where grades repeat there are several ideal
    orders: c̄ is then the mean of c over the ranks that a grade takes up, so l is the mean of the
    bounds for all of them, and items of equal grade are treated alike (and drawn together).

    Parameters: grades (S,), 1 or above; at = k, at least 1. Attributes: `c` (S,) by rank,
    `reference` c̄ (S,) by item. Raises ValueError for unfit grades or at.
    Source: Weimer, Karatzoglou, Le, Smola (NIPS 2007); the mean over ideal orders is ours.
    """

    def __init__(self, grades, *, at: int = 10):
        grades = check_grades(grades, allow_unrated=False)
        at = check_count(at, "at")
        rank = np.arange(1, grades.shape[0] + 1)
        self.c = rank**C_EXPONENT
        discount = np.where(rank <= at, 1 / np.log2(rank + 1), 0.0)
        highest = float(grades.max(initial=1))
        gain = np.exp2(grades - highest) - np.exp2(-highest)
        ideal = np.argsort(-grades, kind="stable")
        self._gain = gain / max(discount @ gain[ideal], 1e-300)
        self._by_rank = np.column_stack([self.c, -discount])
        _, group = np.unique(grades, return_inverse=True)
        self.reference = (np.bincount(group[ideal], self.c) / np.bincount(group))[group]

    def assign(self, scores: np.ndarray) -> tuple[np.ndarray, float]:
        """The maximising π (S,) and max_π [Δ(π) + <c, f_π>]: a linear assignment problem."""
        worth = self._by_rank @ np.stack([scores, self._gain])
        rank, item = linear_sum_assignment(worth, maximize=True)
        return item, float(1 + worth[rank, item].sum()) if item.size else 0.0

    def __call__(self, scores) -> tuple[float, np.ndarray]:
        """Return l(f) and a subgradient (S,) of it: c at the ranks of π, minus c̄."""
        scores = check_scores(scores, length=self.c.shape[0])
        item, most = self.assign(scores)
        subgradient = -self.reference
        subgradient[item] += self.c
        return max(most - float(self.reference @ scores), 0.0), subgradient


class CofiRank(Recommender):
    """Matrix factorisation for collaborative ranking with the NDCG loss, by a bundle method.

        min Σ_m l_m(V U_m + b) + λ/2 (‖U‖² + ‖V‖² + ‖b‖²),   l_m: `NDCGBound` of user m

    Users and items take turns; each turn is a convex problem.

    Parameters
    ----------
    n_factors : int, D >= 1.
    reg : float, λ > 0. The two norms act on U Vᵀ as λ times its trace norm: where λ exceeds the
        largest singular value of the matrix of the bounds' subgradients, the factors fade to
        nothing and only b is left.
    at : int k >= 1, truncation of the NDCG that is learned.
    item_offset : bool, learn b (n_items,); the authors' extension of 2008. Without it there is
        nothing but factors, which then have to carry what all users agree on.
    n_iter : int >= 1, most rounds of one turn each. Stops earlier once a round lowers the
        objective by less than `tol` of it.
    tol : float > 0, relative distance from the minimum at which a turn ends.
    random_state : None, int or numpy Generator, for the start of V: normal, deviation 0.1.

    Attributes after `fit`
    ----------------------
    user_factors_ (n_users, D), item_factors_ (n_items, D), item_offsets_ (n_items,), zeros without
    `item_offset`; history_ : DataFrame of `iteration` and `objective`, which never grows.

    An item without ratings scores 0, a user without ratings has the scores b. Time grows with the
    cube of a user's number of ratings, that of the assignment problem.

    Source: Weimer, Karatzoglou, Le, Smola, "CofiRank: Maximum Margin Matrix Factorization for
    Collaborative Ranking" (NIPS 2007); offsets: Weimer, Karatzoglou, Smola, "Improving Maximum
    Margin Matrix Factorization" (Machine Learning 72, 2008). Simplified: no graph kernel, no
    weights by number of ratings; ties of grade as in `NDCGBound`; a turn keeps its best point, the
    start included. The ratings of a user are put into the order of their grades first, without
    which the bound would reward the order of the columns.
    """

    user_factors_: np.ndarray
    item_factors_: np.ndarray
    item_offsets_: np.ndarray
    history_: pd.DataFrame

    def __init__(
        self,
        n_factors: int = 10,
        *,
        reg: float = 10.0,
        at: int = 10,
        item_offset: bool = True,
        n_iter: int = 20,
        tol: float = 0.001,
        random_state=None,
    ):
        self.n_factors = check_count(n_factors, "n_factors")
        self.reg = check_real(reg, "reg", low_open=True)
        self.at = check_count(at, "at")
        if not isinstance(item_offset, bool | np.bool_):
            raise TypeError(f"item_offset must be True or False, got {item_offset!r}")
        self.item_offset = bool(item_offset)
        self.n_iter = check_count(n_iter, "n_iter")
        self.tol = check_real(tol, "tol", low_open=True)
        self.random_state = random_state
        check_random_state(random_state)

    def _fit(self, train: Ratings, validation: Ratings | None) -> None:
        rng = check_random_state(self.random_state)
        lists = _Lists(train, self.at)
        U = np.zeros((train.n_users, self.n_factors))
        V = rng.normal(0.0, INIT_SCALE, (train.n_items, self.n_factors))
        V[np.bincount(train.indices, minlength=train.n_items) == 0] = 0.0
        b = np.zeros(train.n_items)
        objectives: list[float] = []
        for _ in range(self.n_iter):
            U, _, _ = minimize_bundle(lists.of_users(V, b), U, self.reg, tol=self.tol)
            V, b, objective = self._item_turn(lists, U, V, b)
            objectives.append(objective)
            if len(objectives) > 1 and objectives[-2] - objective <= self.tol * objective:
                break
        self.user_factors_, self.item_factors_, self.item_offsets_ = U, V, b
        iterations = np.arange(1, len(objectives) + 1)
        self.history_ = pd.DataFrame({"iteration": iterations, "objective": objectives})

    def _item_turn(self, lists: "_Lists", U, V, b) -> tuple[np.ndarray, np.ndarray, float]:
        # b is a further column of V, whose column of U is fixed at 1.
        with_one = np.column_stack([U, np.ones(U.shape[0])]) if self.item_offset else U
        start = np.column_stack([V, b]) if self.item_offset else V
        best, value, _ = minimize_bundle(
            lists.of_items(with_one, start.shape),
            start.reshape(1, -1),
            self.reg,
            tol=self.tol,
        )
        best = best.reshape(start.shape)
        objective = float(value[0] + self.reg / 2 * np.sum(U**2))
        return best[:, : self.n_factors], best[:, -1] if self.item_offset else b, objective

    def _scores(self, user: int, items) -> np.ndarray:
        return (
            self.item_factors_[items] @ self.user_factors_[user] + self.item_offsets_[items]
        )


class _Lists:
    """The users' bounds, as functions of the users' factors or of the items'."""

    def __init__(self, train: Ratings, at: int):
        rows = [train.row(user) for user in range(train.n_users)]
        self.items = [items for items, _ in rows]
        self.bounds = [NDCGBound(grades, at=at) for _, grades in rows]

    def of_users(self, V: np.ndarray, b: np.ndarray):
        """A problem for each user: u -> l_m(V u + b)."""

        def loss(U: np.ndarray, users: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            values, slopes = np.empty(users.shape[0]), np.empty_like(U)
            for row, user in enumerate(users):
                rated = V[self.items[user]]
                values[row], slope = self.bounds[user](rated @ U[row] + b[self.items[user]])
                slopes[row] = slope @ rated
            return values, slopes

        return loss

    def of_items(self, U: np.ndarray, shape: tuple[int, ...]):
        """One problem for all items together: V, flattened -> Σ_m l_m(V U_m)."""

        def loss(points: np.ndarray, _) -> tuple[np.ndarray, np.ndarray]:
            V, total, slopes = points.reshape(shape), 0.0, np.zeros(shape)
            for u, items, bound in zip(U, self.items, self.bounds, strict=True):
                value, slope = bound(V[items] @ u)
                total += value
                slopes[items] += np.outer(slope, u)
            return np.array([total]), slopes.reshape(1, -1)

        return loss


def minimize_bundle(
    loss, start: np.ndarray, reg: float, *, tol: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Minimise loss_p(x_p) + λ/2 ‖x_p‖² for many convex problems p at once.

    `loss(points (A, d), which (A,))` returns the losses (A,), none negative, and subgradients
    (A, d) of the problems `which`; `start` (P, d). A bundle method: the loss is replaced by the
    maximum of its tangents so far; minimising that gives the next point and a lower bound. Ends
    when the best point is within `tol` times its value of the bound, or after 50 tangents.

    Returns the best points (P, d), their values (P,) and the lower bounds (P,).
    Source: Teo, Smola, Vishwanathan, Le, "A scalable modular convex solver for regularized risk
    minimization" (KDD 2007), the solver that CofiRank uses.
    """
    point, best = start.copy(), start.copy()
    value, lower = np.full(start.shape[0], np.inf), np.full(start.shape[0], -np.inf)
    tangents = _Tangents(start.shape[0], start.shape[1], reg)
    active = np.arange(start.shape[0])
    for _ in range(MOST_CUTS):
        losses, slopes = loss(point[active], active)
        here = losses + reg / 2 * np.sum(point[active] ** 2, axis=1)
        better = active[here < value[active]]
        best[better] = point[better]
        value[active] = np.minimum(value[active], here)
        tangents.add(active, point[active], losses, slopes)
        point[active], lower[active] = tangents.lowest(active, 0.1 * tol * value[active])
        active = active[value[active] - lower[active] > tol * value[active]]
        if not active.size:
            break
    return best, value, lower


class _Tangents:
    """For each problem p the model max_t (a_pt·x + b_pt) + λ/2 ‖x‖², and its minimum.

    The dual of the minimum is max b·w − ‖Σ_t w_t a_t‖²/(2λ) over the simplex, x = −Σ_t w_t a_t/λ.
    """

    def __init__(self, n: int, width: int, reg: float):
        self.reg, self.n_cuts = reg, 0
        self.a, self.b = np.zeros((n, MOST_CUTS, width)), np.zeros((n, MOST_CUTS))
        self.gram, self.weights = (
            np.zeros((n, MOST_CUTS, MOST_CUTS)),
            np.zeros((n, MOST_CUTS)),
        )
        self.weights[:, 0] = 1.0

    def add(self, which, points, losses, slopes) -> None:
        newest, self.n_cuts = self.n_cuts, self.n_cuts + 1
        self.a[which, newest] = slopes
        self.b[which, newest] = losses - np.sum(slopes * points, axis=1)
        products = np.einsum("ptd,pd->pt", self.a[which, : self.n_cuts], slopes) / self.reg
        self.gram[which, newest, : self.n_cuts] = products
        self.gram[which, : self.n_cuts, newest] = products

    def lowest(self, which, tol) -> tuple[np.ndarray, np.ndarray]:
        """The minimising points and lower bounds of the minima, within `tol`."""
        cuts = slice(self.n_cuts)
        weights, lower = _maximize_on_simplex(
            self.b[which, cuts],
            self.gram[which, cuts, cuts],
            self.weights[which, cuts],
            tol,
        )
        self.weights[which, cuts] = weights
        return -np.einsum("pt,ptd->pd", weights, self.a[which, cuts]) / self.reg, lower


def _maximize_on_simplex(b, gram, x, tol) -> tuple[np.ndarray, np.ndarray]:
    """Maximise b·x − xᵀ gram x / 2 over x ≥ 0, Σ x = 1, for many problems at once.

    Moves weight from the worst entry that has some to the best one, as far as it pays, until no
    move could gain more than `tol` (P,). Returns x (P, T) and the values (P,).
    """
    x = x.copy()
    every = np.arange(x.shape[0])
    curved = np.einsum("pst,pt->ps", gram, x)
    for _ in range(MOST_PAIR_STEPS):
        gradient = b - curved
        to = gradient.argmax(axis=1)
        source = np.where(x > 0, gradient, np.inf).argmin(axis=1)
        gain = gradient[every, to] - gradient[every, source]
        if (gain <= tol).all():
            break
        bend = (
            gram[every, to, to] + gram[every, source, source] - 2 * gram[every, to, source]
        )
        step = np.minimum(gain / np.maximum(bend, 1e-100), x[every, source])
        x[every, to] += step
        x[every, source] -= step
        curved += step[:, None] * (gram[every, to] - gram[every, source])
    return x, np.sum(b * x, axis=1) - np.sum(curved * x, axis=1) / 2
