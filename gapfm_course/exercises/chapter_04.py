"""Exercises of notebook 04: the escape law, accumulating, and patience."""

from functools import partial

import numpy as np

from .core import Exercise


def _add_visits(V, items, steps):
    V_new = V.copy()
    np.add.at(V_new, items, steps)
    return V_new


def _overwritten(V, items, values):
    V_new = V.copy()
    V_new[items] = values
    return V_new


def _best_before_patience_ends(gaps, patience, better=np.greater):
    best = 1
    for iteration, gap in enumerate(gaps, start=1):
        if better(gap, gaps[best - 1]):
            best = iteration
        elif iteration - best >= patience:
            break
    return best


def _stops_at_first_fall(gaps, patience):
    falls = np.flatnonzero(np.diff(gaps) <= 0)
    return falls[0] + 1 if falls.size else len(gaps)


def _since_a_fall(gaps, patience):
    """Stops after `patience` iterations in a row none of which is better than the one before."""
    best, waited = 1, 0
    for iteration in range(2, len(gaps) + 1):
        waited = 0 if gaps[iteration - 1] > gaps[iteration - 2] else waited + 1
        if gaps[iteration - 1] > gaps[best - 1]:
            best = iteration
        if waited >= patience:
            break
    return best


def _visits(seed: int, n_items: int, n_visits: int) -> tuple:
    """Factors, and visits of which some go to the same item."""
    rng = np.random.default_rng(seed)
    items = rng.integers(0, n_items, n_visits)
    return rng.normal(size=(n_items, 2)), items, rng.normal(size=(n_visits, 2))


EXERCISES: list[Exercise] = [
    Exercise(
        name="add-visits",
        solution=_add_visits,
        right="Yes. Every visit adds its step to what the earlier visits left. "
        "`V[items] += steps` does not do this if a film appears twice.",
        inputs=[_visits(0, 4, 9), _visits(1, 3, 12), _visits(2, 6, 6)],
        keeps_inputs=True,
        mistakes={
            "A film that is visited twice got only its last step. NumPy reads "
            "`V[items]` once, before it adds, so it overwrites like the printed "
            "Algorithm 2.": lambda V, items, steps: _overwritten(
                V, items, V[items] + steps
            ),
            "These are the sums of the steps. Add them to the old V, because the "
            "method moves V and does not replace it.": lambda V, items, steps: _add_visits(
                np.zeros_like(V), items, steps
            ),
            "Each visit replaced what was there with its step. Add the step with "
            "`+=`.": _overwritten,
            "The sign is wrong. This is gradient ascent, so the steps are added.": lambda V, items, steps: (
                _add_visits(V, items, -steps)
            ),
        },
    ),
    Exercise(
        name="iterations-to-grow",
        solution=lambda factor, rate, sigma: np.log(factor) / np.log(1 + rate * sigma),
        right="Yes. For a small γσ, log(1 + γσ) is nearly γσ, so a step size ten times "
        "smaller needs ten times as many iterations.",
        inputs=[(1000.0, 0.02, 11.0), (100.0, 1e-5, 77.0), (2.0, 0.5, 40.0)],
        mistakes={
            "This would be right if each iteration added the same amount. But each "
            "iteration multiplies, so (1 + γσ)^t = factor.": lambda factor, rate, sigma: (
                factor / (rate * sigma)
            ),
            "Nearly. You replaced log(1 + γσ) with γσ, which is close only for a "
            "small γσ, and one of the inputs has γσ = 20.": lambda factor, rate, sigma: (
                np.log(factor) / (rate * sigma)
            ),
            "One iteration multiplies by 1 + γσ, the old value plus the step, and not "
            "by γσ.": lambda factor, rate, sigma: np.log(factor) / np.log(rate * sigma),
            "This is the time that the *scores* need, because a score is a product of "
            "two factors that both grow. The exercise asks about s, which takes twice "
            "as long.": lambda factor, rate, sigma: (
                np.log(factor) / np.log(1 + rate * sigma) / 2
            ),
            "One iteration multiplies by 1 + γσ. You squared σ.": lambda factor, rate, sigma: (
                np.log(factor) / np.log(1 + rate * sigma**2)
            ),
            "You rounded up to whole iterations. Return the number without rounding.": lambda factor, rate, sigma: (
                np.ceil(np.log(factor) / np.log(1 + rate * sigma))
            ),
            "The logarithm below the line is missing, because t log(1 + γσ) = "
            "log(factor).": lambda factor, rate, sigma: np.log(factor) / (1 + rate * sigma),
            "*Divide* log(factor) by log(1 + γσ). The logarithm of a quotient is the "
            "difference of the logarithms.": lambda factor, rate, sigma: np.log(
                factor / (1 + rate * sigma)
            ),
            "Each iteration multiplies by 1 + γσ, so t is in the exponent. Take "
            "logarithms.": lambda factor, rate, sigma: factor / (1 + rate * sigma),
            "This is upside down. A larger step size needs fewer iterations.": lambda factor, rate, sigma: (
                np.log(1 + rate * sigma) / np.log(factor)
            ),
        },
    ),
    Exercise(
        name="patience",
        solution=_best_before_patience_ends,
        right="Yes. Patience decides when training ends, and you keep the best "
        "iteration so far.",
        inputs=[
            (np.array([0.1, 0.3, 0.2, 0.25, 0.28, 0.5]), 3),
            (np.array([0.1, 0.2, 0.15, 0.4, 0.3, 0.2, 0.1]), 2),
            (np.array([0.1, 0.2, 0.3]), 5),
            (np.array([0.4, 0.3, 0.35, 0.2, 0.6]), 3),
            (np.array([0.3, 0.2, 0.2, 0.4, 0.3, 0.3, 0.3, 0.3, 0.9]), 2),
            (np.array([0.1, 0.3, 0.2, 0.35, 0.3, 0.31, 0.4]), 3),
            (np.array([0.2, 0.3, 0.3, 0.3, 0.1, 0.1, 0.5]), 2),
        ],
        mistakes={
            "This is the iteration at which training ends. Keep the factors of the "
            "best iteration, which was earlier.": lambda gaps, patience: min(
                _best_before_patience_ends(gaps, patience) + patience, len(gaps)
            ),
            "This looks at all iterations. If training ends early, the later ones "
            "never happen.": [
                lambda gaps, patience: np.argmax(gaps) + 1,
                lambda gaps, patience: np.argmax(gaps),
            ],
            "Iterations are counted from 1, but positions in an array from 0.": lambda gaps, patience: (
                _best_before_patience_ends(gaps, patience) - 1
            ),
            "You waited one iteration too long. With the best at iteration 2 and a "
            "patience of 3, training ends after iteration 5.": lambda gaps, patience: (
                _best_before_patience_ends(gaps, patience + 1)
            ),
            "This stops at the first fall. `patience` says after how many iterations "
            "without a new best training ends.": _stops_at_first_fall,
            "You stopped one iteration too early. With the best at iteration 2 and a "
            "patience of 3, iteration 5 still counts.": lambda gaps, patience: (
                _best_before_patience_ends(gaps, patience - 1)
            ),
            "You count iterations that are below the one *before* them. Count the "
            "iterations since the last new *best*, because a small recovery is not a "
            "new best.": _since_a_fall,
            "Your function counts an equal value as a new best. Only a higher value "
            "is one.": partial(_best_before_patience_ends, better=np.greater_equal),
            "This is the held-out GAP of the right iteration. Return the number of "
            "the iteration.": lambda gaps, patience: gaps[
                _best_before_patience_ends(gaps, patience) - 1
            ],
        },
    ),
]
