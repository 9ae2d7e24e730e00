"""What chapter 4's explorable is given: invented films to train on in a page, MovieLens with a kernel."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ...datasets import simulate_ratings
from ...model import GAPfm
from ...ratings import Ratings
from ...splits import given_only, split_given
from ...training.loop import held_out_gap
from ...training.objectives import gap_gains
from .common import rows_for_page, small_start
from .convergence import escape_matrix, top_direction
from .optimum import supremum

ADJECTIVES = (
    "Absent-Minded", "Borrowed", "Clockwork", "Drowsy", "Electric", "Forgetful", "Gilded",
    "Homesick", "Impossible", "Jealous", "Knitted", "Left-Handed", "Melancholy", "Nocturnal",
    "Overdue",
)  # fmt: skip
NOUNS = (
    "Accordion", "Beekeeper", "Cartographer", "Dirigible", "Escalator", "Flamingo", "Gondola",
    "Hedgehog", "Iceberg", "Lighthouse", "Moustache", "Porcupine", "Quartet", "Submarine",
)  # fmt: skip
# Held-out GAP is measured every so many iterations: it costs more than training.
COARSE, FINE = 10, 1


def invented_titles(n: int) -> list[str]:
    """`n` titles of films that nobody has made, all different.

    >>> from gapfm_teach.lab.experiments.train_page import invented_titles
    >>> invented_titles(3)
    ['The Absent-Minded Accordion', 'The Borrowed Beekeeper', 'The Clockwork Cartographer']
    """
    both = len(ADJECTIVES), len(NOUNS)
    if n > np.lcm(*both):
        raise ValueError(
            f"n must be at most {np.lcm(*both)}, got {n}; add words to the lists"
        )
    return [f"The {ADJECTIVES[k % both[0]]} {NOUNS[k % both[1]]}" for k in range(n)]


def invented_films(
    n_users: int = 300, n_items: int = 150, *, random_state: int = 0
) -> tuple[dict, Ratings, Ratings]:
    """Simulated ratings as the explorable "train" takes them, and the same as (train, held out).

    Given 10, with ten others of each user held out, and the tastes that they were drawn from.
    """
    ratings, U, V = simulate_ratings(
        n_users, n_items, mean_ratings=60, random_state=random_state, return_truth=True
    )
    train, rest = split_given(ratings, 10, random_state=random_state)
    held = given_only(rest, 10, random_state=random_state)
    data = {
        "titles": invented_titles(n_items),
        "maxGrade": train.max_grade,
        "given": rows_for_page(train),
        "held": rows_for_page(held),
        "truth": {
            "U": np.ravel(U[train.users].astype(np.float32)),
            "V": np.ravel(V.astype(np.float32)),
            "D": U.shape[1],
        },
    }
    return data, train, held


def training_on_demand(train: Ratings, validation: Ratings) -> Callable[..., dict]:
    """What the explorable "train" asks where there is a kernel: a training of `GAPfm`, by setting.

    The function returned takes rate, reg, K, D, nIter, user and `fine`, and returns columns by
    iteration: objective (as a share of its ceiling), length of the growing part, held-out GAP (nan
    where it was not measured: only a fine answer has all), lists of (title, held-out grade); and
    what does not change along the iterations.
    """
    ceiling = supremum(train)
    sigma, a, b = top_direction(escape_matrix(train))
    worth = gap_gains(train.max_grade)[train.grades]
    counted = np.bincount(train.indices, worth, train.n_items)[:, None]
    counting = held_out_gap(np.ones((train.n_users, 1)), counted, train, validation)

    # The coarse answer and the fine one, and another user, are one training.
    @lru_cache(maxsize=2)
    def trained(rate: float, reg: float, K: int, D: int, nIter: int):
        states: list[tuple[np.ndarray, np.ndarray]] = []
        model = GAPfm(
            D, reg=reg, learning_rate=rate, n_iter=nIter, random_state=0,
            n_selected=None if train.n_ratings <= K else K,
        )  # fmt: skip
        model.fit(
            train,
            callback=lambda _, m: states.append((m.user_factors_, m.item_factors_)),
        )
        return model.history_["objective"].to_numpy() / ceiling, states

    @lru_cache(maxsize=200)
    def gap(iteration: int, **setting) -> float:
        U, V = trained(**setting)[1][iteration]
        return held_out_gap(U, V, train, validation)

    def length(U: np.ndarray, V: np.ndarray) -> float:
        return float(np.linalg.norm(a @ U + b @ V))

    def answer(*, user: int, fine: bool, **setting) -> dict:
        objective, states = trained(**setting)
        user %= train.n_users
        every, n = (FINE if fine else COARSE), len(states)
        gaps = np.full(n, np.nan)
        for t in {*range(0, n, every), n - 1}:
            gaps[t] = gap(t, **setting)
        start = small_start(train, 0, setting["D"])
        return {
            "sigma": sigma,
            "counting": counting,
            "start": length(*start),
            "objective": objective,
            "length": np.array([length(U, V) for U, V in states]),
            "gap": gaps,
            "lists": [_best(train, validation, user, U, V) for U, V in states],
        }

    return answer


def _best(train: Ratings, validation: Ratings, user: int, U, V, n: int = 10) -> list[dict]:
    """The films with the highest scores that `user` has not rated in training, ties to the first."""
    scores = V @ U[user]
    scores[train.row(user)[0]] = -np.inf
    held = dict(zip(*(part.tolist() for part in validation.row(user)), strict=True))
    top = np.argsort(-scores, kind="stable")[:n]
    return [{"text": str(train.titles[i]), "held": held.get(int(i), 0)} for i in top]
