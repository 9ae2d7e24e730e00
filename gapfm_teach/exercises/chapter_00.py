"""Exercises of notebook 00."""

from .core import Exercise

EXERCISES: list[Exercise] = []
