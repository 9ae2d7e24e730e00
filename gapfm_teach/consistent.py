"""The consistent objective in plain NumPy: GAP with smooth ranks that really are ranks.

Not in the paper: the repair of (7) and (8). `smooth.consistent_gap` is its value for one user;
here are its gradient, the sample of unrated items that training takes, and the objective of all
users. `kernels` computes the same numbers fast.
"""

import numpy as np

from .checks import check_grades, check_real, check_scores
from .metrics import thresholding_probabilities
from .smooth import beta, consistent_gap, consistent_rank, logistic


def consistent_gap_gradient(scores, grades, delta, tau=1.0, weights=None) -> np.ndarray:
    """∂/∂f of `smooth.consistent_gap`, (N,).

    With t_ij = g((f_j - f_i) / τ), R̂_i = ½ + Σ_j w_j t_ij and N_i = Δ(y_i) + Σ_{j≠i} β_ij t_ij,
    the value is (1/Z) Σ_i N_i / R̂_i. Only t_ij depends on f: ∂t_ij/∂f_j = d_ij / τ and
    ∂t_ij/∂f_i = -d_ij / τ, where d_ij = t_ij (1 - t_ij) = d_ji. By the quotient rule

        ∂(value)/∂t_ij = (β_ij / R̂_i - w_j N_i / R̂_i²) / Z =: m_ij,

    and f_k is in t_ik, which it lifts, for all i, and in t_kj, which it lowers, for all j:

        c_k = (1/τ) Σ_i d_ik (m_ik - m_ki).

    The terms i = k cancel. So do the two of each pair when all c_k are summed: the gradient sums
    to 0, as adding a constant to all scores changes nothing. Where all gaps are wide, d_ij and
    the gradient go to 0 in any order, as GAP itself is flat there; but each order then has its
    own exact GAP for a value, and not one and the same.

    Arguments and errors as for `consistent_gap`; zeros when nothing is rated.
    """
    grades = check_grades(grades)
    f = check_scores(scores, length=grades.shape[0], allow_complex=True)
    pairs = beta(grades, delta)
    rank = consistent_rank(f, tau, weights)
    normalizer = np.trace(pairs)
    if normalizer == 0:
        return np.zeros_like(f)
    t = logistic((f[None, :] - f[:, None]) / tau)
    d = t * t.T  # 1 - t_ij = t_ji, and no digits are lost where t is near 1
    np.fill_diagonal(t, 1.0)
    gain = np.sum(pairs * t, axis=1)
    stand_for = np.ones(f.shape[0]) if weights is None else np.asarray(weights, float)
    m = pairs / rank[:, None] - np.outer(gain / rank**2, stand_for)
    return np.sum(d * (m - m.T), axis=0) / (normalizer * tau)


def sample_unrated(rated, uniforms, n_items: int) -> tuple[np.ndarray, float]:
    """Some items that are not in `rated`, and how many unrated items each stands for.

    rated, (S,): distinct positions; uniforms, (n,) numbers in [0, 1). The n_items - S unrated
    items, in the order of their positions, are cut into n equal parts, and one is drawn from
    each. So each is as likely as every other, and (n_items - S)/n times the sum of any quantity
    over the sample is right in the mean. An item on a border may come twice; where there are no
    more than n, all of them come, once. Returns positions, (min(n, n_items - S),), and the
    factor, 0.0 without any.
    """
    left = np.setdiff1d(np.arange(n_items), rated)
    n = min(len(uniforms), left.size)
    if n == left.size or n == 0:
        return left[:n], float(n > 0)
    places = ((np.arange(n) + uniforms) * (left.size / n)).astype(np.int64)
    return left[np.minimum(places, left.size - 1)], left.size / n


def consistent_objective(
    user_factors, item_factors, item_bias, ratings, *, tau=1.0, unrated_weight=1.0, reg,
    uniforms=None,
) -> float:  # fmt: skip
    """What `GAPfm(objective="consistent")` maximises: Σ_m GAP̂_m - λ/2 (‖U‖² + ‖V‖² + ‖b‖²).

    Scores are f_mi = <U_m, V_i> + b_i. GAP̂_m is `consistent_gap` of the whole catalogue, or,
    with `uniforms` (n_users, n), of the rated items and `sample_unrated` of the others. An
    unrated item counts `unrated_weight` in a rank where a rated one counts 1. A sample gives
    R̂ right in the mean, and so, 1/R̂ being convex, GAP̂ somewhat too high; less so the larger.
    Parameters: U, (n_users, D); V, (n_items, D); b, (n_items,); ratings, a `Ratings`; reg λ >= 0.
    Raises ValueError when shapes disagree.
    """
    U, V, b = (np.asarray(x) for x in (user_factors, item_factors, item_bias))
    due = ((ratings.n_users, U.shape[-1]), (ratings.n_items, U.shape[-1]))
    if (U.shape, V.shape) != due or b.shape != due[1][:1]:
        raise ValueError(
            f"user_factors {U.shape}, item_factors {V.shape} and item_bias {b.shape} do not "
            f"belong to {ratings.n_users} users and {ratings.n_items} items"
        )
    delta = thresholding_probabilities(ratings.max_grade)
    total = 0.0
    for user in range(ratings.n_users):
        rated, grades = ratings.row(user)
        if not rated.size:
            continue
        draw = np.zeros(ratings.n_items) if uniforms is None else uniforms[user]
        others, weight = sample_unrated(rated, draw, ratings.n_items)
        items = np.concatenate([rated, others])
        total += consistent_gap(
            V[items] @ U[user] + b[items],
            np.concatenate([grades, np.zeros(others.size, dtype=np.int64)]),
            delta,
            tau,
            np.repeat([1.0, unrated_weight * weight], [rated.size, others.size]),
        )
    size = np.sum(U**2) + np.sum(V**2) + np.sum(b**2)
    return total - check_real(reg, "reg") / 2 * float(size)
