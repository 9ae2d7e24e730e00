"""How often 95% intervals from repeated splits hold the truth, where the truth is known.

`python benchmarks/interval_coverage.py table.csv`: about seven minutes on one core.
"""

import sys

from gapfm_lab.chapter_06_coverage import (
    GIVEN,
    METRIC,
    N_USERS,
    coverage,
    simulated_groups,
)
from gapfm_lab.reproduce.result_cache import write_csv
from gapfm_lab.reproduce.versions import versions

if __name__ == "__main__":
    (file,) = sys.argv[1:]
    words = [
        "python benchmarks/interval_coverage.py notebooks/results/coverage.csv",
        f"Groups of {N_USERS} simulated users; {METRIC} of top-N lists, Given {GIVEN}; tuned in each "
        "split. The truth is the mean over all groups",
        versions(),
    ]
    write_csv(file, coverage(simulated_groups()), words)
