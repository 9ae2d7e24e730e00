"""Figure 4: what updating only K items a user costs and brings; and where trainings start."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from gapfm_teach.model import GAPfm
from gapfm_teach.ratings import Ratings

from .common import held_out_gap, split_three

STARTS: dict[str, Callable[[np.random.Generator, tuple], np.ndarray]] = {
    "normal, sd 0.01": lambda rng, shape: rng.normal(0.0, 0.01, shape),
    "uniform, 0 to 1": lambda rng, shape: rng.uniform(0.0, 1.0, shape),
}


def selection_sweep(
    ratings: Ratings, n_selected: Sequence[int] = (5, 10, 20, 30, 40, 50), random_states=range(5),
    *, n_given: int = 50, learning_rate: float = 0.003, n_iter: int = 50, **options,
) -> pd.DataFrame:  # fmt: skip
    """Figure 4: what K selected items cost and bring, adaptive and random, at Given 50.

    Columns selection, n_selected, random_state, held_out_gap (after `n_iter`), and the score
    pairs of one iteration: `pairs_two_passes`, S² for U and K² for V, the paper's account;
    `pairs_one_pass`, S² in one pass that serves U and V. `options` go to GAPfm.
    """
    rows = []
    for seed in random_states:
        train, validation, _ = split_three(ratings, n_given, random_state=seed)
        for k in n_selected:
            for selection in ("adaptive", "random") if k < n_given else ("all",):
                model = GAPfm(
                    learning_rate=learning_rate, n_iter=n_iter, random_state=seed,
                    n_selected=k, n_threads=1,
                    selection="random" if selection == "random" else "adaptive", **options,
                ).fit(train)  # fmt: skip
                rows.append({
                    "selection": selection, "n_selected": k, "random_state": seed,
                    "held_out_gap": held_out_gap(model, validation),
                    "pairs_two_passes": train.n_users * (n_given**2 + k**2),
                    "pairs_one_pass": train.n_users * n_given**2,
                })  # fmt: skip
    return pd.DataFrame(rows)
