"""What an exercise is, and how an answer is judged."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

NOT_YET = "○ Not solved yet. Replace the `...` and run the cell again."


@dataclass(frozen=True)
class Mistake:
    """A slip people make: what answering so gives, and what to tell them."""

    answer: Any  # like Exercise.solution: a function of the same inputs, or a value
    message: str


@dataclass(frozen=True)
class Exercise:
    """A question with a known answer.

    solution : a function of the inputs, or a value where `inputs` is empty.
    inputs : calls to try, each a tuple of arguments.
    right : what to say when it is solved: the point that the exercise makes.
    tolerance : largest accepted difference, relative to the largest entry of the right result.
    keeps_inputs : the answer must not write into the arrays it is given.
    """

    name: str
    solution: Any
    right: str
    inputs: Sequence[tuple] = ()
    mistakes: Sequence[Mistake] = field(default_factory=tuple)
    tolerance: float = 1e-6
    keeps_inputs: bool = False


def judge(exercise: Exercise, answer: Any) -> str:
    """The verdict on `answer`, one line or a few."""
    if answer is None or answer is ...:
        return NOT_YET
    if not exercise.inputs:
        return _verdict(exercise, [((), answer)])
    if not callable(answer):
        return f"✗ This asks for a function; got {answer!r}."
    tried = []
    for arguments in exercise.inputs:
        try:
            given = _copies(arguments)
            result = answer(*given)
        except (
            Exception
        ) as error:  # the learner's code may raise anything; it is shown to them
            return f"✗ Your function raised {type(error).__name__}: {error}\n  for {_call(arguments)}"
        if result is ...:
            return NOT_YET
        if result is None:
            return "✗ Your function gave nothing back. Is its `return` missing?"
        if exercise.keeps_inputs and not all(map(np.array_equal, given, arguments)):
            return f"✗ Your function changed what it was given. Work on a copy.{_for(arguments)}"
        tried.append((arguments, result))
    return _verdict(exercise, tried)


def _verdict(exercise: Exercise, tried: list[tuple[tuple, Any]]) -> str:
    wrong = _first_difference(exercise, exercise.solution, tried)
    if wrong is None:
        return f"✓ {exercise.right}"
    for mistake in exercise.mistakes:
        if _first_difference(exercise, mistake.answer, tried) is None:
            return f"✗ {mistake.message}"
    arguments, result = wrong
    shape = np.shape(result_of(exercise.solution, arguments))
    try:
        got = np.shape(result)
    except ValueError:  # a list of lists of unequal lengths
        return f"✗ The rows of the result differ in length; its shape should be {shape}.{_for(arguments)}"
    if got != shape:
        return f"✗ The result has shape {got}, it should have {shape}.{_for(arguments)}"
    return f"✗ Not this: got {short(result)}.{_for(arguments)}"


def _first_difference(exercise, expected: Any, tried) -> tuple[tuple, Any] | None:
    for arguments, result in tried:
        if not _agree(result, result_of(expected, arguments), exercise.tolerance):
            return arguments, result
    return None


def result_of(expected: Any, arguments: tuple) -> Any:
    return expected(*_copies(arguments)) if callable(expected) else expected


def _agree(result: Any, expected: Any, tolerance: float) -> bool:
    try:
        if isinstance(expected, (str, bool)):
            return bool(result == expected)
        got, want = np.asarray(result, dtype=float), np.asarray(expected, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return False
    scale = np.max(np.abs(want), initial=0.0, where=np.isfinite(want)) or 1.0
    return got.shape == want.shape and bool(
        np.allclose(got, want, rtol=0, atol=tolerance * scale, equal_nan=True)
    )


def _copies(arguments: tuple) -> tuple:
    """Fresh arrays for each call, so that an answer that writes into its inputs harms nobody."""
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)


def _for(arguments: tuple) -> str:
    return f"\n  for {_call(arguments)}" if arguments else ""


def _call(arguments: tuple) -> str:
    return "the inputs " + ", ".join(short(a) for a in arguments)


def short(value: Any) -> str:
    if callable(value):
        return getattr(value, "__name__", "a function")
    return np.array2string(np.asarray(value), precision=4, threshold=12, separator=", ")
