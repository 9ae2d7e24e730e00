"""Whether more users, or another start, explain the paper's γ = 10⁻⁵ and its 60 iterations."""

import numpy as np
import pandas as pd

from ..._support.checks import check_random_state
from ...ratings import Ratings
from ...splits import given_only
from ..baselines.popularity import GradeWeightedPopularity, Popularity
from ..protocols import measure
from .common import Factors, ascended
from .convergence import escape_matrix, top_direction
from .selecting import STARTS

METRICS = ["NDCG@5", "GAP@5 (ideal)"]


def paper_step(
    train: Ratings, probe: Ratings, *, n_given: int = 10, learning_rate: float = 1e-5,
    n_iter: int = 60, reg: float = 0.001, random_state: int = 0,
) -> pd.DataFrame:  # fmt: skip
    """What the printed objective comes to with one small step, from each start of `STARTS`.

    train, probe : as `netflix_size.active_users` gives them; `n_given` ratings of each user are
    learned from, and lists are measured as in the probe's tables, among 1,000 unrated items.
    A row for each popularity, and two for each start: where it begins and after `n_iter`. Columns
    NDCG@5 and GAP@5 (ideal); predicted, (1 + γσ)^n_iter, the growth by the escape law; measured,
    the growth of `escape`'s part of U and V; σ. The last three are nan where nothing has grown.
    """
    given = given_only(train, n_given, random_state=random_state)

    def row(system: str, iterations: int, model) -> dict:
        means = measure("probe", model, train, probe, random_state).mean()
        found = {metric: means[f"1000 {metric}"] for metric in METRICS}
        return {"system": system, "iterations": iterations} | found

    rows = [
        row("PopRec", 0, Popularity().fit(given)),
        row("Grade-weighted popularity", 0, GradeWeightedPopularity().fit(given)),
    ]
    sigma, u, v = top_direction(escape_matrix(given))

    def part(model: Factors) -> float:
        return float(np.linalg.norm(u @ model.user_factors_ + v @ model.item_factors_))

    for name, draw in STARTS.items():
        rng = check_random_state(random_state)
        start = Factors(*(draw(rng, (n, 10)) for n in (given.n_users, given.n_items)))
        end = ascended(given, start, learning_rate=learning_rate, reg=reg, n_iter=n_iter)
        rows.append(row(name, 0, start))
        growth = {
            "predicted": (1 + learning_rate * sigma) ** n_iter,
            "measured": part(end) / part(start),
            "σ": sigma,
        }
        rows.append(row(name, n_iter, end) | growth)
    return pd.DataFrame(rows)
