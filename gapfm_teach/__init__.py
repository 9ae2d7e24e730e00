"""gapfm_teach: the Graded Average Precision factor model, to learn from and to teach with."""

from .datasets import load_movielens, simulate_ratings
from .evaluation import evaluate_ranking, evaluate_top_n
from .metrics import (
    average_precision,
    expected_reciprocal_rank,
    graded_average_precision,
    graded_precision,
    graded_recall,
    ndcg,
    precision,
    thresholding_probabilities,
)
from .model import GAPfm
from .ratings import Ratings, split_given
from .selection import adaptive_selection, random_selection
from .smooth import (
    item_gradients,
    objective,
    smoothed_gap,
    smoothed_gap_gradient,
    user_gradient,
)

__version__ = "0.1.0"

__all__ = [
    "GAPfm",
    "Ratings",
    "adaptive_selection",
    "average_precision",
    "evaluate_ranking",
    "evaluate_top_n",
    "expected_reciprocal_rank",
    "graded_average_precision",
    "graded_precision",
    "graded_recall",
    "item_gradients",
    "load_movielens",
    "ndcg",
    "objective",
    "precision",
    "random_selection",
    "simulate_ratings",
    "smoothed_gap",
    "smoothed_gap_gradient",
    "split_given",
    "thresholding_probabilities",
    "user_gradient",
]
