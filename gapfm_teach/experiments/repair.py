"""Notebook 09: the consistent objective beside the printed one, in training and in its parts."""

import json
from collections.abc import Sequence
from copy import copy
from typing import cast

import numpy as np
import pandas as pd
from scipy.stats import norm

from ..checks import check_count, check_random_state
from ..consistent import consistent_gap_gradient, sample_unrated
from ..metrics import thresholding_probabilities
from ..model import GAPfm
from ..objectives import ConsistentObjective
from ..ratings import Ratings
from ..smooth import beta, consistent_rank, logistic, smoothed_gap_gradient
from ..training import threads
from ..tuning import SYSTEMS
from .protocols import PROTOCOLS, measure, split

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


class _Adagrad(ConsistentObjective):
    """As `GAPfm` climbs, and how long the gradient is that the next step follows."""

    @property
    def lengths(self) -> dict[str, float]:
        return {name: float(np.linalg.norm(g)) for name, g in self._gradient.items()}


class _Plain(_Adagrad):
    """γ times the gradient, as Algorithm 2 steps."""

    def step(self, state, rng):
        moved = {
            name: state[name] + self.learning_rate * gradient
            for name, gradient in self._gradient.items()
        }
        return state | moved


def climb(
    train: Ratings, validation: Ratings, init_scale: float, learning_rate: float, *,
    plain: bool = False, n_iter: int = 100, **options,
) -> pd.DataFrame:  # fmt: skip
    """The consistent objective, climbed by Adagrad as `GAPfm` does, or by plain gradient ascent.

    `options` go to GAPfm. A row an iteration; columns iteration; user_factors, item_factors,
    item_bias: length of the part of the gradient that the iteration follows; held_out_gap after it.
    """
    settings = {"random_state": 0} | options
    model = GAPfm(
        objective="consistent",
        init_scale=init_scale,
        learning_rate=learning_rate,
        **settings,
    )
    goal = (_Plain if plain else _Adagrad)(model, train, validation)
    rng, rows = check_random_state(model.random_state), []
    state = goal.start(model, train, rng)
    with threads(1, train):
        goal.gradients(state, 1)
        for iteration in range(1, n_iter + 1):
            row = {"iteration": iteration} | goal.lengths
            state = goal.step(state, rng)
            goal.gradients(state, iteration + 1)
            rows.append(row | {"held_out_gap": goal.validation_gap(state)})
    return pd.DataFrame(rows)


# ------------------------------------------------------------------ training


def search(
    train: Ratings, validation: Ratings, unrated_weights: Sequence[float], regs: Sequence[float],
    *, n_iter: int = 60, **options,
) -> pd.DataFrame:  # fmt: skip
    """Held-out GAP of the consistent objective for each pair of settings, at its best iteration.

    `options` go to GAPfm. Columns unrated_weight, reg, iteration, held_out_gap, last: at the end.
    """
    rows = []
    for weight in unrated_weights:
        for reg in regs:
            settings = {"random_state": 0} | options
            model = GAPfm(
                objective="consistent", unrated_weight=weight, reg=reg, n_iter=n_iter,
                **settings,
            ).fit(train, validation)  # fmt: skip
            gap = model.history_["validation_gap"]
            rows.append((weight, reg, gap.argmax() + 1, gap.max(), gap.iloc[-1]))
    names = ["unrated_weight", "reg", "iteration", "held_out_gap", "last"]
    return pd.DataFrame(rows, columns=names)


def distinct_in_top(model, train: Ratings, n: int = 10) -> int:
    """How many different items stand among the first `n` of any user's list, training items left out."""
    tops = [model.recommend(user, n) for user in range(train.n_users)]
    return int(np.unique(np.concatenate(tops)).size)


def slope_at(places: np.ndarray, n_items: int, spread: float = 1.0) -> np.ndarray:
    """∂(consistent GAP)/∂f of the only rated item, where it stands at each rank of `places`.

    The scores of the `n_items` items are even steps of a normal distribution with standard
    deviation `spread`, τ = 1. GAP̂ is then 1/R̂, and its slope that of 1/R̂.
    """
    scores = spread * norm.isf((np.arange(n_items) + 0.5) / n_items)
    slopes = []
    for place in places:
        above = logistic(scores - scores[place - 1])
        rank = consistent_rank(scores)[place - 1]
        change = np.sum(above * (1 - above)) - 0.25  # the item itself does not count
        slopes.append(change / rank**2)
    return np.array(slopes)


# ------------------------------------------------------------------ the result table


def sources(
    ratings: Ratings, results: pd.DataFrame, given: int, seeds: Sequence[int] = (0, 1)
) -> pd.DataFrame:
    """Where the repair's lead comes from: a better list for everybody, or lists of one's own.

    results : as `honest.read_results` gives them; its settings are used, and the protocol of the
    table that it holds. Means over users and `seeds`; a row for grade-weighted popularity, the
    printed objective, the average user's list of the repaired one shown to all, and the repaired
    one itself; columns "NDCG@5" and "GAP@5 (ideal)".
    """
    protocol, rows = PROTOCOLS["repair"], []
    for seed in seeds:
        train, known, test = split(protocol.task, ratings, given, seed)
        fitted = {}
        for name in ("GAPfm", "GAPfm, consistent"):
            chosen = results.query("given == @given and system == @name")["settings"].iloc[
                0
            ]
            fitted[name] = protocol.system(name).build(json.loads(chosen), seed).fit(train)
        repaired = cast(GAPfm, fitted["GAPfm, consistent"])
        shared = copy(repaired)
        shared.user_factors_ = np.tile(
            repaired.user_factors_.mean(axis=0), (train.n_users, 1)
        )
        weighted = SYSTEMS["Grade-weighted popularity"].build({}, seed).fit(train)
        models = {
            "grade-weighted popularity": weighted,
            "printed": fitted["GAPfm"],
            "repaired, one list for all": shared,
            "repaired": repaired,
        }
        for name, model in models.items():
            means = measure(protocol.task, model, known, test, seed).mean()
            rows.append({"system": name} | means[["NDCG@5", "GAP@5 (ideal)"]].to_dict())
    return pd.DataFrame(rows).groupby("system", sort=False).mean().rename_axis(None)


def wide(results: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Means ± half of the interval of one metric as text: a row a system, a column a Given.

    results : as `honest.read_results` gives them. The systems best at the first Given first.
    """
    rows = results[results["metric"] == metric]
    half = (rows["ci_high"] - rows["ci_low"]) / 2
    text = _short(rows["mean"]) + "\N{NO-BREAK SPACE}±" + _short(half)
    table = rows.assign(text=text).pivot(index="system", columns="given", values="text")
    first = rows[rows["given"] == rows["given"].min()]
    order = first.sort_values("mean", ascending=False)["system"]
    return table.reindex(order).rename_axis(index=None, columns="Given")


def gains(
    results: pd.DataFrame, system: str, metrics: Sequence[str] = ("NDCG@5", "GAP@5 (ideal)")
) -> pd.DataFrame:
    """By how many per cent `system` is above each other one, as text; "*": the intervals are apart.

    results : as `honest.read_results` gives them. A row for each metric and other system, a
    column a Given. Raises ValueError for a system that has no results.
    """
    if system not in set(results["system"]):
        raise ValueError(
            f"no results of {system!r}; there are {', '.join(results['system'].unique())}"
        )
    cells = results[results["metric"].isin(metrics)]
    cells = cells.set_index(["metric", "system", "given"])[["mean", "ci_low", "ci_high"]]
    ours = cells.xs(system, level="system").add_suffix("_ours")
    others = cells.drop(index=system, level="system")
    paired = others.join(ours, on=["metric", "given"])
    apart = (paired["ci_low_ours"] > paired["ci_high"]) | (
        paired["ci_high_ours"] < paired["ci_low"]
    )
    text = (paired["mean_ours"] / paired["mean"] - 1).map("{:+.1%}".format)
    table = (text + apart.map({True: " *", False: ""})).unstack("given")
    table.index.names, table.columns.name = [None, None], "Given"
    return table


def _short(numbers: pd.Series) -> pd.Series:
    return numbers.map("{:.3f}".format).str.lstrip("0")
