"""Ratings of Netflix's size: the real files where there are some, and a simulation elsewhere."""

import contextlib
import os

import numpy as np

from gapfm_teach._support.checks import check_random_state, check_real
from gapfm_teach.datasets import load_netflix
from gapfm_teach.datasets.download import data_folder
from gapfm_teach.ratings import Ratings
from gapfm_teach.splits import select_users

from ..netflix_simulation import simulate_netflix
from ..paper import FEWEST_RATINGS

PLACE = "GAPFM_TEACH_NETFLIX"  # names the real files, as `load_netflix` takes them


def netflix(scale: float = 0.01, path=None) -> tuple[Ratings, Ratings]:
    """(training, probe) of a share `scale` of Netflix's users, above 0 and at most 1.

    From the real files where `path`, or else the environment variable GAPFM_TEACH_NETFLIX,
    names them: the users are drawn with seed 0. Otherwise simulated with seed 0, written once
    and kept in the data folder as `simulated-netflix-SCALE`. `source` says which of both.
    Raises ValueError for another scale, and as `load_netflix` and `simulate_netflix` do.
    """
    scale = check_real(scale, "scale", low_open=True)
    if scale > 1:
        raise ValueError(f"scale must be at most 1, the whole of the data; got {scale:g}")
    if path is None:
        path = os.environ.get(PLACE) or None
    if path is not None:
        return _share_of_users(*load_netflix(path), scale)
    folder = data_folder() / f"simulated-netflix-{scale:g}"
    if not folder.exists():
        with contextlib.suppress(FileExistsError):  # another program was faster
            simulate_netflix(folder, scale, random_state=0)
    return load_netflix(folder)


def _share_of_users(train: Ratings, probe: Ratings, scale: float):
    if scale == 1:
        return train, probe
    drawn = check_random_state(0).random(train.n_users) < scale
    what = f"{scale:.3g} of the users"
    return select_users(train, drawn, what), select_users(probe, drawn, what)


def active_users(train: Ratings, probe: Ratings) -> tuple[Ratings, Ratings]:
    """Both parts for users with at least 50 training ratings, as section 5.1.1 has it."""
    kept = np.diff(train.indptr) >= FEWEST_RATINGS
    what = f"users with {FEWEST_RATINGS} ratings or more"
    return select_users(train, kept, what), select_users(probe, kept, what)
