"""The course: exercises, explorables, the class edition of the notebooks, and the doctor.

A notebook needs three names of it: `check`, `explorable` and `use_notebook_style`.
"""

from __future__ import annotations  # an older Python must get as far as being named

from gapfm_teach._support.lazy import lazily

_HOME = {
    "check": "exercises",
    "explorable": "explorables",
    "use_notebook_style": "notebook_output",
}

__all__ = list(_HOME)

__getattr__, __dir__ = lazily(__name__, _HOME)
