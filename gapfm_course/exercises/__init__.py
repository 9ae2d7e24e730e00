"""Exercises that check themselves: `check(name, answer)` says what is right, or which slip it was.

The answer is a function, run on fresh inputs, or a value. A wrong answer is compared with the
known mistakes of the exercise; when one of them gives the same results, its message is shown.
Where the environment variable GAPFM_TEACH_STATIC is 1, as in stored notebooks, an exercise that is
still open shows what answers get, since a page answers nobody.
After `record_results(name)`, and not before, what `check` says is also kept for a report.
"""

import os
from importlib import import_module

from .core import NOT_YET, Exercise, judge
from .dialogue import dialogue
from .progress_log import forget_results, keep, record_results

EXERCISES: dict[str, Exercise] = {
    exercise.name: exercise
    for number in range(12)
    for exercise in import_module(f".chapter_{number:02}", __name__).EXERCISES
}

__all__ = [
    "EXERCISES",
    "Exercise",
    "assert_solved",
    "check",
    "forget_results",
    "record_results",
]


def check(name: str, answer) -> None:
    """Print the verdict on an answer to the exercise `name`, a key of `EXERCISES`.

    `answer` is a function for exercises that ask for one, else a value; None or ... counts as
    not solved yet, and so does a function that raises NotImplementedError. Raises ValueError for
    an unknown name.
    """
    exercise = _named(name)
    verdict = judge(exercise, answer)
    if verdict == NOT_YET and os.environ.get("GAPFM_TEACH_STATIC") == "1":
        from IPython.display import Markdown, display  # only where notebooks are stored

        display(Markdown(dialogue(exercise)))
    else:
        print(verdict)
    keep(exercise, verdict)


def assert_solved(name: str, answer) -> None:
    """Raise AssertionError with the verdict, unless `answer` solves the exercise `name`.

    For tests that a program runs, as nbgrader does. Raises ValueError for an unknown name.
    """
    verdict = judge(_named(name), answer)
    if not verdict.startswith("✓"):
        raise AssertionError(verdict)


def _named(name: str) -> Exercise:
    if name not in EXERCISES:
        raise ValueError(
            f"no exercise is called {name!r}; there are {', '.join(EXERCISES)}"
        )
    return EXERCISES[name]
