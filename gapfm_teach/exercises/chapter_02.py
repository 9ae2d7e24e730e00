"""Exercises of notebook 02."""

from .core import Exercise

EXERCISES: list[Exercise] = []
