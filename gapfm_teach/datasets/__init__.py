"""Data sets as Ratings: MovieLens, Netflix, and simulated ones with a known truth."""

from .download import DownloadError
from .movielens import load_movielens
from .netflix import load_netflix
from .simulate import simulate_ratings

__all__ = [
    "DownloadError",
    "load_movielens",
    "load_netflix",
    "simulate_ratings",
]
