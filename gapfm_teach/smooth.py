"""Equations (6)-(11) in plain NumPy.

This is the version to read; `kernels` computes the same numbers fast. All functions take the
rated items of one user, S of them, and accept complex scores, so that complex-step
differentiation can judge the gradients. What repairs (7) and (8) is in `repaired`.
"""

import numpy as np

from ._support.checks import (
    check_array,
    check_delta,
    check_grades,
    check_penalty,
    check_real,
    check_scores,
)
from .metrics import cumulative_weights, thresholding_probabilities


def logistic(x):
    """The logistic function g(x) = 1 / (1 + e^-x) of (6) and (7), for any shape; never overflows.

    >>> from gapfm_teach.smooth import logistic
    >>> logistic([-1000, 0, 1000])
    array([0. , 0.5, 1. ])
    """
    x = check_array(x, "x", allow_complex=True, finite=False)
    positive = x.real >= 0
    e = np.exp(np.where(positive, -x, x))
    return np.where(positive, 1.0, e) / (1.0 + e)


def logistic_derivative(x):
    """g'(x) = g(x) g(-x), the form that keeps its digits where g is near 1.

    >>> from gapfm_teach.smooth import logistic, logistic_derivative
    >>> float(logistic_derivative(0))
    0.25
    >>> g = float(logistic(40))
    >>> f"{logistic_derivative(40):.2g} and not {g * (1 - g)}"
    '4.2e-18 and not 0.0'
    """
    x = check_array(x, "x", allow_complex=True, finite=False)
    return logistic(x) * logistic(-x)


def beta(grades, delta) -> np.ndarray:
    """Pair weights β_ij of (4), (S, S): the accumulated δ of the lower of two grades.

    With Δ(y) = δ_1 + ... + δ_y, increasing in y, (4) is min(Δ(y_i), Δ(y_j)). A pair with an
    unrated item (grade 0) weighs 0. Raises ValueError for bad grades or too few `delta`.

    >>> from gapfm_teach.smooth import beta
    >>> beta([3, 1, 2], [0.125, 0.375, 0.875])  # 1.375, 0.125 and 0.5, and the lower of each two
    array([[1.375, 0.125, 0.5  ],
           [0.125, 0.125, 0.125],
           [0.5  , 0.125, 0.5  ]])
    """
    grades = check_grades(grades)
    worth = _cumulative_weights(delta, grades)[grades]
    return np.minimum.outer(worth, worth)


def smoothed_gap(scores, grades, delta):
    """Smoothed GAP (8) of one user: Σ_i g(f_i) Σ_j β_ij g(f_j - f_i), without 1/Z.

    Parameters: scores f, (S,) finite; grades, (S,) whole numbers >= 1; delta, (L,) weights of
    (5) for grades 1..L. Returns a float in [0, Σ_ij β_ij] (complex for complex scores); 0.0 when
    S = 0. Raises ValueError for bad scores, grades or delta.

    Two films that one cannot tell apart: 2 films times g(0) times 2 g(0). Lift both, and the order
    is the same but the value is not:

    >>> from gapfm_teach import smoothed_gap
    >>> smoothed_gap([0.0, 0.0], [1, 1], [1.0])
    1.0
    >>> round(smoothed_gap([9.0, 9.0], [1, 1], [1.0]), 3)
    2.0
    """
    f, weights = _rated(scores, grades, delta)
    value = np.sum(
        logistic(f) * np.sum(weights * logistic(f[None, :] - f[:, None]), axis=1)
    )
    return value if np.iscomplexobj(f) else float(value)


def smoothed_gap_gradient(scores, grades, delta) -> np.ndarray:
    """∂F/∂f of (8), (S,): the vector c that (10) and (11) share.

    c_i = g'(f_i) Σ_j β_ij g(f_j - f_i) + Σ_j β_ij (g(f_j) - g(f_i)) g'(f_j - f_i).
    Arguments and errors as for `smoothed_gap`.

    >>> from gapfm_teach import smoothed_gap_gradient
    >>> smoothed_gap_gradient([0.0, 0.0], [1, 1], [1.0])  # g'(0) = 1/4 times 2 g(0) = 1
    array([0.25, 0.25])
    """
    f, weights = _rated(scores, grades, delta)
    apart = f[None, :] - f[:, None]
    # g(f_j) - g(f_i), written as g(f_j) g(-f_i) - g(f_i) g(-f_j): the difference itself loses all
    # its digits where both are near 1.
    g, h = logistic(f), logistic(-f)
    gain = np.outer(h, g) - np.outer(g, h)
    first = logistic_derivative(f) * np.sum(weights * logistic(apart), axis=1)
    return first + np.sum(weights * gain * logistic_derivative(apart), axis=1)


def objective(user_factors, item_factors, ratings, *, delta=None, reg) -> float:
    """The objective F(U, V) of (9), without the constant 1/M.

    Parameters: user_factors U, (n_users, D); item_factors V, (n_items, D); ratings, a `Ratings`;
    delta defaults to (5) for `ratings.max_grade`; reg is λ >= 0, counted once for the whole of U
    and V. Returns Σ_m (8) - λ/2 (‖U‖² + ‖V‖²). Raises ValueError when shapes disagree, and for
    factors that are not finite or so large that the value would not be.

    One user, two films of one grade, and factors that give both the score 0: smoothed GAP is 1.

    >>> from gapfm_teach import Ratings, objective
    >>> ratings = Ratings([0, 2], [0, 1], [1, 1])
    >>> objective([[2.0]], [[0.0], [0.0]], ratings, reg=0.1)  # 1 - 0.1/2 · 2²
    0.8
    """
    U, V = (
        check_array(user_factors, "user_factors"),
        check_array(item_factors, "item_factors"),
    )
    if U.ndim != 2 or V.ndim != 2 or U.shape[1] != V.shape[1]:
        raise ValueError(
            f"user_factors {U.shape} and item_factors {V.shape} must be two-dimensional "
            "with the same number of columns"
        )
    if U.shape[0] != ratings.n_users or V.shape[0] != ratings.n_items:
        raise ValueError(
            f"factors are for {U.shape[0]} users and {V.shape[0]} items but the ratings have "
            f"{ratings.n_users} and {ratings.n_items}; pass the ratings the model was fitted to"
        )
    reg = check_real(reg, "reg")
    delta = thresholding_probabilities(ratings.max_grade) if delta is None else delta
    total = 0.0
    for user in range(ratings.n_users):
        items, grades = ratings.row(user)
        total += smoothed_gap(V[items] @ U[user], grades, delta)
    return total - check_penalty(reg, U, V)


def user_gradient(u, V, grades, *, delta, reg) -> np.ndarray:
    """∂F/∂U_m of (10), (D,): Vᵀc - λ u, with c = ∂F/∂f.

    Parameters: u, (D,); V, (S, D), the factors of the user's rated items; grades, (S,); delta as
    in `smoothed_gap`; reg λ >= 0. Raises ValueError for bad shapes or values.

    >>> from gapfm_teach import user_gradient
    >>> V = [[1.0], [3.0]]
    >>> user_gradient([0.0], V, [1, 1], delta=[1.0], reg=0.1)  # c = (1/4, 1/4): 1/4 · 1 + 1/4 · 3
    array([1.])
    """
    u, V, reg = _factors(u, V, reg)
    found = V.T @ smoothed_gap_gradient(V @ u, grades, delta) - reg * u
    return check_array(found, "the gradient", allow_complex=True)


def item_gradients(u, V, grades, *, delta, reg) -> np.ndarray:
    """∂F/∂V_i of (11) for this user's rated items, (S, D): row i is c_i u - λ V_i.

    Parameters and errors as for `user_gradient`. What other users add to an item's gradient,
    and λ's place in that sum, is the training loop's affair.

    >>> from gapfm_teach import item_gradients
    >>> V = [[0.0], [0.0]]
    >>> item_gradients([2.0], V, [1, 1], delta=[1.0], reg=0.1)  # c = (1/4, 1/4), times 2
    array([[0.5],
           [0.5]])
    """
    u, V, reg = _factors(u, V, reg)
    found = np.outer(smoothed_gap_gradient(V @ u, grades, delta), u) - reg * V
    return check_array(found, "the gradient", allow_complex=True)


def _cumulative_weights(delta, grades: np.ndarray) -> np.ndarray:
    return cumulative_weights(check_delta(delta, grades.max(initial=0)))


def _rated(scores, grades, delta) -> tuple[np.ndarray, np.ndarray]:
    grades = check_grades(grades, allow_unrated=False)
    f = check_scores(scores, length=grades.shape[0], allow_complex=True)
    return f, beta(grades, delta)


def _factors(u, V, reg) -> tuple[np.ndarray, np.ndarray, float]:
    u, V = (check_array(x, name, allow_complex=True) for x, name in ((u, "u"), (V, "V")))
    if u.ndim != 1 or V.ndim != 2 or V.shape[1] != u.shape[0]:
        raise ValueError(
            f"u has shape {u.shape} and V {V.shape}; pass u as (D,) and V as (S, D), the rows of "
            "the user's rated items"
        )
    return u, V, check_real(reg, "reg")
