"""gapfm_teach: the Graded Average Precision factor model, to learn from and to teach with.

The public names load on first use, so that `python -m gapfm_teach doctor` starts, and can say
what is missing, where a package is missing.
"""

from __future__ import annotations  # an older Python must get as far as being named

from ._support.lazy import lazily

__version__ = "0.1.0"

_HOME = {
    "adaptive_selection": "paper",
    "average_precision": "metrics",
    "compare": "intervals",
    "compare_splits": "intervals",
    "cumulative_weights": "paper",
    "evaluate_ranking": "evaluation",
    "evaluate_top_n": "evaluation",
    "expected_reciprocal_rank": "metrics",
    "GAPfm": "model",
    "graded_average_precision": "metrics",
    "graded_precision": "metrics",
    "graded_recall": "metrics",
    "item_gradients": "paper",
    "load_movielens": "datasets",
    "load_netflix": "datasets",
    "ndcg": "metrics",
    "objective": "paper",
    "precision": "metrics",
    "ranking_per_user": "evaluation",
    "Ratings": "ratings",
    "simulate_ratings": "datasets",
    "smoothed_gap": "paper",
    "smoothed_gap_gradient": "paper",
    "split_given": "splits",
    "summarize_splits": "intervals",
    "thresholding_probabilities": "paper",
    "top_n_per_user": "evaluation",
    "user_gradient": "paper",
}

__all__ = list(_HOME)

__getattr__, __dir__ = lazily(__name__, _HOME)
