"""The compiled code of training and evaluation: arrays in, `out` arrays filled; no I/O, no checks.

Each kernel has a twin in plain NumPy, and a test that compares the two:

    kernel                                     twin                                  test
    gradient.pair_sums, user_sums              paper.smoothed_gap, .._gradient       test_kernels
    gradient.chebyshev_sums                    consistent.fast_sums.interpolated_..    test_fast_sum
    gradient.gradients                         paper.objective, .._gradient(s)       test_kernels
    gradient.misranking, select_highest        paper.misranking, adaptive_..         test_kernels
    gradient.update_items_in_turn              paper.iteration(in_turn=True)         test_kernels
    consistent.consistent_pair_sums            consistent.measures.consistent_measure  test_consistent_sums
    consistent.consistent_chebyshev_sums       consistent.fast_sums.interpolated_..    test_consistent_sums
    consistent.draw_unrated                    consistent.measures.sample_unrated      test_consistent_sums
    lists.list_measures, gap_at_ranks          metrics                               test_evaluation_lists, test_kernels
    lists.held_out_ranks, top_grades           sorting the whole list                test_evaluation_lists, test_kernels

A kernel may call one in another file of its folder: `jit` compiles anew when any of them has changed. Kernels for many users take the first of them and the one after the last:
`parallel_for` gives each thread a part. Random numbers come from NumPy through arguments. The lab's
systems and its Netflix simulation keep their kernels in `gapfm_lab`. Where Numba is missing
nothing is compiled, and `without_numba` has a form in NumPy of what would take minutes.
"""

from .consistent import (
    CASCADE,
    FEWEST_TERMS,
    PAIRS,
    POWER,
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
    FEWEST_BY_NODES,
    TOLERANCE,
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
from .jit import CACHE_ENABLED, COMPILED, damaged_cache, n_kept, njit
from .lists import (
    draw_lists,
    gap_at_ranks,
    held_out_ranks,
    list_measures,
    score_rated,
    top_grades,
)
from .threads import MOST_THREADS, n_threads, parallel_for, using_threads

__all__ = [
    "CACHE_ENABLED",
    "CASCADE",
    "COMPILED",
    "FEWEST_BY_NODES",
    "FEWEST_TERMS",
    "MOST_THREADS",
    "PAIRS",
    "POWER",
    "PRECISION",
    "RECALL",
    "TOLERANCE",
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
    "n_kept",
    "n_threads",
    "njit",
    "normalize_gains",
    "pair_sums",
    "parallel_for",
    "score_rated",
    "select_highest",
    "top_grades",
    "update_items_in_turn",
    "user_coefficients",
    "user_sums",
    "using_threads",
]
