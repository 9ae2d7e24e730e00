"""How often p-values from few splits are far too small, where two systems are alike.

`python benchmarks/small_p_values.py notebooks/results/small_p_values.csv`: about five minutes on
one core.
"""

import sys

import pandas as pd

from gapfm_teach.lab.experiments.coverage import tail_rates
from gapfm_teach.lab.reproduce.journal import write_csv
from gapfm_teach.lab.reproduce.versions import versions

if __name__ == "__main__":
    (file,) = sys.argv[1:]
    tables = {sd: tail_rates(split_sd=sd) for sd in (0.01, 0.02)}
    words = [
        "python benchmarks/small_p_values.py notebooks/results/small_p_values.csv",
        "Two systems that are alike, differences drawn: see `coverage.tail_rates`",
        versions(),
    ]
    table = pd.concat(tables, names=["split_sd"]).reset_index(level="split_sd")
    write_csv(file, table, words)
