"""Notebook 09: the consistent objective beside the printed one, in training and in its parts."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..._support.checks import check_count, check_random_state
from ...metrics import cumulative_weights, ranks, thresholding_probabilities
from ...model import GAPfm
from ...ratings import Ratings
from ...repaired.gap import consistent_gap_gradient
from ...repaired.measures import sample_unrated
from ...repaired.ranks import consistent_rank
from ...smooth import beta, logistic, smoothed_gap_gradient
from ...training.data import TrainingData
from ...training.loop import State, Training, fit_factors, held_out_gap
from ...training.machine import threads
from ...training.optimizers import Adagrad, GradientAscent
from ..systems import SYSTEMS
from . import exponents

# ------------------------------------------------------------------ one film


def watch(
    model: GAPfm, user: int, item: int, objective: str, *, unrated_weight: float = 1.0
) -> dict[str, float]:
    """What an objective makes of a film that `user` rated, where `model` stands.

    user, item : positions; the item is one of the user's in training. objective : "paper", or one
    with smooth ranks, at τ = 1. Returns rank, among all items; believed, the rank the objective
    takes it for: 1/g(f) of (7), or R̂; pull, ∂/∂f of its score, as many times the mean upward pull
    on all ratings of training.
    """
    f, rated = model.predict(user), model.train_.row(user)[0]
    weights = np.full(f.size, unrated_weight)
    weights[rated] = 1.0
    if objective == "paper":
        believed = 1 / logistic(f[item])
    else:
        believed = consistent_rank(f, 1.0, weights)[item]
    table = exponents.pulls(model, objective=objective, unrated_weight=unrated_weight)
    mine = table[(table["user"] == user) & (table["item"] == item)]
    pull = mine["pull"].item() / table["pull"].clip(lower=0.0).mean()
    return {"rank": int(ranks(f)[item]), "believed": float(believed), "pull": float(pull)}


# ------------------------------------------------------------------ the theorem


def worst_bounds(ratings: Ratings, unrated_weight: float = 1.0) -> np.ndarray:
    """How far below 1 a list with a wrong pair stays for certain, for each user.

    The least w_j (Δ_i - Δ_j) / (2 W Z) of any two items with different worth, one of them rated;
    nan where there are none. With unrated_weight 0 the rated items are the whole list.
    """
    found, delta = [], thresholding_probabilities(ratings.max_grade)
    for user in range(ratings.n_users):
        worth = cumulative_weights(delta)[ratings.row(user)[1]]
        length = worth.size + unrated_weight * (ratings.n_items - worth.size)
        steps = np.append(np.diff(np.unique(worth)), unrated_weight * worth.min())
        least = steps[steps > 0].min(initial=np.inf)
        found.append(least / (2 * length * worth.sum()))
    bounds = np.array(found)
    return np.where(np.isfinite(bounds), bounds, np.nan)


# ------------------------------------------------------------------ who decides


def pulls(ratings: Ratings) -> pd.DataFrame:
    """How hard each user pulls at the scores where all are 0: the length of ∂/∂f over rated items.

    A row a user; columns n_rated; printed, of (8); divided, of (8) by the user's Z; consistent, of
    `consistent_gap` at τ = 1 with all unrated items.
    """
    delta, rows = thresholding_probabilities(ratings.max_grade), []
    for user in range(ratings.n_users):
        grades = ratings.row(user)[1].astype(np.int64)
        printed = np.linalg.norm(smoothed_gap_gradient(0.0 * grades, grades, delta))
        # At 0 all unrated items are alike: one that stands for all of them does for them.
        listed = np.append(grades, 0)
        weights = np.append(np.ones(grades.size), ratings.n_items - grades.size)
        slope = consistent_gap_gradient(0.0 * listed, listed, delta, 1.0, weights)
        rows.append({
            "n_rated": grades.size,
            "printed": printed,
            "divided": printed / np.trace(beta(grades, delta)),
            "consistent": np.linalg.norm(slope[:-1]),
        })  # fmt: skip
    return pd.DataFrame(rows)


# ------------------------------------------------------------------ what a sample does


def sampling_error(
    model, train: Ratings, sizes: Sequence[int], *, tau: float, unrated_weight: float = 1.0,
    every: int = 20, n_draws: int = 20, random_state=0,
) -> pd.DataFrame:  # fmt: skip
    """What is off in the mean when `n` unrated items, drawn, stand for all of them.

    model : scores by `predict`; of every `every`-th user. A row for each n of `sizes`; columns n;
    rank, reciprocal, gap: the mean of R̂_i, 1/R̂_i (rated items) and GAP̂ over `n_draws` samples,
    relative to the value with the whole catalogue, less 1, and averaged over items and users.
    """
    rng = check_random_state(random_state)
    n_draws = check_count(n_draws, "n_draws")
    delta, found = thresholding_probabilities(train.max_grade), []
    for user in range(0, train.n_users, check_count(every, "every")):
        rated, grades = train.row(user)
        f = model.predict(user)
        above = logistic((f[None, :] - f[rated, None]) / tau)
        within = 0.5 + above[:, rated].sum(axis=1)
        left = np.setdiff1d(np.arange(train.n_items), rated)
        pairs = beta(grades, delta)
        t = above[:, rated]
        np.fill_diagonal(t, 1.0)
        gains = (pairs * t).sum(axis=1)
        rank = within + unrated_weight * above[:, left].sum(axis=1)
        for n in sizes:
            drawn = []
            for _ in range(n_draws):
                items, each = sample_unrated(rated, rng.random(n), train.n_items)
                others = above[:, items].sum(axis=1)
                drawn.append(within + unrated_weight * each * others)
            sampled = np.array(drawn)
            found.append({
                "n": n,
                "rank": np.mean(sampled / rank) - 1,
                "reciprocal": np.mean(rank / sampled) - 1,
                "gap": np.mean((gains / sampled).sum(axis=1)) / np.sum(gains / rank) - 1,
            })  # fmt: skip
    return pd.DataFrame(found).groupby("n", as_index=False).mean()


# ------------------------------------------------------------------ how to step


def climb(
    train: Ratings, validation: Ratings, init_scale: float, learning_rate: float, *,
    plain: bool = False, n_iter: int = 100, **options,
) -> pd.DataFrame:  # fmt: skip
    """The consistent objective, climbed by Adagrad as `GAPfm` does, or by plain gradient ascent.

    `options` go to GAPfm. A row an iteration; columns iteration; user_factors, item_factors,
    item_bias: length of the part of the gradient that the iteration follows; held_out_gap after it.
    """
    given = {"random_state": 0, "n_iter": n_iter} | options
    settings = GAPfm(objective="consistent", init_scale=init_scale, **given).settings()
    optimizer = GradientAscent() if plain else Adagrad()
    rng, rows = check_random_state(settings.random_state), []
    with threads(1, train):
        training = Training(
            TrainingData(train), settings.objective, optimizer, settings.reg, learning_rate
        )
        state = training.start(settings.n_factors, init_scale, rng)
        for done in fit_factors(training, state, n_iter=n_iter):
            lengths = _lengths(training, state, done.number)
            gap = held_out_gap(*training.score_factors(done.state), train, validation)
            rows.append({"iteration": done.number} | lengths | {"held_out_gap": gap})
            state = done.state
    return pd.DataFrame(rows)


def _lengths(training: Training, state: State, iteration: int) -> dict[str, float]:
    """Of the gradient that `iteration` follows from `state`, with λ; V and b apart."""
    _, gradients = training.gradients(state, iteration)
    by_user, by_item = (
        gradient - training.reg * parameters
        for gradient, parameters in zip(gradients, training.parameters(state), strict=True)
    )
    named = {
        "user_factors": by_user,
        "item_factors": by_item[:, :-1],
        "item_bias": by_item[:, -1],
    }
    return {name: float(np.linalg.norm(part)) for name, part in named.items()}


def popularity_gap(train: Ratings, validation: Ratings) -> float:
    """Held-out GAP, as `GAPfm` measures it, of grade-weighted popularity: one list for all."""
    popularity = SYSTEMS["Grade-weighted popularity"].build({}, 0).fit(train)
    scores = popularity.predict(0)
    everybody = np.ones((train.n_users, 1))
    return held_out_gap(everybody, scores[:, None], train, validation)
