"""What `check` answers, for a page on which nothing runs."""

from typing import Any

from .core import Exercise, judge, result_of, short

LONGEST = 60  # characters of an input or a result that a line of prose can hold


def dialogue(exercise: Exercise) -> str:
    """A usual slip with the verdict on it, and a right answer with its own in a fold, as Markdown."""
    _, slip = next(exercise.known_mistakes())
    arguments = _telling(exercise, slip)
    gives = [_gives(answer, arguments) for answer in (slip, exercise.solution)]
    wrong, right = gives if all(gives) else ("", "")
    return "\n".join(
        [
            f"In a notebook, `check` answers at once. A usual slip{wrong}:",
            f"\n> {judge(exercise, slip)}\n",
            '<details class="solution">\n<summary>What a right answer gets</summary>\n',
            f"A right answer{right}:",
            f"\n> {judge(exercise, exercise.solution)}\n",
            "</details>",
        ]
    )


def _telling(exercise: Exercise, slip: Any) -> tuple:
    """The first inputs for which the slip gives something else than the solution."""
    for arguments in exercise.inputs:
        if short(result_of(slip, arguments)) != short(
            result_of(exercise.solution, arguments)
        ):
            return arguments
    return ()


def _gives(answer: Any, arguments: tuple) -> str:
    """What `answer` is, or gives for the `arguments`; nothing where that is too long to be read."""
    if any(map(callable, arguments)):
        return ""
    given = ", ".join(map(short, arguments))
    result = short(result_of(answer, arguments)).rstrip(".")
    if max(len(given), len(result)) > LONGEST or "\n" in given + result:
        return ""
    return f", which gives `{result}` for `{given}`" if given else f", `{result}`"
