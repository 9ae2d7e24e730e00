"""What is wrong with this machine, and how to fix it: for one person, and for a whole class."""

from __future__ import annotations  # an older Python must get as far as being named

from .classroom import main as main_for_class
from .environment import Check, check_environment, find_chromium, main, report
from .warming import main as warm_up
from .warming import precompile, uncompiled

__all__ = [
    "Check",
    "check_environment",
    "find_chromium",
    "main",
    "main_for_class",
    "precompile",
    "report",
    "uncompiled",
    "warm_up",
]
