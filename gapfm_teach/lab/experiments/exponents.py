"""What the exponent of the power mean does: where the pull goes, and where the films stand."""

from dataclasses import replace

import numpy as np
import pandas as pd

from ...metrics import thresholding_probabilities
from ...model import GAPfm
from ...smooth import logistic, smoothed_gap_gradient
from ...training.objectives import SMOOTH_RANKS


def pulls(
    model: GAPfm, exponent: float = 0.0, every: int = 1, *, objective: str = "geometric",
    unrated_weight: float | None = None,
) -> pd.DataFrame:  # fmt: skip
    """How hard each rated film of training is pulled where `model` stands, and its smooth place.

    Where the pull would go with `objective`, whatever the model was fitted with: "paper", or one
    with smooth ranks, at the model's temperature (1 if it has none); `exponent` p for "geometric",
    unrated_weight as the model's unless given. Of every `every`-th user. A row a rating of
    training: user and item, positions; place, R̂ among all films; pull, ∂/∂f, above 0 where the
    film is lifted.
    """
    train, rows = model.train_, []
    tau = getattr(model.objective_, "temperature", 1.0)
    if unrated_weight is None:
        unrated_weight = model.objective_.options["unrated_weight"]
    if objective != "paper":
        measure = replace(SMOOTH_RANKS[objective], temperature=tau)
        if objective == "geometric":
            measure = replace(measure, exponent=float(exponent))
    for user in range(0, train.n_users, every):
        rated, given = train.row(user)
        best_first = np.argsort(-given, kind="stable")
        rated, given = rated[best_first], given[best_first]
        others = np.setdiff1d(np.arange(train.n_items), rated)
        scores = model.predict(user)[np.append(rated, others)]
        if objective == "paper":
            delta = thresholding_probabilities(train.max_grade)
            slope = smoothed_gap_gradient(scores[: rated.size], given, delta)
        else:
            slope = measure.user_gradient(given, train.max_grade, scores.size)(
                scores, float(unrated_weight)
            )
        above = logistic((scores - scores[: rated.size, None]) / tau)
        place = 0.5 + above.sum(axis=1)
        rows.append(
            pd.DataFrame(
                {"user": user, "item": rated, "place": place, "pull": slope[: rated.size]}
            )
        )
    return pd.concat(rows, ignore_index=True)


def share_of_lower_half(table: pd.DataFrame) -> float:
    """The share of all upward pull, in [0, 1], that goes to the worse-placed half of the ratings.

    table : as `pulls` gives it.
    """
    lifted = table["pull"].clip(lower=0.0)
    lower = table["place"] > table["place"].median()
    return float(lifted[lower].sum() / lifted.sum())
