"""Experiments that several chapters or the command `reproduce` use; each returns a tidy DataFrame.

"Held-out GAP" is what `GAPfm.history_` calls `validation_gap`: the mean over users of the GAP of
their held-out items, ranked among all items that are not in training. The paper does not say what
its validation GAP ranks against; this choice is ours.
"""

from .common import LEARNING_RATES, held_out_gap, split_three, trace
from .convergence import effectiveness, escape_matrix, learning_rate_search, top_direction
from .optimum import personality
from .selecting import selection_sweep

__all__ = [
    "LEARNING_RATES",
    "effectiveness",
    "escape_matrix",
    "held_out_gap",
    "learning_rate_search",
    "personality",
    "selection_sweep",
    "split_three",
    "top_direction",
    "trace",
]
