"""The step γ that suits the data: what `learning_rate="auto"` means."""

from numbers import Real

import numpy as np

from .._support.checks import check_real
from .data import TrainingData
from .objectives import PaperObjective

GROWTH = 0.5  # by how much of itself the factors' growing part grows in an iteration
_ENOUGH = 1.01  # σ_max within about a per cent: the step need not be known better


def check_learning_rate(value) -> float | str:
    """Return γ as a float > 0, or "auto"; raises TypeError or ValueError for anything else."""
    if isinstance(value, str) and value == "auto":
        return "auto"
    if not isinstance(value, Real):
        raise TypeError(f"learning_rate must be a number or 'auto', got {value!r}")
    return check_real(value, "learning_rate", low_open=True)


def largest_singular_value(data: TrainingData) -> float:
    """σ_max of C, (n_users, n_items), with C_mi = ⅛ Σ_j β_mij over rated items j, else 0.

    C is ∂F/∂f where all f = 0, and C >= 0, hence its first singular vector has no sign, and a
    start of ones cannot miss it. The same for any number of threads.
    """
    return power_iteration(
        lambda v: normalise(*multiply(data, v)), np.ones((data.train.n_items, 1))
    )


def multiply(data: TrainingData, v: np.ndarray) -> tuple[np.ndarray, float]:
    """CᵀC v, (n_items, 1), and ‖C v‖². Both add up over groups of users.

    With U = 0 the gradient (10) is C V and with V = 0 (11) is Cᵀ U, so C is never built: two
    passes with a single factor.
    """
    no_users, no_items = np.zeros((data.train.n_users, 1)), np.zeros_like(v)
    _, Cv, _ = PaperObjective().gradients(data, no_users, v)
    _, _, CtCv = PaperObjective().gradients(data, Cv, no_items)
    return CtCv, float(np.vdot(Cv, Cv))


def normalise(CtCv: np.ndarray, squared: float) -> tuple[float, np.ndarray]:
    """‖CᵀC v‖ / ‖C v‖, which approaches σ_max from below, and the next turn's v."""
    length = float(np.linalg.norm(CtCv))
    return length / np.sqrt(squared), CtCv / length


def power_iteration(turn, v) -> float:
    """σ_max to about a per cent, from turns `turn(v) -> (σ, next v)`."""
    sigma = 0.0
    while True:
        before, (sigma, v) = sigma, turn(v)
        if sigma <= _ENOUGH * before:
            return sigma


def suitable_learning_rate(data: TrainingData, reg: float) -> float:
    """γ = ½ / (σ_max(C) + λ).

    Near f = 0, where training starts, small factors grow along C's first singular vectors by
    1 + γ (σ_max - λ) an iteration. σ_max rises steeply with the ratings a user has, being a sum
    over pairs of them, so a γ tuned on one data set leaves a smaller one where it started and
    throws a larger one about. What carries over is γ σ_max.

    One γ for all, and not one for each user, item or coordinate: for an item, the size of its
    gradient says how many rate it and how well, and this is most of what V has to learn. Rules
    that divide it out (Adagrad, Adam) leave all items about equally high.
    """
    return rate_for(largest_singular_value(data), reg)


def rate_for(sigma: float, reg: float) -> float:
    return GROWTH / (sigma + reg)
