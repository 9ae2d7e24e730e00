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
        right="Yes: every visit adds its step to what the earlier ones left. `V[items] += steps` "
        "does not, when a film occurs twice.",
        inputs=[_visits(0, 4, 9), _visits(1, 3, 12), _visits(2, 6, 6)],
        keeps_inputs=True,
        mistakes={
            "A film that is visited twice got only its last step. NumPy reads `V[items]` "
            "once, before it adds, and so it does "
            "what the printed Algorithm 2 does: it overwrites.": lambda V, items, steps: (
                _overwritten(V, items, V[items] + steps)
            ),
            "These are the summed steps. Add them to the old V: "
            "the method moves V, it does not replace it.": lambda V, items, steps: (
                _add_visits(np.zeros_like(V), items, steps)
            ),
            "Each visit put its step in the place of what was there. "
            "Add it: `+=`.": _overwritten,
            "The sign: the method climbs, so "
            "the steps are added.": lambda V, items, steps: _add_visits(V, items, -steps),
        },
    ),
    Exercise(
        name="iterations-to-grow",
        solution=lambda factor, rate, sigma: np.log(factor) / np.log(1 + rate * sigma),
        right="Yes. For a small γσ, log(1 + γσ) is nearly γσ: ten times smaller steps need ten "
        "times as many iterations.",
        inputs=[(1000.0, 0.02, 11.0), (100.0, 1e-5, 77.0), (2.0, 0.5, 40.0)],
        mistakes={
            "This is growth by the same amount each time. Each iteration multiplies: "
            "(1 + γσ)^t = factor.": lambda factor, rate, sigma: factor / (rate * sigma),
            "Nearly: you took γσ for log(1 + γσ). That holds for small γσ only, and one of "
            "the inputs "
            "has γσ = 20.": lambda factor, rate, sigma: np.log(factor) / (rate * sigma),
            "The growth of one iteration is 1 + γσ, "
            "old value plus step, not γσ.": lambda factor, rate, sigma: (
                np.log(factor) / np.log(rate * sigma)
            ),
            "That is for the *scores*: a score is a product of two factors that both grow. "
            "Asked for is how long the factors take, "
            "twice as long.": lambda factor, rate, sigma: (
                np.log(factor) / np.log(1 + rate * sigma) / 2
            ),
            "The growth of one iteration is 1 + γσ. "
            "You squared σ.": lambda factor, rate, sigma: (
                np.log(factor) / np.log(1 + rate * sigma**2)
            ),
            "The logarithm below the line is missing: "
            "t log(1 + γσ) = log(factor).": lambda factor, rate, sigma: (
                np.log(factor) / (1 + rate * sigma)
            ),
            "log(factor) is *divided* by log(1 + γσ). The "
            "logarithm of a quotient is their difference.": lambda factor, rate, sigma: (
                np.log(factor / (1 + rate * sigma))
            ),
            "Each iteration multiplies by 1 + γσ, "
            "so t stands in the exponent: take logarithms.": lambda factor, rate, sigma: (
                factor / (1 + rate * sigma)
            ),
            "Upside down: "
            "the larger the step, the fewer iterations.": lambda factor, rate, sigma: (
                np.log(1 + rate * sigma) / np.log(factor)
            ),
        },
    ),
    Exercise(
        name="patience",
        solution=_best_before_patience_ends,
        right="Yes: patience decides when to stop looking, the best iteration so far is what you "
        "keep.",
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
            "This is where training stops. The factors to keep "
            "are those of the best iteration, which was earlier.": lambda gaps, patience: (
                min(_best_before_patience_ends(gaps, patience) + patience, len(gaps))
            ),
            "This looks at all iterations. Whoever stops early "
            "never sees what comes after.": [
                lambda gaps, patience: np.argmax(gaps) + 1,
                lambda gaps, patience: np.argmax(gaps),
            ],
            "Iterations count from 1, "
            "positions in an array from 0.": lambda gaps, patience: (
                _best_before_patience_ends(gaps, patience) - 1
            ),
            "You waited one iteration too long: with the best at iteration 2 "
            "and a patience of 3, training ends with iteration 5.": lambda gaps, patience: (
                _best_before_patience_ends(gaps, patience + 1)
            ),
            "This stops at the first fall. `patience` "
            "says how many iterations without a new best are borne.": _stops_at_first_fall,
            "You waited one iteration too short: with the best at iteration 2 "
            "and a patience of 3, iteration 5 is still looked at.": lambda gaps, patience: (
                _best_before_patience_ends(gaps, patience - 1)
            ),
            "You count iterations that fall below the one *before* them. Count "
            "since the last new *best*: climbing back a little is none.": _since_a_fall,
            "An equal value counts as a new best in yours. Only a higher one is.": partial(
                _best_before_patience_ends, better=np.greater_equal
            ),
            "This is the held-out GAP of that iteration. "
            "Asked for is its number.": lambda gaps, patience: gaps[
                _best_before_patience_ends(gaps, patience) - 1
            ],
        },
    ),
]
