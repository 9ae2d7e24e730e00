"""Exercises of notebook 04: the escape law, accumulating, patience, and which way (8) pushes."""

import numpy as np

from ..metrics import ranks, thresholding_probabilities
from ..smooth import smoothed_gap_gradient
from .core import Exercise, Mistake

_DELTA = thresholding_probabilities(5)


def _iterations_to_grow(factor, rate, sigma):
    return np.log(factor) / np.log(1 + rate * sigma)


def _add_visits(V, items, steps):
    V_new = V.copy()
    np.add.at(V_new, items, steps)
    return V_new


def _last_visit_stays(V, items, steps):
    V_new = V.copy()
    V_new[items] += steps
    return V_new


def _steps_alone(V, items, steps):
    return _add_visits(np.zeros_like(V), items, steps)


def _best_before_patience_ends(gaps, patience):
    best = 1
    for iteration, gap in enumerate(gaps, start=1):
        if gap > gaps[best - 1]:
            best = iteration
        elif iteration - best >= patience:
            break
    return best


def _where_it_stops(gaps, patience):
    best = _best_before_patience_ends(gaps, patience)
    return min(best + patience, len(gaps))


def _one_more_than_patience(gaps, patience):
    return _best_before_patience_ends(gaps, patience + 1)


def _stops_at_first_fall(gaps, patience):
    falls = np.flatnonzero(np.diff(gaps) <= 0)
    return falls[0] + 1 if falls.size else len(gaps)


def _too_high(grades, scores):
    return ranks(scores) < ranks(grades)


def _pushes(grades, scores):
    return smoothed_gap_gradient(scores, grades, _DELTA)


def _pushed_up(grades, scores):
    return np.sum(_too_high(grades, scores) & (_pushes(grades, scores) > 0))


def _pushed_down(grades, scores):
    return np.sum(_too_high(grades, scores) & (_pushes(grades, scores) < 0))


def _too_low_pushed_up(grades, scores):
    too_low = ranks(scores) > ranks(grades)
    return np.sum(too_low & (_pushes(grades, scores) > 0))


def _any_pushed_up(grades, scores):
    return np.sum(_pushes(grades, scores) > 0)


def _visits(seed: int, n_items: int, n_visits: int) -> tuple:
    """Factors, and visits of which some go to the same item."""
    rng = np.random.default_rng(seed)
    items = rng.integers(0, n_items, n_visits)
    return rng.normal(size=(n_items, 2)), items, rng.normal(size=(n_visits, 2))


def _user(seed: int, n_rated: int, spread: float) -> tuple:
    """Distinct-looking grades and scores of one user; wide spreads also give negative pushes."""
    rng = np.random.default_rng(seed)
    return rng.integers(1, 6, n_rated), spread * rng.normal(size=n_rated)


EXERCISES: list[Exercise] = [
    Exercise(
        name="add-visits",
        solution=_add_visits,
        right="Yes: every visit adds its step to what the earlier ones left. `V[items] += steps` "
        "does not, when a film occurs twice.",
        inputs=[_visits(0, 4, 9), _visits(1, 3, 12), _visits(2, 6, 6)],
        keeps_inputs=True,
        mistakes=[
            Mistake(
                _last_visit_stays,
                "A film that is visited twice got only its last step. NumPy reads `V[items]` once, "
                "before it adds, and so it does what the printed Algorithm 2 does: it overwrites.",
            ),
            Mistake(
                _steps_alone,
                "These are the summed steps. Add them to the old V: the method moves V, it does "
                "not replace it.",
            ),
        ],
    ),
    Exercise(
        name="iterations-to-grow",
        solution=_iterations_to_grow,
        right="Yes. For a small γσ, log(1 + γσ) is nearly γσ: ten times smaller steps need ten "
        "times as many iterations.",
        inputs=[(1000.0, 0.02, 11.0), (100.0, 1e-5, 77.0), (2.0, 0.5, 40.0)],
        mistakes=[
            Mistake(
                lambda factor, rate, sigma: factor / (rate * sigma),
                "This is growth by the same amount each time. Each iteration multiplies: "
                "(1 + γσ)^t = factor.",
            ),
            Mistake(
                lambda factor, rate, sigma: np.log(factor) / (rate * sigma),
                "Nearly: you took γσ for log(1 + γσ). That holds for small γσ only, and one of the "
                "inputs has γσ = 20.",
            ),
            Mistake(
                lambda factor, rate, sigma: np.log(factor) / np.log(rate * sigma),
                "The growth of one iteration is 1 + γσ, old value plus step, not γσ.",
            ),
        ],
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
        ],
        mistakes=[
            Mistake(
                _where_it_stops,
                "This is where training stops. The factors to keep are those of the best "
                "iteration, which was earlier.",
            ),
            Mistake(
                lambda gaps, patience: np.argmax(gaps) + 1,
                "This looks at all iterations. Whoever stops early never sees what comes after.",
            ),
            Mistake(
                lambda gaps, patience: _best_before_patience_ends(gaps, patience) - 1,
                "Iterations count from 1, positions in an array from 0.",
            ),
            Mistake(
                _one_more_than_patience,
                "You waited one iteration too long: with the best at iteration 2 and a patience of "
                "3, training ends with iteration 5.",
            ),
            Mistake(
                _stops_at_first_fall,
                "This stops at the first fall. `patience` says how many iterations without a new "
                "best are borne.",
            ),
        ],
    ),
    Exercise(
        name="pushed-up",
        solution=_pushed_up,
        right="Yes. They already stand too high for their grade, and a step along (8) raises them "
        "further.",
        inputs=[_user(0, 8, 0.1), _user(1, 12, 1.0), _user(2, 15, 3.0), _user(5, 20, 4.0)],
        mistakes=[
            Mistake(
                _too_low_pushed_up,
                "You counted the films that stand too low. Rank 1 is the top: too high means that "
                "the rank by score is the smaller one.",
            ),
            Mistake(
                _pushed_down,
                "You counted those with a negative gradient. We climb: the step has the sign of "
                "the gradient, so a positive one raises the score.",
            ),
            Mistake(
                lambda grades, scores: np.sum(_too_high(grades, scores)),
                "You counted every film that stands too high. Asked for are those of them whose "
                "gradient is positive.",
            ),
            Mistake(
                _any_pushed_up,
                "You counted every film that is pushed up; only those that stand too high are asked "
                "for.",
            ),
        ],
    ),
]
