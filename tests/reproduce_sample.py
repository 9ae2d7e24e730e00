"""What the tests of `reproduce` share: small tables in place of the paper's."""

import os

from gapfm_lab.baselines import MeanRating, Popularity
from gapfm_lab.primary.declared import Space
from gapfm_lab.primary.protocol import Protocol
from gapfm_lab.primary.search import Extent
from gapfm_lab.protocols import PROTOCOLS, TOP_N, against
from gapfm_lab.reproduce.make import Run
from gapfm_teach import GAPfm

SYSTEMS = {
    "PopRec": Space(Popularity),
    "Shrunken mean rating": Space(MeanRating, {"shrinkage": 10.0}),
    "GAPfm": Space(GAPfm, {"learning_rate": 0.02}, fixed={"n_iter": 3}),
}
EXTENT = Extent(factor=3.0, steps=1, most_steps=1, rounds=1)


def small_protocol(
    task="ranking", metrics=("NDCG@1", "NDCG@5"), givens=(10, 15), **options
):
    """Three quick systems."""
    options = {"n_splits": 3} | options
    return Protocol(
        task,
        givens,
        SYSTEMS,
        metrics,
        against(SYSTEMS, "GAPfm"),
        EXTENT,
        words="small",
        **options,
    )


def put_small_tables(monkeypatch):
    """Three quick systems at two Givens in place of the paper's tables, in this process."""
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    monkeypatch.setitem(PROTOCOLS, "table4", small_protocol())
    both = (*TOP_N, *(f"all {name}" for name in TOP_N))
    monkeypatch.setitem(PROTOCOLS, "table2", small_protocol("top_n", both))


def make_run(ratings, out, name="table4", **options):
    return Run(name, ratings, "100k", out, "python -m gapfm_teach reproduce it", **options)
