"""The Netflix Prize data: read from what people have, or simulated in the same files."""

from .load import load_netflix
from .simulate import simulate_netflix

__all__ = ["load_netflix", "simulate_netflix"]
