"""All compiled code: arrays in, `out` arrays filled; no I/O, no checks.

Twin of `smooth`, `consistent`, `relatives`, `selection` and `metrics`, and tested against them. A
compiled function calls compiled functions of its own file only, because the compiler's cache does
not notice a change in another one: `gradient` and `consistent` for training, `lists` for
evaluation, `text` and `simulation` for Netflix's files. Random numbers come from NumPy through
arguments; `simulation` alone draws its own, from a seed for each user.
"""

from .consistent import (
    CASCADE,
    PAIRS,
    PRECISION,
    RECALL,
    consistent_chebyshev_sums,
    consistent_gradients,
    consistent_pair_sums,
    consistent_sums,
    draw_unrated,
    normalize_gains,
)
from .gradient import (
    TOLERANCE,
    add_blocks,
    arrange_by_grade,
    chebyshev_nodes,
    chebyshev_sums,
    gradients,
    misranking,
    pair_sums,
    select_highest,
    update_items_in_turn,
    user_coefficients,
    user_sums,
)
from .jit import CACHE_ENABLED, damaged_cache  # after the files that compile: they set it
from .lists import (
    draw_lists,
    gap_at_ranks,
    held_out_ranks,
    list_measures,
    score_rated,
    top_grades,
)

__all__ = [
    "CACHE_ENABLED",
    "CASCADE",
    "PAIRS",
    "PRECISION",
    "RECALL",
    "TOLERANCE",
    "add_blocks",
    "arrange_by_grade",
    "chebyshev_nodes",
    "chebyshev_sums",
    "consistent_chebyshev_sums",
    "consistent_gradients",
    "consistent_pair_sums",
    "consistent_sums",
    "damaged_cache",
    "draw_lists",
    "draw_unrated",
    "gap_at_ranks",
    "gradients",
    "held_out_ranks",
    "list_measures",
    "misranking",
    "normalize_gains",
    "pair_sums",
    "score_rated",
    "select_highest",
    "top_grades",
    "update_items_in_turn",
    "user_coefficients",
    "user_sums",
]
