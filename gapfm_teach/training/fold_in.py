"""The factors of somebody who was not in training."""

import numpy as np


def fold_in(model, items: np.ndarray, grades: np.ndarray) -> np.ndarray:
    """u, (D,), by the steps of a fitted model's own training from 0, with its V and b held fixed.

    With the whole catalogue where training took a sample of the unrated items.
    """
    u = np.zeros((1, model.item_factors_.shape[1]))
    if not items.size:
        return u[0]
    objective = model.objective_
    listed, slope = objective.list_gradient(items, grades, model.train_)
    V = model.item_factors_[listed]
    b = model.item_bias_[listed] if objective.has_bias else 0.0
    optimizer = objective.optimizer
    rows = optimizer.start(u)
    for _ in range(model.n_iter_):
        u = optimizer.parameters(rows)[0]
        gradient = V.T @ slope(V @ u + b) - model.reg_ * u
        rows = optimizer.step(rows, gradient[None, :], model.learning_rate_)
    return optimizer.parameters(rows)[0]
