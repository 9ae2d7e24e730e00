"""The whole paper in one file: equations (1) to (11) and Algorithms 1 and 2, in its order.

Plain NumPy, one user at a time, written to be read. `kernels` computes the same numbers fast, and
`GAPfm` is the model to train with. Where the paper leaves something open, a comment says so.

    grades y  (S,) whole numbers, 0 = unrated     scores f  (S,)     delta  (L,), δ_1 to δ_L
    U  (n_users, D)     V  (n_items, D)     u  (D,), the row of U that belongs to one user

Equations (6) to (11) accept complex scores, so that complex-step differentiation can check the
gradients. Type `from gapfm_teach.paper import *` before an example.
"""

import numpy as np

from ._support.checks import (
    MOST_GRADES,
    check_array,
    check_choice,
    check_count,
    check_delta,
    check_grades,
    check_penalty,
    check_random_state,
    check_real,
    check_scores,
)

# ---------------------------------------------------------------- (1) scores, and their ranks


def predict_scores(u, V) -> np.ndarray:
    """Scores f_i = <u, V_i> of one user, equation (1): (S,) from u (D,) and V (S, D).

    Raises ValueError for shapes that do not fit.

    >>> predict_scores([1.0, 2.0], [[3.0, 0.0], [0.0, 3.0]])
    array([3., 6.])
    """
    u, V = _factors(u, V)
    return V @ u


def ranks(scores) -> np.ndarray:
    """Rank R_i of each item, (S,): 1 for the highest score. Section 3.

    Ranks are a permutation of 1..S. The paper does not say how ties are broken: equal scores keep
    the order given here. Raises ValueError for scores that are not finite.

    >>> ranks([0.2, 0.9, 0.5, 0.5])
    array([4, 1, 2, 3])
    """
    scores = check_scores(scores)
    result = np.empty(len(scores), dtype=np.int64)
    result[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return result


# ---------------------------------------------------------------- (2)-(5) graded average precision


def gap(grades, scores, delta) -> float:
    """Graded average precision of one list, equations (2) and (3), in [0, 1].

    GAP = 1/Z Σ_i 1/R_i Σ_{j: R_j ≤ R_i} β_ij with Z = Σ_i Δ(y_i). Returns nan if nothing is
    rated. `graded_average_precision` in `metrics` also has cut-offs and other normalisers. Raises
    ValueError for bad grades, scores or delta.

    >>> round(gap([3, 1, 2, 2], [4, 3, 2, 1], [1, 1, 1]) * 96)  # by hand in Chapter 1: 89/96
    89
    """
    grades, R = check_grades(grades), ranks(check_scores(scores, length=len(grades)))
    beta = pair_weights(grades, delta)
    Z = np.trace(beta)
    no_lower = R[None, :] <= R[:, None]
    return float(np.sum(beta * no_lower / R[:, None]) / Z) if Z else float("nan")


def pair_weights(grades, delta) -> np.ndarray:
    """Pair weights β_ij of equation (4), (S, S).

    The two cases of (4) are one: β_ij = Δ(min(y_i, y_j)) = min(Δ(y_i), Δ(y_j)). A pair with an
    unrated item weighs 0. Raises ValueError for bad grades or too few `delta`.

    >>> pair_weights([3, 1, 2], [0.125, 0.375, 0.875])
    array([[1.375, 0.125, 0.5  ],
           [0.125, 0.125, 0.125],
           [0.5  , 0.125, 0.5  ]])
    """
    grades = check_grades(grades)
    Delta = cumulative_weights(check_delta(delta, grades.max(initial=0)))[grades]
    return np.minimum.outer(Delta, Delta)


def cumulative_weights(delta) -> np.ndarray:
    """Δ(0), Δ(1), ..., Δ(L), (L + 1,): Δ(y) = δ_1 + ... + δ_y and Δ(0) = 0.

    Raises ValueError for weights that are negative or not finite.

    >>> cumulative_weights([0.125, 0.375, 0.875])
    array([0.   , 0.125, 0.5  , 1.375])
    """
    return np.append(0.0, np.cumsum(check_delta(delta, 0)))


def thresholding_probabilities(max_grade: int) -> np.ndarray:
    """Weights δ_1 to δ_L of the thresholds, L = `max_grade`, equation (5): (L,).

    δ_l = (2^l - 1) / 2^L, and δ_1 = 1 when L = 1. They do not sum to one, which makes no
    difference, because GAP divides their sum out. Raises TypeError or ValueError for a bad L.

    >>> thresholding_probabilities(3)  # 1/8, 3/8, 7/8
    array([0.125, 0.375, 0.875])
    """
    L = check_count(max_grade, "max_grade", high=MOST_GRADES)
    grades = np.arange(1, L + 1)
    # 2^(l - L) - 2^-L, so that a high grade does not overflow
    return np.ones(1) if L == 1 else np.exp2(grades - float(L)) - np.exp2(-float(L))


# ---------------------------------------------------------------- (6)-(8) smoothed GAP


def logistic(x):
    """The logistic function g(x) = 1 / (1 + e^-x), for any shape.

    Equation (6) replaces [R_j ≤ R_i] with g(f_j - f_i), and (7) replaces 1/R_i with g(f_i).

    >>> logistic([-1000, 0, 1000])
    array([0. , 0.5, 1. ])
    """
    x = check_array(x, "x", allow_complex=True, finite=False)
    positive = x.real >= 0
    e = np.exp(np.where(positive, -x, x))  # never overflows
    return np.where(positive, 1.0, e) / (1.0 + e)


def logistic_derivative(x):
    """g'(x) = g(x) g(-x), the form that keeps its digits where g is near 1.

    >>> float(logistic_derivative(0))
    0.25
    """
    x = check_array(x, "x", allow_complex=True, finite=False)
    return logistic(x) * logistic(-x)


def smoothed_gap(scores, grades, delta):
    """Smoothed GAP of one user, equation (8), without 1/Z: Σ_i g(f_i) Σ_j β_ij g(f_j - f_i).

    scores f, (S,) finite, and grades, (S,) >= 1, of the user's rated items. Returns a float in
    [0, Σ_ij β_ij] (complex for complex scores), 0.0 when S = 0. Raises ValueError for bad scores,
    grades or delta. The paper drops 1/Z, which decides how much each user counts (Chapter 2).

    >>> smoothed_gap([0.0, 0.0], [1, 1], [1.0])  # 2 items, each g(0) · 2 g(0)
    1.0
    """
    f, beta = _rated(scores, grades, delta)
    value = np.sum(logistic(f) * np.sum(beta * logistic(f[None, :] - f[:, None]), axis=1))
    return value if np.iscomplexobj(f) else float(value)


def smoothed_gap_gradient(scores, grades, delta) -> np.ndarray:
    """Gradient c = ∂F/∂f of (8), (S,): the part that (10) and (11) share, Appendix B.

    c_i = g'(f_i) Σ_j β_ij g(f_j - f_i) + Σ_j β_ij (g(f_j) - g(f_i)) g'(f_j - f_i).
    Arguments and errors as for `smoothed_gap`.

    >>> smoothed_gap_gradient([0.0, 0.0], [1, 1], [1.0])  # g'(0) · 2 g(0)
    array([0.25, 0.25])
    """
    f, beta = _rated(scores, grades, delta)
    apart = f[None, :] - f[:, None]
    # g(f_j) - g(f_i) loses all its digits where both are near 1; g(f_j) g(-f_i) - g(f_i) g(-f_j)
    # is the same number and keeps them.
    g, h = logistic(f), logistic(-f)
    gain = np.outer(h, g) - np.outer(g, h)
    own = logistic_derivative(f) * np.sum(beta * logistic(apart), axis=1)
    return own + np.sum(beta * gain * logistic_derivative(apart), axis=1)


# ---------------------------------------------------------------- (9)-(11) objective and gradients


def objective(user_factors, item_factors, ratings, *, delta=None, reg) -> float:
    """The objective F(U, V), equation (9), without the constant 1/M.

    user_factors U, (n_users, D); item_factors V, (n_items, D); `ratings`, a `Ratings`; delta
    defaults to (5). Returns Σ_m (8) - λ/2 (‖U‖² + ‖V‖²), where reg is λ >= 0. Raises ValueError
    where shapes disagree, and for factors that are not finite or too large.

    >>> from gapfm_teach import Ratings
    >>> ratings = Ratings([0, 2], [0, 1], [1, 1])  # one user, two items of grade 1
    >>> objective([[2.0]], [[0.0], [0.0]], ratings, reg=0.1)  # 1 - 0.1/2 · 2²
    0.8
    """
    U, V = _all_factors(user_factors, item_factors, ratings)
    delta = thresholding_probabilities(ratings.max_grade) if delta is None else delta
    total = 0.0
    for m in range(ratings.n_users):
        items, grades = ratings.row(m)
        total += smoothed_gap(V[items] @ U[m], grades, delta)
    return total - check_penalty(check_real(reg, "reg"), U, V)


def user_gradient(u, V, grades, *, delta, reg) -> np.ndarray:
    """∂F/∂U_m, equation (10), (D,): Vᵀ c - λ u.

    u, (D,); V, (S, D), the factors of the items that the user rated; grades, (S,); reg λ >= 0.
    Raises ValueError for bad shapes or values.

    >>> V = [[1.0], [3.0]]
    >>> user_gradient([0.0], V, [1, 1], delta=[1.0], reg=0.1)  # c = (1/4, 1/4)
    array([1.])
    """
    (u, V), reg = _factors(u, V), check_real(reg, "reg")
    gradient = V.T @ smoothed_gap_gradient(V @ u, grades, delta) - reg * u
    return check_array(gradient, "the gradient", allow_complex=True)


def item_gradients(u, V, grades, *, delta, reg) -> np.ndarray:
    """∂F/∂V_i, equation (11), (S, D), for the items of one user: row i is c_i u - λ V_i.

    Arguments and errors as for `user_gradient`. (11) is one user's part. The objective (9) sums
    over users, so the other users' parts are added in Algorithm 2.

    >>> item_gradients([2.0], [[0.0], [0.0]], [1, 1], delta=[1.0], reg=0.1)
    array([[0.5],
           [0.5]])
    """
    (u, V), reg = _factors(u, V), check_real(reg, "reg")
    gradient = np.outer(smoothed_gap_gradient(V @ u, grades, delta), u) - reg * V
    return check_array(gradient, "the gradient", allow_complex=True)


# ---------------------------------------------------------------- Algorithm 1


def misranking(grades, scores) -> np.ndarray:
    """|r - r̂| of Algorithm 1, (S,): how far each item is from the rank that its grade deserves.

    Both rank among the user's rated items; ties keep the order given, since the paper does not
    say. Raises ValueError for bad grades or unequal lengths.

    >>> misranking([2, 4, 5], [0.3, 0.5, 0.1])  # ranks by grade 3, 2, 1; by score 2, 1, 3
    array([1, 1, 2])
    """
    grades = check_grades(grades, allow_unrated=False)
    return np.abs(ranks(grades) - ranks(check_scores(scores, length=len(grades))))


def adaptive_selection(grades, scores, k) -> np.ndarray:
    """Algorithm 1, AdaptiveSelection: positions of the k most misranked items, most first.

    All positions when S <= k. Raises ValueError for bad grades, scores or k.

    >>> adaptive_selection([2, 4, 5], [0.3, 0.5, 0.1], 1)  # the paper's example
    array([2])
    """
    return np.argsort(-misranking(grades, scores), kind="stable")[: check_count(k, "k")]


# ---------------------------------------------------------------- Algorithm 2


def gradient_ascent(
    ratings, *, n_factors=10, n_iter=60, update="batch", random_state=None, **step
) -> tuple[np.ndarray, np.ndarray]:
    """Algorithm 2: factors U (n_users, D) and V (n_items, D) after `n_iter` iterations.

    update: "batch" adds up all users' (11), as the objective demands; "sequential" changes V user
    by user, as Algorithm 2 reads. `step`: learning_rate γ, reg λ, and n_selected K for Algorithm 1
    or None for all items. The paper does not give the start; here it is N(0, 0.01²). Raises
    TypeError or ValueError for bad arguments.

    >>> from gapfm_teach import Ratings
    >>> ratings = Ratings([0, 2, 4], [0, 1, 0, 1], [2, 1, 2, 1])  # item 0 is better
    >>> U, V = gradient_ascent(ratings, learning_rate=0.3, reg=0.001, random_state=0)
    >>> (V @ U[0]).argmax()
    np.int64(0)
    """
    check_choice(update, "update", ("batch", "sequential"))
    rng, D = check_random_state(random_state), check_count(n_factors, "n_factors")
    U = rng.normal(0.0, 0.01, (ratings.n_users, D))
    V = rng.normal(0.0, 0.01, (ratings.n_items, D))
    for _ in range(check_count(n_iter, "n_iter")):
        U, V = iteration(U, V, ratings, in_turn=update == "sequential", **step)
    return U, V


def iteration(
    U, V, ratings, *, learning_rate, reg, n_selected=None, in_turn=False
) -> tuple[np.ndarray, np.ndarray]:
    """One iteration of Algorithm 2: U^(t+1), V^(t+1) from U^(t), V^(t).

    `in_turn`: each user's (11) sees the V that the last user left, λ included at each visit, instead
    of the sum over users with λ once. Raises as `gradient_ascent`.

    >>> from gapfm_teach import Ratings
    >>> start = np.ones((1, 1)), np.zeros((2, 1))
    >>> U, V = iteration(*start, Ratings([0, 2], [0, 1], [1, 1]), learning_rate=2.0, reg=0.1)
    >>> V.ravel()
    array([0.5, 0.5])
    """
    rate = check_real(learning_rate, "learning_rate", low_open=True)
    delta = thresholding_probabilities(ratings.max_grade)
    U_new, V_new = U.copy(), V.copy()
    if not in_turn:
        V_new -= rate * check_real(reg, "reg") * V
    for m in range(ratings.n_users):
        items, grades = ratings.row(m)
        given = {"grades": grades, "delta": delta}
        U_new[m] += rate * user_gradient(U[m], V[items], reg=reg, **given)
        chosen = np.arange(len(items))
        if n_selected is not None:
            chosen = adaptive_selection(grades, predict_scores(U[m], V[items]), n_selected)
        seen = V_new if in_turn else V
        each = item_gradients(U[m], seen[items], reg=reg if in_turn else 0.0, **given)
        # As printed, the update overwrites what earlier users gave the item. += adds it up.
        V_new[items[chosen]] += rate * each[chosen]
    return U_new, V_new


# ---------------------------------------------------------------- checks


def _rated(scores, grades, delta) -> tuple[np.ndarray, np.ndarray]:
    grades = check_grades(grades, allow_unrated=False)
    f = check_scores(scores, length=grades.shape[0], allow_complex=True)
    return f, pair_weights(grades, delta)


def _factors(u, V) -> tuple[np.ndarray, np.ndarray]:
    u, V = (check_array(x, name, allow_complex=True) for x, name in ((u, "u"), (V, "V")))
    if u.ndim != 1 or V.ndim != 2 or V.shape[1] != u.shape[0]:
        raise ValueError(
            f"u has shape {u.shape} and V {V.shape}; pass u as (D,) and V as (S, D), the rows of "
            "the user's rated items"
        )
    return u, V


def _all_factors(U, V, ratings) -> tuple[np.ndarray, np.ndarray]:
    U, V = check_array(U, "user_factors"), check_array(V, "item_factors")
    due = [(ratings.n_users, *U.shape[1:]), (ratings.n_items, *U.shape[1:])]
    if U.ndim != 2 or [U.shape, V.shape] != due:
        raise ValueError(
            f"user_factors {U.shape} and item_factors {V.shape} must be two-dimensional, with the "
            f"same number of columns, for {ratings.n_users} users and {ratings.n_items} items"
        )
    return U, V
