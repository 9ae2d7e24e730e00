"""Tables 1-3 and Figures 2-4 on data of Netflix's kind: what differs from smaller data.

The test is the probe, which the data's makers set apart. Settings must carry over from the share
of the users that is tuned on to all of them; a plain γ does not, so GAPfm takes `"auto"`.
"""

from collections.abc import Sequence
from time import perf_counter

import numpy as np
import pandas as pd

from gapfm_teach.evaluation import top_n_per_user
from gapfm_teach.model import GAPfm
from gapfm_teach.ratings import Ratings
from gapfm_teach.splits import sample_n

from ..baselines import IALS, MeanRating, SVDpp
from ..paper import FEWEST_RATINGS
from ..primary.declared import SYSTEMS, Space
from ..primary.protocol import Protocol
from ..protocols import EXTENT, TOP_N, against
from .figures import Figure, draw_epochs, draw_selection, draw_threads
from .timing import epoch_times, thread_times

ROUNDS = 3  # of timing
# The more users, the more each pass does for the items, and the more raters an item has: fewer
# passes, and more regularisation, than on small data.
_GAPFM = {"learning_rate": "auto", "n_iter": 30}
_SYSTEMS = {
    "PopRec": SYSTEMS["PopRec"],
    "Mean rating": Space(MeanRating),
    "Shrunken mean rating": Space(MeanRating, {"shrinkage": 1000.0}),
    "Grade-weighted popularity": SYSTEMS["Grade-weighted popularity"],
    "SVD++": Space(SVDpp, {"reg": 0.01, "learning_rate": 0.003}, fixed={"n_iter": 10}),
    "iALS": Space(IALS, {"reg": 100.0, "unobserved_weight": 0.3}, fixed={"n_iter": 10}),
    "GAPfm": Space(GAPfm, {"reg": 3.0}, fixed=_GAPFM),
}
_SELECTED = _GAPFM | {"n_selected": 20}
_WITH_SELECTION = _SYSTEMS | {
    "GAPfm + adaptive selection": Space(GAPfm, {"reg": 3.0}, fixed=_SELECTED),
    "GAPfm + random selection": Space(
        GAPfm, {"reg": 3.0}, fixed=_SELECTED | {"selection": "random"}
    ),
}
_WORDS = (
    f"users with at least {FEWEST_RATINGS} training ratings, Given of them drawn for training; "
    "the test is the probe, of users with at least 5 ratings in it; candidates: the test items "
    "and 1000 drawn once from items that the user never rated; GAPfm sets γ itself"
)
# So many users that one split says enough.
TABLES = {
    "table2": Protocol(
        "probe", (10, 20, 30), _SYSTEMS, TOP_N, against(_SYSTEMS, "GAPfm"), EXTENT, 1,
        words=_WORDS,
    ),
    "table3": Protocol(
        "probe", (50,), _WITH_SELECTION, TOP_N, against(_WITH_SELECTION, "GAPfm"), EXTENT, 1,
        words=_WORDS,
    ),
}  # fmt: skip


def probe_sweep(
    train: Ratings, probe: Ratings, seed: int, *, n_selected=(5, 10, 20, 30, 40, 50),
    n_given: int = 50, n_iter: int = 25,
) -> pd.DataFrame:  # fmt: skip
    """Figure 4 on the probe: what K selected items bring and cost, adaptive and random.

    γ is the one that suits the training of all items, for every K. Columns selection,
    n_selected, random_state; held_out_gap, mean GAP@5 ("ideal") of the probe's ratings among
    1,000 drawn items; seconds of an iteration, on all threads; and the score pairs of an
    iteration as `selection_sweep` has them.
    """
    given = sample_n(train, n_given, random_state=seed)
    rate: float | str = "auto"
    rows = []
    for k in sorted(n_selected, reverse=True):
        for selection in ("adaptive", "random") if k < n_given else ("all",):
            model = _model(selection, k, rate, n_iter, seed).fit(given)
            rate = model.learning_rate_
            found = top_n_per_user(model, train, probe, random_state=seed)
            rows.append({
                "selection": selection, "n_selected": k, "random_state": seed,
                "held_out_gap": found["GAP@5 (ideal)"].mean(),
                "pairs_two_passes": given.n_users * (n_given**2 + k**2),
                "pairs_one_pass": given.n_users * n_given**2,
            })  # fmt: skip
    table = pd.DataFrame(rows).sort_values(["n_selected", "selection"], ignore_index=True)
    settings = list(zip(table["selection"], table["n_selected"], strict=True))
    return table.assign(seconds=iteration_times(given, settings, float(rate), seed))


def iteration_times(
    train: Ratings, settings: Sequence[tuple[str, int]], rate: float, seed: int
) -> np.ndarray:
    """Seconds of the quickest iteration for each (selection, K) of `settings`.

    From short trainings, one setting after the other and then all again: what other programs
    take for a while would otherwise look like an effect of K.
    """
    found = np.full((ROUNDS, len(settings)), np.inf)
    for times in found:
        for place, (selection, k) in enumerate(settings):
            ends: list[float] = []
            note = lambda *_, ends=ends: ends.append(perf_counter())  # noqa: E731
            _model(selection, k, rate, 3, seed).fit(train, callback=note)
            times[place] = np.diff(ends).min()
    return found.min(axis=0)


def _model(selection: str, k: int, rate: float | str, n_iter: int, seed: int) -> GAPfm:
    return GAPfm(
        learning_rate=rate, n_iter=n_iter, random_state=seed, n_selected=k,
        selection="random" if selection == "random" else "adaptive",
    )  # fmt: skip


_QUICKEST = "the shortest of up to 15; depends on the machine"
FIGURES = {
    "figure2": Figure(
        lambda train, probe, seed: thread_times(train, [seed]),
        draw_threads,
        f"time of one pass over all training ratings, for U and V, {_QUICKEST}",
    ),
    "figure3": Figure(
        lambda train, probe, seed: epoch_times(
            train, [seed], (10, 20, 30, 50, None), (0.25, 0.5, 1.0), n_threads=(1, 2)
        ),
        draw_epochs,
        f"time of one iteration, U and V, on 1 and 2 threads, {_QUICKEST}",
    ),
    "figure4": Figure(
        probe_sweep,
        draw_selection,
        "held-out GAP@5 on the probe after 25 iterations at Given 50 with K items a user "
        "updated, and the time of the quickest iteration of some; depends on the machine",
    ),
}
