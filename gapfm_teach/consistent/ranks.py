"""The smooth rank that repairs (7), and the gradient that all measures of such ranks share.

A score acts through t_ij = g((f_j - f_i) / τ) alone, hence through the rank
R̂_i = ½ + Σ_j w_j t_ij; what tells the measures apart is ∂(value)/∂t_ij = a_ij - w_j s_i: a_ij,
what it earns directly that j stands above i, and s_i, what it costs i to lose a rank.
"""

import numpy as np

from .._support.checks import check_array, check_real, check_scores
from ..paper import logistic


def above(scores, tau) -> np.ndarray:
    """t_ij = g((f_j - f_i) / τ), (N, N): how much j stands above i.

    >>> from gapfm_teach.consistent.ranks import above
    >>> above([0.0, 2.0], 1.0).round(3)  # the second film stands above the first, nearly
    array([[0.5  , 0.881],
           [0.119, 0.5  ]])
    """
    f = check_array(scores, "scores", allow_complex=True, finite=False)
    return logistic((f[None, :] - f[:, None]) / tau)


def consistent_rank(scores, tau=1.0, weights=None) -> np.ndarray:
    """A smooth rank that tends to the rank as τ → 0: R̂_i = ½ + Σ_j w_j g((f_j - f_i) / τ), (N,).

    The term j = i is ½, so the sum counts every item above i as nearly 1, below as nearly 0.
    Unlike (7) it depends on score differences only. Not in the paper: the repair of (7), with
    (6) applied to every term of R_i = 1 + Σ_{j≠i} I(f_j > f_i). `tau` τ > 0 has the scores'
    unit. `weights` w >= 0, (N,): how many items each one stands for, where the list is a sample
    of a longer one; 1 each by default. Raises ValueError for bad scores, tau or weights.

    >>> from gapfm_teach.consistent.ranks import consistent_rank
    >>> consistent_rank([2.0, 1.0, 0.0]).round(3)
    array([1.388, 2.   , 2.612])
    >>> consistent_rank([2.0, 1.0, 0.0], tau=0.1).round(3)
    array([1., 2., 3.])
    """
    f = check_scores(scores, allow_complex=True)
    tau = check_real(tau, "tau", low_open=True)
    t = above(f, tau)
    if weights is not None:
        t = t * check_weights(weights, f.shape[0])
    return 0.5 + np.sum(t, axis=1)


def pair_gradient(scores, direct, cost, tau, weights=None) -> np.ndarray:
    """∂(value)/∂f, (N,), from `direct` a, (N, N), and `cost` s, (N,): the gradient that all share.

    ∂t_ij/∂f_j = d_ij / τ and ∂t_ij/∂f_i = -d_ij / τ, where d_ij = t_ij (1 - t_ij) = d_ji. f_k is
    in t_ik, which it lifts, for all i, and in t_kj, which it lowers, for all j. So, with
    m_ij = a_ij - w_j s_i,

        c_k = (1/τ) Σ_i d_ik (m_ik - m_ki).

    The terms i = k cancel. So do the two of each pair when all c_k are summed: the gradient sums
    to 0, as adding a constant to all scores changes nothing.

    Two equal scores, and a lost rank costs the first film 1: lift it, lower the other.

    >>> import numpy as np
    >>> from gapfm_teach.consistent.ranks import pair_gradient
    >>> pair_gradient([0.0, 0.0], np.zeros((2, 2)), np.array([1.0, 0.0]), 1.0)
    array([ 0.25, -0.25])
    """
    t = above(scores, tau)
    d = t * t.T  # 1 - t_ij = t_ji, and no digits are lost where t is near 1
    stand_for = np.ones(len(cost)) if weights is None else check_array(weights, "weights")
    m = direct - np.outer(cost, stand_for)
    return np.sum(d * (m - m.T), axis=0) / tau


def check_weights(weights, length: int) -> np.ndarray:
    """The `weights` of `consistent_rank` as floats, (length,); ValueError where they are none.

    >>> from gapfm_teach.consistent.ranks import check_weights
    >>> check_weights([1, 20.5], 2)
    array([ 1. , 20.5])
    """
    array = check_array(weights, "weights", finite=False)
    if array.shape != (length,) or not (np.isfinite(array).all() and (array >= 0).all()):
        raise ValueError(
            f"weights must be {length} finite numbers of at least 0, one for each score, got "
            f"{weights!r}"
        )
    return array
