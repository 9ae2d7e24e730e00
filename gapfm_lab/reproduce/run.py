"""What a run of `reproduce` is to make, of which ratings, and how often."""

from dataclasses import dataclass, field
from functools import cached_property, reduce
from pathlib import Path
from typing import Any
from zlib import crc32

from gapfm_teach.ratings import Ratings

from ..protocols import PROTOCOLS, Protocol
from ..versions import versions
from . import netflix
from .figures import FIGURES, Figure
from .result_cache import ResultCache

N_SPLITS = 10
MAIN = "100k"  # the data whose results are called by the table's name alone


@dataclass(frozen=True)
class Run:
    """What to make of which ratings.

    name : "table1".."table4", "figure1".."figure4", "repair", "family"; data : short name of
    the ratings ("100k"); out : folder of the results; command : what was typed, for the header;
    n_splits : seeds 0..n_splits - 1; n_trials : points of each grid that are drawn, or None for
    all, and more where the best is at an edge; tune_again : search even where choices are stored;
    probe : test ratings where they are set apart, as Netflix's are, else None. Results are called
    by `name`, with `data` before it but for MovieLens 100K.
    """

    name: str
    ratings: Ratings
    data: str
    out: Path
    command: str
    n_splits: int = N_SPLITS
    n_trials: int | None = None
    tune_again: bool = False
    probe: Ratings | None = None
    results: ResultCache = field(init=False)

    def __post_init__(self) -> None:
        tables, figures = netflix.TABLES, netflix.FIGURES
        if self.probe is not None and self.name not in {"table1", *tables, *figures}:
            raise ValueError(
                f"{self.name} is not made from Netflix's data; choose table1, "
                f"{', '.join([*tables, *figures])}"
            )
        folder = self.out / f"{self.file_name}.unfinished"
        object.__setattr__(self, "results", ResultCache(folder))

    @property
    def file_name(self) -> str:
        """Of what is made, without a suffix."""
        return self.name if self.data == MAIN else f"{self.data}_{self.name}"

    @property
    def choices(self) -> Path:
        """What tuning chose, split by split."""
        return self.out / f"{self.file_name}_choices.csv"

    @property
    def differences(self) -> Path:
        """The paired comparisons of a table's systems."""
        return self.out / f"{self.file_name}_differences.csv"

    @property
    def files(self) -> list[Path]:
        """All that is written, but for the entries."""
        made = [self.out / f"{self.file_name}.{kind}" for kind in ("csv", "png")]
        return [*made, self.choices, self.differences]

    @property
    def parts(self) -> tuple[Ratings, ...]:
        """The ratings and, where there is one, the probe."""
        return (self.ratings,) if self.probe is None else (self.ratings, self.probe)

    @property
    def protocol(self) -> Protocol:
        """How a table is made from such data."""
        return (PROTOCOLS if self.probe is None else netflix.TABLES)[self.name]

    @property
    def figure(self) -> Figure:
        """How a figure is made from such data."""
        return (FIGURES if self.probe is None else netflix.FIGURES)[self.name]

    @cached_property
    def _content(self) -> str:
        return "; ".join(f"{part!r}, crc32 {_checksum(part):08x}" for part in self.parts)

    def key(self, seed: int, **more: Any) -> dict[str, Any]:
        """What decides the content of an entry of this run."""
        common = {"name": self.name, "data": self._content, "seed": seed}
        return common | {"versions": versions()} | more


def _checksum(ratings: Ratings) -> int:
    parts = [ratings.indptr, ratings.indices, ratings.grades]
    parts += [] if ratings.times is None else [ratings.times]
    return reduce(lambda value, array: crc32(array.tobytes(), value), parts, 0)
