"""The paper's experiments on training, one function each; every one returns a tidy DataFrame.

"Held-out GAP" is what `GAPfm.history_` calls `validation_gap`: the mean over users of the GAP of
their held-out items, ranked among all items that are not in training. The paper does not say what
its validation GAP ranks against; this choice is ours.
"""

from .common import LEARNING_RATES, held_out_gap, split_three, trace
from .convergence import (
    algorithm_readings,
    effectiveness,
    escape,
    escape_matrix,
    learning_rate_search,
    stopped_early,
    top_direction,
)
from .misranked import RULES, loss_split, one_step, static_gain
from .optimum import degeneration, personality, supremum
from .selecting import (
    STARTS,
    selection_explorable,
    selection_pushes,
    selection_rules,
    selection_run,
    selection_sweep,
    selection_visits,
)
from .train_page import invented_films, training_on_demand

__all__ = [
    "LEARNING_RATES",
    "RULES",
    "STARTS",
    "algorithm_readings",
    "degeneration",
    "effectiveness",
    "escape",
    "escape_matrix",
    "held_out_gap",
    "invented_films",
    "learning_rate_search",
    "loss_split",
    "one_step",
    "personality",
    "selection_explorable",
    "selection_pushes",
    "selection_rules",
    "selection_run",
    "selection_sweep",
    "selection_visits",
    "split_three",
    "static_gain",
    "stopped_early",
    "supremum",
    "top_direction",
    "trace",
    "training_on_demand",
]
