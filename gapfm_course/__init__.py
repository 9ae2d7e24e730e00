"""The course: exercises, explorables, the class edition of the notebooks, and the doctor.

A notebook needs two names of it: `check` and `explorable`.
"""

from __future__ import annotations  # an older Python must get as far as being named

from gapfm_teach._support.lazy import lazily

_HOME = {"check": "exercises", "explorable": "explorables"}

__all__ = list(_HOME)

__getattr__, __dir__ = lazily(__name__, _HOME)
