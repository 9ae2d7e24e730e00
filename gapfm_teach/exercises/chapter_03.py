"""Exercises of notebook 03."""

from .core import Exercise

EXERCISES: list[Exercise] = []
