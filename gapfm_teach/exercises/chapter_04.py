"""Exercises of notebook 04."""

from .core import Exercise

EXERCISES: list[Exercise] = []
