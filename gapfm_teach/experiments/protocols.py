"""Tables 2-4: which systems, how the ratings are split, and what is measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ..evaluation import ranking_per_user, top_n_per_user
from ..ratings import Ratings
from ..splits import given_only, split_given
from ..tuning import SYSTEMS, System

N_TEST = 10  # held-out ratings a user in Tables 2 and 3
CANDIDATES = {"1000": 1000, "all": None}
_SELECTIONS = ("GAPfm + adaptive selection", "GAPfm + random selection")
_PER_VISIT = "GAPfm, λ at each visit"


@dataclass(frozen=True)
class Protocol:
    """How one table of the paper is made: its task, Given conditions, systems, and in words.

    task : "top_n" or "ranking", as in `tuning.tune`, or "probe": top-N for a test set apart.
    systems : names; what each is stands in `own`, or else in tuning.SYSTEMS.
    """

    task: str
    givens: Sequence[int]
    systems: Sequence[str]
    words: str
    own: Mapping[str, System] = field(default_factory=dict)

    def system(self, name: str) -> System:
        """What stands behind a name of `systems`."""
        return self.own.get(name) or SYSTEMS[name]


_TOP_N_WORDS = (
    f"users with at least Given + {N_TEST + 1} ratings; {N_TEST} of them drawn for the test, "
    "Given of the others for training, the rest left aside; candidates: the test items and "
    "items that the user never rated, 1000 drawn once or all"
)
# λ at each visit is there for both tasks, to show what it does to each.
_TOP_N_SYSTEMS = [name for name in SYSTEMS if name not in _SELECTIONS]
PROTOCOLS = {
    "table2": Protocol("top_n", (10, 20, 30), _TOP_N_SYSTEMS, _TOP_N_WORDS),
    "table3": Protocol("top_n", (50,), [*_TOP_N_SYSTEMS, *_SELECTIONS], _TOP_N_WORDS),
    "table4": Protocol(
        "ranking",
        (10, 20, 30, 40),
        [name for name in SYSTEMS if name not in _SELECTIONS],
        "users with at least Given + 10 ratings; Given drawn for training, all others ranked",
    ),
}


def split(
    task: str, ratings: Ratings, given: int, seed: int
) -> tuple[Ratings, Ratings, Ratings]:
    """(train, known, test) for one seed; `known` are the ratings that make no candidates.

    "ranking" (section 5.4): users with at least given + 10 ratings, `given` of them for training,
    all others for the test. "top_n" (section 5.1.2): 10 held-out ratings a user, as the paper's
    probe has few, and `given` of the others for training; those that are left over are neither
    learned from nor offered as if they were unrated: they are in `known`, with train.
    """
    rng = np.random.default_rng(seed)
    if task == "ranking":
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
    return given_only(ratings, given, random_state=seed), ratings, probe


def measure(task: str, system, known: Ratings, test: Ratings, seed: int) -> pd.DataFrame:
    """One row a user; for "top_n" the columns of both sets of candidates, as "1000 P@5".

    For "probe" of 1,000 alone: all items, for each of that many users, would take hours.
    """
    if task == "ranking":
        return ranking_per_user(system, test, random_state=seed)
    sets = {"1000": 1000} if task == "probe" else CANDIDATES
    parts = [
        top_n_per_user(
            system, known, test, n_candidates=n, random_state=seed
        ).add_prefix(f"{name} ")
        for name, n in sets.items()
    ]  # fmt: skip
    return pd.concat(parts, axis=1)
