"""What the paper's γ = 10⁻⁵ comes to in 60 iterations at Netflix's full size, from two starts.

`python benchmarks/paper_step.py table.csv`: some five minutes on one core, and first, where they are
not there yet, the simulated files (2 GB).
"""

import sys

import pandas as pd

from gapfm_teach.lab.experiments.netflix_size import active_users, netflix
from gapfm_teach.lab.experiments.paper_step import paper_step
from gapfm_teach.lab.reproduce.journal import write_csv
from gapfm_teach.lab.reproduce.versions import versions

if __name__ == "__main__":
    (file,) = sys.argv[1:]
    train, probe = active_users(*netflix(1.0))
    tables = [paper_step(train, probe, n_given=n).assign(given=n) for n in (10, 50)]
    words = [
        "python benchmarks/paper_step.py notebooks/results/netflix_paper_step.csv",
        f"Data: {train!r}; probe: {probe.n_ratings:,} ratings, each user's among 1,000 unrated items",
        versions(),
    ]
    write_csv(file, pd.concat(tables, ignore_index=True), words)
