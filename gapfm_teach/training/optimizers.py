"""How training steps along a gradient: plain gradient ascent, as Algorithm 2 does, or Adagrad.

Training keeps one array for the users and one for the items, with a row for each: the parameters
and, behind them, whatever the optimizer remembers of each parameter. Only an optimizer looks at
what is remembered.
"""

import numpy as np

_TINY = 1e-12  # keeps 0/0 out where a gradient has always been 0


class GradientAscent:
    """x + γ ∂F/∂x; remembers nothing."""

    n_arrays = 1  # in a row: the parameters, and what is remembered of them

    def start(self, parameters: np.ndarray) -> np.ndarray:
        """The rows, (n, n_arrays · d), with which a training from `parameters`, (n, d), begins."""
        return parameters

    def parameters(self, rows: np.ndarray) -> np.ndarray:
        """The parameters in such rows, (n, d)."""
        return rows

    def step(self, rows: np.ndarray, gradient: np.ndarray, rate: float) -> np.ndarray:
        """The rows after a step along `gradient`, (n, d), with the learning rate γ = `rate`."""
        return rows + rate * gradient


class Adagrad:
    """x + γ ∂F/∂x / √(Σ (∂F/∂x)²), the sum over all steps so far, for each parameter by itself.

    So γ is what a parameter moves by in the first step. Where ranks are in the denominator, the
    size of a gradient tells little: it is hundreds of times larger once an item is at the top.
    """

    n_arrays = 2

    def start(self, parameters: np.ndarray) -> np.ndarray:
        return np.hstack([parameters, np.zeros_like(parameters)])

    def parameters(self, rows: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(np.hsplit(rows, 2)[0])

    def step(self, rows: np.ndarray, gradient: np.ndarray, rate: float) -> np.ndarray:
        before, squares = np.hsplit(rows, 2)
        squares = squares + gradient**2
        return np.hstack([before + rate * gradient / (np.sqrt(squares) + _TINY), squares])


Optimizer = GradientAscent | Adagrad


def regularised_step(
    optimizer: Optimizer, rows: np.ndarray, gradient: np.ndarray, reg: float, rate: float
) -> tuple[np.ndarray, float]:
    """The rows after a step along `gradient` - λ x, and the squared length of the step in x."""
    before = optimizer.parameters(rows)
    new = optimizer.step(rows, gradient - reg * before, rate)
    return new, float(np.sum((optimizer.parameters(new) - before) ** 2))
