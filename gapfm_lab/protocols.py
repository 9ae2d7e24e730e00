"""Tables 2-4, and those of the other objectives: systems, splits, and what is measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from gapfm_teach.model import GAPfm
from gapfm_teach.ratings import Ratings
from gapfm_teach.splits import sample_n, split_given

from .systems import STEPS, SYSTEMS, System
from .tuning import per_user

N_TEST = 10  # held-out ratings a user in Tables 2 and 3
# Ratings that a user has besides the Given ones. With a probe all users stay, and those who have
# no others train on the same ratings in every split.
FEWEST_LEFT = {
    "top_n": N_TEST + 1,
    "catalogue": 10,
    "ranking": 10,
    "probe": 1,
}
CANDIDATES = {"1000": 1000, "all": None}
_SELECTIONS = ("GAPfm + adaptive selection", "GAPfm + random selection")
_ALL_RANKS = "GAPfm, geometric, all ranks"
_REPAIRED = (
    "GAPfm, consistent, as it is", "GAPfm, consistent", "GAPfm, geometric, as it is",
    "GAPfm, geometric",
)  # fmt: skip
_RIVALS = (
    "PopRec", "Grade-weighted popularity", "SVD++", "BPR", "BPR, popular negatives", "EASE",
    "Implicit ALS", "Pairwise logistic",
)  # fmt: skip
_CATALOGUE_SYSTEMS = (*_RIVALS, "GAPfm", *_REPAIRED)
_TOP_N_SYSTEMS = (*_RIVALS, "CofiRank", "Smoothed AP", "GAPfm", *_REPAIRED)
_RANKING_SYSTEMS = (
    *_RIVALS, "Mean rating", "Shrunken mean rating", "CofiRank", "WLT", "Smoothed AP", "GAPfm",
    "GAPfm, λ at each visit", "GAPfm, geometric",
)  # fmt: skip
# What others are tested against: the paper's system, and both repairs.
_REFERENCES = ("GAPfm", "GAPfm, consistent", "GAPfm, geometric")


@dataclass(frozen=True)
class Protocol:
    """How one table is made: its task, Given conditions, systems, and in words.

    task : one of `tuning.TASKS`, or "probe": top-N for a test set apart. systems : names; what
    each is stands in `own`, or else in systems.SYSTEMS.
    references : the systems that all others are tested against.
    tuned_for : metrics; with several, a metric is measured with the settings that are best by it.
    """

    task: str
    givens: Sequence[int]
    systems: Sequence[str]
    words: str
    own: Mapping[str, System] = field(default_factory=dict)
    references: Sequence[str] = ("GAPfm",)
    tuned_for: Sequence[str] = ("NDCG@5",)

    def system(self, name: str) -> System:
        """What stands behind a name of `systems`."""
        return self.own.get(name) or SYSTEMS[name]


_DRAWN = (
    f"users with at least Given + {N_TEST + 1} ratings; {N_TEST} of them drawn for the test, "
    "Given of the others for training, the rest left aside; candidates: the test items and "
    "items that the user never rated, 1000 drawn once or all"
)
_CATALOGUE_WORDS = (
    "users with at least Given + 10 ratings; Given drawn for training, all others are the test; "
    "candidates: all items that anybody rated, but for the user's own in training"
)
# The weightings of one kernel, each tuned over all that might suit one better than another.
FAMILY = {
    "GAP": "consistent",
    "AP": "average_precision",
    "GP@5": "graded_precision",
    "GR@5": "graded_recall",
    "ERR": "expected_reciprocal_rank",
}
_OF_FAMILY: Mapping[str, Sequence] = {
    "reg": [0.03, 0.06, 0.12],
    "unrated_weight": [0.05, 0.2],
    "temperature": [0.3, 1.0],
    "n_iter": [50],
}
_OWN = {
    name: System(GAPfm, _OF_FAMILY, {"objective": objective})
    for name, objective in FAMILY.items()
}
PROTOCOLS = {
    "table2": Protocol(
        "top_n", (10, 20, 30), _TOP_N_SYSTEMS, _DRAWN, references=_REFERENCES
    ),
    "table3": Protocol(
        "top_n", (50,), (*_TOP_N_SYSTEMS, *_SELECTIONS, _ALL_RANKS), _DRAWN,
        references=(*_REFERENCES, _ALL_RANKS),
    ),
    "table4": Protocol(
        "ranking", (10, 20, 30, 40), _RANKING_SYSTEMS,
        "users with at least Given + 10 ratings; Given drawn for training, all others ranked",
    ),
    "repair": Protocol(
        "catalogue", (10, 20, 30, 50), _CATALOGUE_SYSTEMS, _CATALOGUE_WORDS,
        references=_REFERENCES,
    ),
    "ablation": Protocol(
        "catalogue", (10, 30), tuple(STEPS), _CATALOGUE_WORDS, STEPS, tuple(STEPS)
    ),
    "family": Protocol(
        "catalogue", (10, 30), ("GAPfm", "GAPfm, geometric", *FAMILY), _CATALOGUE_WORDS, _OWN,
        ("GAP",),
        ("P@5", "NDCG@5", "GAP@5 (ideal)", "AP@5", "GP@5", "GR@5", "ERR@5"),
    ),
}  # fmt: skip


def split(
    task: str, ratings: Ratings, given: int, seed: int
) -> tuple[Ratings, Ratings, Ratings]:
    """(train, known, test) for one seed; `known` are the ratings that make no candidates.

    "ranking" (section 5.5) and "catalogue": users with at least given + 10 ratings, `given` of
    them for training, all others for the test. "top_n" (section 5.1.2): 10 held-out ratings a user, as the paper's
    probe has few, and `given` of the others for training; those that are left over are neither
    learned from nor offered as if they were unrated: they are in `known`, with train.
    """
    rng = np.random.default_rng(seed)
    if task in ("ranking", "catalogue"):
        train, test = split_given(ratings, given, min_test=10, random_state=rng)
        return train, train, test
    test, known = split_given(ratings, N_TEST, min_test=given + 1, random_state=rng)
    train, _ = split_given(known, given, min_test=1, random_state=rng)
    return train, known, test


def split_probe(
    ratings: Ratings, probe: Ratings, given: int, seed: int
) -> tuple[Ratings, Ratings, Ratings]:
    """(train, known, test) as `split` gives them, where the test is set apart: the `probe`.

    `given` of each user's `ratings` are for training; all of them are known.
    """
    return sample_n(ratings, given, random_state=seed), ratings, probe


def measure(task: str, system, known: Ratings, test: Ratings, seed: int) -> pd.DataFrame:
    """One row a user; for top-N the columns of both sets of candidates, as "1000 P@5".

    For "probe" of 1,000 alone: all items, for each of that many users, would take hours.
    """
    if task in ("ranking", "catalogue"):
        return per_user(task, system, known, test, seed)
    sets = {"1000": 1000} if task == "probe" else CANDIDATES
    parts = [
        per_user("top_n", system, known, test, seed, n).add_prefix(f"{name} ")
        for name, n in sets.items()
    ]
    return pd.concat(parts, axis=1)
