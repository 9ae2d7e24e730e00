"""Small ratings, clusters and models, for the tests of training on many workers."""

import contextlib

import distributed
import numpy as np

from gapfm_teach import Ratings, simulate_ratings
from gapfm_teach.distributed import DistributedGAPfm

QUIET = {"dashboard_address": ":0", "silence_logs": 50}
# Workers inside this process would count its memory as theirs, that of all tests before, and pause.
INSIDE = {"processes": False, "memory_limit": 0} | QUIET
N_ITER = 12


def make_ratings():
    """With a user, an item and a whole part that nobody rated or was rated by."""
    full = simulate_ratings(60, 40, mean_ratings=15, random_state=0)
    indptr = np.concatenate([full.indptr, np.full(20, full.n_ratings)])
    return Ratings(indptr, full.indices, full.grades, n_items=41)


@contextlib.contextmanager
def processes(place, n=2, **more):
    options = {"threads_per_worker": 1, "local_directory": place, **QUIET} | more
    with (
        distributed.LocalCluster(n_workers=n, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@contextlib.contextmanager
def threads(n=1):
    """A cluster inside this process."""
    with (
        distributed.LocalCluster(n_workers=n, threads_per_worker=1, **INSIDE) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def model(**options):
    defaults = {"n_iter": N_ITER, "learning_rate": 0.03, "reg": 0.01, "random_state": 3}
    return DistributedGAPfm(4, **defaults | options)


def arrays(found):
    """What was learned, without a hold on the workers: they forget the tasks behind it."""
    return found.user_factors(), found.item_factors_, found.history_


def assert_same(found, expected):
    for one, other in zip(arrays(found), expected, strict=True):
        np.testing.assert_array_equal(one, other)


def factors(run):
    """The only folder of factors in the checkpoint."""
    (found,) = run.glob("iteration-????????-????????")
    return found
