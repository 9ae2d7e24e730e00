"""Data sets as Ratings: MovieLens, and simulated ones with a known truth."""

from .download import DownloadError
from .movielens import load_movielens
from .simulate import simulate_ratings

__all__ = ["DownloadError", "load_movielens", "simulate_ratings"]
