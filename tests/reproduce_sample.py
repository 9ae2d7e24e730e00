"""What the tests of `reproduce` share: small tables in place of the paper's."""

from gapfm_lab import systems
from gapfm_lab.protocols import PROTOCOLS, Protocol
from gapfm_lab.reproduce.run import Run
from gapfm_teach import GAPfm

NAMES = ["PopRec", "Shrunken mean rating", "GAPfm"]


def put_small_tables(monkeypatch):
    """Three quick systems at two Givens, in place of the paper's tables."""
    quick = {"learning_rate": [0.01, 0.03], "n_iter": [3]}
    monkeypatch.setitem(systems.SYSTEMS, "GAPfm", systems.System(GAPfm, quick))
    for name, task in {"table2": "top_n", "table4": "ranking"}.items():
        monkeypatch.setitem(PROTOCOLS, name, Protocol(task, (10, 15), NAMES, "small"))


def make_run(ratings, out, name="table4", **options):
    options = {"n_splits": 3, "n_trials": 2} | options
    return Run(name, ratings, "100k", out, "python -m gapfm_teach reproduce it", **options)
