"""How often a difference is found where there is none: `python benchmarks/interval_coverage.py FILE`.

A few minutes on one core.
"""

import sys

from gapfm_lab import chapter_06_coverage as simulation
from gapfm_lab.result_files import write_csv
from gapfm_lab.versions import versions

if __name__ == "__main__":
    (file,) = sys.argv[1:]
    words = [
        "python benchmarks/interval_coverage.py notebooks/results/coverage.csv",
        f"{simulation.N_USERS} simulated users; standard deviations: users {simulation.SD_USERS}, "
        f"splits {simulation.SD_SPLITS}, rest {simulation.SD_REST}; shared by splits: "
        f"{simulation.SHARED}; a collapse is {simulation.COLLAPSE} down",
        versions(),
    ]
    write_csv(file, simulation.error_rates(), words)
