"""Declared before anything was run: the endpoint, the comparisons, and how every system is tuned.

Primary endpoint: NDCG@5, from `GIVEN` ratings of each user, with all films that anybody
rated as candidates, but for those that the user rated in training, and all other ratings of the user as the test.

Tuning: in each split a third of the users, drawn at random, are for validation. Everybody's `GIVEN`
ratings are trained on; settings are chosen by the validation users' test ratings and measured by those of
all others. So tuning sees as many ratings of a user as the test does.

Search: the same for every system, one parameter after another, the others at their best so far.
1. Each number: its start times `FACTOR` to the powers from -STEPS to STEPS, and further while an edge
   is best.
2. Each choice: the curve of the grades first, the number of factors last.
3. Again from 1, each number now by one step either side and further while an edge is best, until
   a round changes nothing or `MOST_ROUNDS` are done.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gapfm_teach.model import GAPfm
from gapfm_teach.training.recommender import Recommender

from ..baselines import (
    BPR,
    EASE,
    IALS,
    SLIM,
    GradedGAPfm,
    GradeWeightedPopularity,
    ItemKNN,
    PairwiseLogistic,
    Popularity,
    RP3beta,
    UserKNN,
)
from ..grades import CURVES

METRIC = "NDCG@5"
# Of these, estimates with intervals are shown, and nothing is tested. Every rated film of the test is
# relevant in AP@5, MRR@20 and recall@20, whatever its grade.
PER_USER = (METRIC, "P@5", "GAP@5 (ideal)", "AP@5", "MRR@20", "recall@20")
FEW_CANDIDATES = f"{METRIC}, 1000 candidates"
PER_SPLIT = ("coverage@5", "seconds a fit")
DATA = ("100k", "latest-small")
GIVEN = (10, 30)
FEWEST_LEFT = 10  # test ratings of a user
N_SPLITS, N_SPLITS_DEAR = 20, 5
VALIDATION_SHARE = 1 / 3
FACTOR, STEPS, MOST_STEPS, MOST_ROUNDS = 2.0, 3, 8, 4
N_FACTORS = (10, 20, 40)
ALPHA = 0.05  # of all comparisons on the primary endpoint together, by Holm's method


@dataclass(frozen=True)
class Space:
    """A system, and what is tuned.

    make : the class; numbers : where the search for each number starts, integers stay integers;
    choices : the values of everything else that is tuned, the first for a start; fixed :
    parameters that are not tuned; dear : whether it is measured on `N_SPLITS_DEAR` splits only.
    """

    make: Callable[..., Recommender]
    numbers: Mapping[str, float] = field(default_factory=dict)
    choices: Mapping[str, Sequence] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    dear: bool = False


_GRADES: dict[str, Sequence] = {"grades": CURVES}
_FACTORS: dict[str, Sequence] = {"n_factors": N_FACTORS}
_GRADED = _GRADES | _FACTORS
SYSTEMS = {
    "PopRec": Space(Popularity),
    "Grade-weighted popularity": Space(GradeWeightedPopularity, choices=_GRADES),
    "ItemKNN": Space(ItemKNN, {"n_neighbors": 80, "shrinkage": 20.0}, _GRADES),
    "UserKNN": Space(UserKNN, {"n_neighbors": 80, "shrinkage": 20.0}, _GRADES),
    "RP3β": Space(RP3beta, {"n_neighbors": 80, "alpha": 1.0, "beta": 0.2}, _GRADES),
    "SLIM": Space(SLIM, {"l1_reg": 1.0, "l2_reg": 10.0}, _GRADES, dear=True),
    "EASE": Space(EASE, {"reg": 300.0}, _GRADES),
    "iALS": Space(
        IALS,
        {"reg": 3.0, "unobserved_weight": 0.1},
        _GRADES | {"exponent": (0.0, 0.5, 1.0)} | _FACTORS,
        {"n_iter": 15},
    ),
    "BPR": Space(BPR, {"reg": 0.05, "learning_rate": 0.03}, _GRADED, {"n_iter": 100}),
    "Pairwise logistic": Space(
        PairwiseLogistic,
        {"reg": 100.0, "unrated_weight": 0.05},
        _GRADED,
        {"n_iter": 60},
        dear=True,
    ),
    "GAPfm": Space(GAPfm, {"reg": 1.0, "learning_rate": 0.01}, _FACTORS, {"n_iter": 60}),
    "GAPfm, consistent": Space(
        GradedGAPfm,
        {"reg": 0.06, "unrated_weight": 0.05},
        {"grades": ("Δ", "1", "y", "y²")} | _FACTORS,
        {"objective": "consistent"},
    ),
    "GAPfm, geometric": Space(
        GradedGAPfm,
        {"reg": 2.5, "unrated_weight": 0.1},
        {"grades": ("y", "1", "y²", "Δ")} | _FACTORS,
        {"objective": "geometric"},
    ),
}
COMPARISONS = (
    ("GAPfm, geometric", "iALS"),
    ("GAPfm, geometric", "EASE"),
    ("GAPfm, geometric", "BPR"),
    ("GAPfm, geometric", "GAPfm, consistent"),
    ("GAPfm, consistent", "GAPfm"),
    ("GAPfm", "Grade-weighted popularity"),
    ("iALS", "EASE"),
    ("RP3β", "EASE"),
    ("ItemKNN", "GAPfm, consistent"),
    ("GAPfm, geometric", "RP3β"),
)
