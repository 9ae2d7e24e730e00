"""Exercises that check themselves: `check(name, answer)` says what is right, or which slip it was.

The answer is a function, run on fresh inputs, or a value. A wrong answer is compared with the
known mistakes of the exercise; when one of them gives the same results, its message is shown.
Where the environment variable GAPFM_TEACH_STATIC is 1, as in stored notebooks, an exercise that is
still open shows what answers get, since a page answers nobody.
"""

import os

from . import (
    chapter_00,
    chapter_01,
    chapter_02,
    chapter_03,
    chapter_04,
    chapter_05,
    chapter_06,
    chapter_07,
    chapter_08,
    chapter_09,
    chapter_10,
    chapter_11,
)
from .core import NOT_YET, Exercise, Mistake, judge
from .dialogue import dialogue

EXERCISES: dict[str, Exercise] = {
    exercise.name: exercise
    for chapter in (
        chapter_00,
        chapter_01,
        chapter_02,
        chapter_03,
        chapter_04,
        chapter_05,
        chapter_06,
        chapter_07,
        chapter_08,
        chapter_09,
        chapter_10,
        chapter_11,
    )
    for exercise in chapter.EXERCISES
}

__all__ = ["EXERCISES", "Exercise", "Mistake", "check"]


def check(name: str, answer) -> None:
    """Print the verdict on an answer to the exercise `name`, a key of `EXERCISES`.

    `answer` is a function for exercises that ask for one, else a value; None or ... counts as
    not solved yet. Raises ValueError for an unknown name.
    """
    if name not in EXERCISES:
        raise ValueError(
            f"no exercise is called {name!r}; there are {', '.join(EXERCISES)}"
        )
    verdict = judge(EXERCISES[name], answer)
    if verdict == NOT_YET and os.environ.get("GAPFM_TEACH_STATIC") == "1":
        from IPython.display import Markdown, display  # only where notebooks are stored

        display(Markdown(dialogue(EXERCISES[name])))
    else:
        print(verdict)
