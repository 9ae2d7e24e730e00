"""How a table of systems is made, as a value: the primary table and those of the paper differ in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .declared import METRIC, Space
from .search import Extent


@dataclass(frozen=True)
class Protocol:
    """How a table is made.

    task : one of `measure.TASKS`; givens : ratings of each user to train on; systems : by name;
    metrics : the columns of `measure` that are reported for users, and per_split those of which a split has
    one; comparisons : (system, reference) pairs; n_splits, and n_splits_dear for dear systems;
    extent : of the search; tuned_for : metrics; with several, each is measured with the settings
    best by it; words : the same for readers.
    """

    task: str
    givens: Sequence[int]
    systems: Mapping[str, Space]
    metrics: Sequence[str]
    comparisons: Sequence[tuple[str, str]]
    extent: Extent
    n_splits: int = 5
    n_splits_dear: int = 5
    per_split: Sequence[str] = ()
    tuned_for: Sequence[str] = (METRIC,)
    words: str = ""
