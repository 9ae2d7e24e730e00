"""Tables 2-4, the single changes and the family: systems, searches and comparisons, as declared.

The search is that of `primary.declared` with a wider step and fewer of them, and D = 10 as in section
5.1. These tables are secondary: they show estimates with intervals, and test nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gapfm_teach.model import GAPfm

from .baselines import WLT, CofiRank, MeanRating, SmoothedAP, SVDpp
from .baselines.ablation import CONSISTENT, REPAIRS, partly_repaired, without
from .primary.declared import SYSTEMS, Space
from .primary.measure import ALL, N_TEST
from .primary.protocol import Protocol
from .primary.search import Extent

EXTENT = Extent(
    factor=3.0, steps=1, most_steps=4, rounds=1, skipped=("n_factors", "exponent")
)
TOP_N = ("P@5", "NDCG@5", "GAP@5 (ideal)", "GAP@5 (all)", "GAP@5 (hits)")
CATALOGUE = ("P@5", "NDCG@5", "GAP@5 (ideal)", "AP@5", "GP@5", "GR@5", "ERR@5")
_DRAWN = (
    f"users with at least Given + {N_TEST + 1} ratings; {N_TEST} of them drawn for the test, "
    "Given of the others for training, the rest left aside; candidates: the test items and "
    "items that the user never rated, 1000 drawn once or all"
)
_CATALOGUE = (
    "users with at least Given + 10 ratings; Given drawn for training, all others are the test; "
    "candidates: all items that anybody rated, but for the user's own in training"
)


def against(systems: Mapping[str, Space], reference: str) -> list[tuple[str, str]]:
    """All other systems with the reference."""
    return [(one, reference) for one in systems if one != reference]


_ASCENT = {"reg": 1.0, "learning_rate": 0.01}
_OTHERS = {
    "SVD++": Space(SVDpp, {"reg": 0.03, "learning_rate": 0.003}, fixed={"n_iter": 20}),
    "CofiRank": Space(CofiRank, {"reg": 500.0}),
    "Smoothed AP": Space(SmoothedAP, _ASCENT, fixed={"n_iter": 60}),
    "Mean rating": Space(MeanRating),
    "Shrunken mean rating": Space(MeanRating, {"shrinkage": 20.0}),
    "WLT": Space(WLT, {"n_neighbors": 100, "learning_rate": 0.03}, fixed={"n_iter": 20}),
    "GAPfm, λ at each visit": Space(
        GAPfm, {"reg": 0.3, "learning_rate": 0.01}, fixed={"update": "sequential", "n_iter": 60}
    ),
    "GAPfm + adaptive selection": Space(
        GAPfm, _ASCENT, fixed={"n_iter": 60, "n_selected": 20}
    ),
    "GAPfm + random selection": Space(
        GAPfm, _ASCENT, fixed={"n_iter": 60, "n_selected": 20, "selection": "random"}
    ),
}  # fmt: skip
_KNOWN = SYSTEMS | _OTHERS


def _named(*names: str) -> dict[str, Space]:
    return {name: _KNOWN[name] for name in names}


_RIVALS = (
    "PopRec",
    "Grade-weighted popularity",
    "SVD++",
    "BPR",
    "EASE",
    "iALS",
    "CofiRank",
)
_TABLE_2 = _named(*_RIVALS, "Smoothed AP", "GAPfm")
_TABLE_3 = _TABLE_2 | _named("GAPfm + adaptive selection", "GAPfm + random selection")
_TABLE_4 = _named(
    *_RIVALS, "Mean rating", "Shrunken mean rating", "WLT", "Smoothed AP", "GAPfm",
    "GAPfm, λ at each visit",
)  # fmt: skip


def _step(repairs: Sequence[str]) -> Space:
    """λ and γ start where they belong, which depends on what is summed."""
    summed = not ("1/Z" in repairs and "stars for weights" not in repairs)
    smooth = "smooth ranks" in repairs
    reg = (1.5 if smooth else 1.0) if summed else 0.05
    rate = 0.3 if smooth or "Adagrad" in repairs else 0.01
    if not summed and "Adagrad" not in repairs:
        rate = 1.0
    return Space(
        partly_repaired,
        {"reg": reg, "learning_rate": rate},
        fixed={"repairs": tuple(repairs)},
    )


# "+ name": with all changes up to it; "- name": with those of the consistent objective but for it.
_PUT_IN = {"printed": _step(())}
_PUT_IN |= {f"+ {name}": _step(REPAIRS[: k + 1]) for k, name in enumerate(REPAIRS)}
WHOLE = f"+ {CONSISTENT[-1]}"
# Without the last: that is the step before it.
STEPS = _PUT_IN | {f"- {name}": _step(without(name)) for name in CONSISTENT[:-1]}
# Each change with the step before it, or what is taken out with all changes of the consistent objective.
_CHANGES = [*zip([*_PUT_IN][1:], _PUT_IN, strict=False)]
_CHANGES += [(name, WHOLE) for name in STEPS if name not in _PUT_IN]

# The weightings of one kernel.
FAMILY = {
    "GAP": "consistent",
    "AP": "average_precision",
    "GP@5": "graded_precision",
    "GR@5": "graded_recall",
    "ERR": "expected_reciprocal_rank",
}
_FAMILY = _named("GAPfm", "GAPfm, geometric") | {
    name: Space(
        GAPfm, {"reg": 0.06, "unrated_weight": 0.05, "temperature": 1.0},
        fixed={"objective": objective, "n_iter": 50},
    )
    for name, objective in FAMILY.items()
}  # fmt: skip

PROTOCOLS = {
    "table2": Protocol(
        "top_n", (10, 20, 30), _TABLE_2, (*TOP_N, *(ALL + name for name in TOP_N)),
        against(_TABLE_2, "GAPfm"), EXTENT, words=_DRAWN,
    ),
    "table3": Protocol(
        "top_n", (50,), _TABLE_3, (*TOP_N, *(ALL + name for name in TOP_N)),
        against(_TABLE_3, "GAPfm"), EXTENT, words=_DRAWN,
    ),
    "table4": Protocol(
        "ranking", (10, 20, 30, 40), _TABLE_4, ("NDCG@1", "NDCG@3", "NDCG@5"),
        against(_TABLE_4, "GAPfm"), EXTENT, n_splits=3,
        words="users with at least Given + 10 ratings; Given drawn for training, all others ranked",
    ),
    "ablation": Protocol(
        # Some steps train well in a narrow range of λ, which steps of 3 were seen to miss.
        "catalogue", (10, 30), STEPS, CATALOGUE, _CHANGES, replace(EXTENT, factor=2.0, rounds=2),
        n_splits=3, words=_CATALOGUE,
    ),
    "family": Protocol(
        "catalogue", (10, 30), _FAMILY, CATALOGUE, against(_FAMILY, "GAP"), EXTENT, n_splits=3,
        tuned_for=CATALOGUE, words=_CATALOGUE,
    ),
}  # fmt: skip
