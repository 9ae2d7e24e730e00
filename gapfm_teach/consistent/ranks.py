"""The smooth rank that repairs (7), and the gradient that all measures of such ranks have in common.

A score acts only through t_ij = g((f_j - f_i) / τ), and so through the rank
R̂_i = ½ + Σ_j w_j t_ij. The measures differ in ∂(value)/∂t_ij = a_ij - w_j s_i, where a_ij is what
the measure gains directly when j moves above i, and s_i is what it costs i to lose a rank.
"""

import numpy as np

from .._support.checks import check_array, check_real, check_scores
from ..paper import logistic


def pairwise_sigmoid(scores, tau) -> np.ndarray:
    """t_ij = g((f_j - f_i) / τ), (N, N): how much j is above i.

    >>> from gapfm_teach.consistent.ranks import pairwise_sigmoid
    >>> pairwise_sigmoid([0.0, 2.0], 1.0).round(3)  # the second film is nearly above the first
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
    t = pairwise_sigmoid(f, tau)
    if weights is not None:
        t = t * check_weights(weights, f.shape[0])
    return 0.5 + np.sum(t, axis=1)


def numerators_and_ranks(f, pairs, tau, weights) -> tuple[np.ndarray, np.ndarray]:
    """N_i = β_ii + Σ_{j≠i} β_ij t_ij for `pairs` β, (N, N), and R̂_i: each (N,).

    >>> import numpy as np
    >>> from gapfm_teach.consistent.ranks import numerators_and_ranks
    >>> numerators_and_ranks([0.0, 0.0], np.ones((2, 2)), 1.0, None)
    (array([1.5, 1.5]), array([1.5, 1.5]))
    """
    rank = consistent_rank(f, tau, weights)
    t = pairwise_sigmoid(f, tau)
    np.fill_diagonal(t, 1.0)
    return np.sum(pairs * t, axis=1), rank


def pair_gradient(scores, direct, cost, tau, weights=None) -> np.ndarray:
    """∂(value)/∂f, (N,), from `direct` a, (N, N), and `cost` s, (N,): the gradient of all measures.

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
    t = pairwise_sigmoid(scores, tau)
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
