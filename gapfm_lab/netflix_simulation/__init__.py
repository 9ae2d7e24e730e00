"""Files in the formats of the Netflix Prize data, simulated from a known latent truth."""

from .simulate import simulate_netflix

__all__ = ["simulate_netflix"]
