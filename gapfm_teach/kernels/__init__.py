"""The compiled code of training and evaluation: arrays in, `out` arrays filled; no I/O, no checks.

Each kernel has a twin in plain NumPy, and a test that compares the two:

    kernel                                twin                                   test
    paper_nodes.pair_sums, user_sums      paper.smoothed_gap, .._gradient        test_kernels
    paper_nodes.chebyshev_sums            consistent.fast_sums.interpolated_..   test_fast_sum
    paper_gradients.gradients             paper.objective, .._gradient(s)        test_kernels
    paper_gradients.update_items_in_turn  paper.iteration(in_turn=True)          test_kernels
    selection.misranking, select_highest  paper.misranking, adaptive_..          test_kernels
    consistent_pairs.consistent_pair_..   consistent.measures                    test_consistent_sums
    consistent_nodes.consistent_cheb..    consistent.fast_sums.interpolated_..   test_consistent_sums
    consistent_gradients.draw_unrated     consistent.measures.sample_unrated     test_consistent_gap
    lists.list_measures, gap_at_ranks     metrics                                test_evaluation_lists
    lists.held_out_ranks, top_grades      sorting the whole list                 test_evaluation_lists

A kernel may call one in another file: `jit` compiles anew when a source in its folder has changed.
A kernel for many users takes the first of them and the one after the last, and `parallel_for` gives
each thread a part. Random numbers come from NumPy through arguments. Where Numba is missing nothing
is compiled, and `without_numba` has a form in NumPy of the loops that would take minutes.
"""

from .chebyshev import chebyshev_nodes
from .consistent_gradients import consistent_gradients, draw_unrated
from .consistent_nodes import FEWEST_TERMS, consistent_chebyshev_sums, consistent_sums
from .consistent_pairs import (
    CASCADE,
    PAIRS,
    POWER,
    PRECISION,
    RECALL,
    consistent_pair_sums,
    normalize_gains,
)
from .jit import CACHE_ENABLED, COMPILED, damaged_cache, is_kept, njit
from .lists import (
    draw_lists,
    gap_at_ranks,
    held_out_ranks,
    list_measures,
    score_rated,
    top_grades,
)
from .paper_gradients import gradients, update_items_in_turn, user_coefficients
from .paper_nodes import FEWEST_BY_NODES, TOLERANCE, chebyshev_sums, pair_sums, user_sums
from .selection import arrange_by_grade, misranking, select_highest
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
    "is_kept",
    "list_measures",
    "misranking",
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
