"""Which unrated items an iteration sees: for every objective, on one machine and on many.

The random numbers depend on the training's `sample_key` and on the number of the iteration alone.
So a resumed training, and a part of the users on another machine, get the numbers they would have
got anyway.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class IterationContext(NamedTuple):
    """Whose pass over the ratings this is.

    iteration : from 1 on. users : which of all users the ratings are of. sample_key : as of the
    function of this name; empty where the objective takes no samples.
    """

    iteration: int
    users: range
    sample_key: Sequence[int] | np.ndarray


def sample_key(rng: np.random.Generator) -> np.ndarray:
    """What all samples of a training depend on, (4,): drawn once, after U and V."""
    return rng.integers(2**32, size=4)


def uniforms(context: IterationContext, n_negatives: int, n_items: int) -> np.ndarray:
    """Numbers in [0, 1) from which the kernels draw unrated items, (users, n).

    They are one stream, in which each user has a place: some of the users get the numbers that
    they get among all. Of a catalogue no larger than the sample all items come, whatever the
    numbers are; so n is never larger than that.
    """
    n = min(n_negatives, n_items)
    stream = np.random.PCG64([*map(int, context.sample_key), context.iteration])
    stream.advance(context.users.start * n)
    return np.random.Generator(stream).random((len(context.users), n))
