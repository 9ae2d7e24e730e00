"""The Netflix Prize data, read as people hold them."""

from .load import load_netflix

__all__ = ["load_netflix"]
