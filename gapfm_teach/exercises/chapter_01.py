"""Exercises of notebook 01."""

from .core import Exercise

EXERCISES: list[Exercise] = []
