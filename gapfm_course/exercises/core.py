"""What an exercise is, and how an answer is judged."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .diagnosis import diagnose
from .plain_words import explain_exception

NO_NUMBER = (
    "✗ This is not a number. Give it without quotes or formatting, and with a point before the "
    "decimals: `0.5`, not `0,5`."
)
MOST_LINES, LONGEST_LINE = 40, 500
NOT_YET = "○ Not solved yet. Replace the `...` and run the cell again."


@dataclass(frozen=True)
class Exercise:
    """A question with a known answer.

    solution : a function of the inputs, or a value where `inputs` is empty.
    inputs : calls to try, each a tuple of arguments.
    right : what to say when it is solved: the point that the exercise makes.
    mistakes : what to tell people: the answer, like `solution`, that is told so, or a list of them.
    tolerance : largest accepted difference, relative to the largest entry of the right result.
    keeps_inputs : whether an answer that writes into the arrays it is given is wrong for that.
    """

    name: str
    solution: Any
    right: str
    inputs: Sequence[tuple] = ()
    mistakes: Mapping[str, Any] = field(default_factory=dict)
    tolerance: float = 1e-6
    keeps_inputs: bool = False

    def known_mistakes(self) -> Iterator[tuple[str, Any]]:
        """Each (message, answer) of `mistakes`."""
        for message, answers in self.mistakes.items():
            for answer in answers if isinstance(answers, list) else [answers]:
                yield message, answer


def judge(exercise: Exercise, answer: Any) -> str:
    """The verdict on `answer`, one line or a few, whatever the answer is."""
    try:
        verdict = _judged(exercise, answer)
    except (Exception, SystemExit) as error:  # the answer's own methods may raise anything
        kind = type(error).__name__
        verdict = f"✗ Your answer cannot be looked at: that stops with {kind}."
    lines = verdict.splitlines()[:MOST_LINES]
    return "\n".join(shortened(line, LONGEST_LINE) for line in lines)


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _judged(exercise: Exercise, answer: Any) -> str:
    if answer is None or answer is ...:
        return NOT_YET
    if not exercise.inputs:
        return _verdict(exercise, [((), answer)])
    if not callable(answer):
        return f"✗ This asks for a function; got {answer!r}."
    tried, changed = [], ""
    for arguments in exercise.inputs:
        given = _copies(arguments)
        try:
            result = answer(*given)
        except NotImplementedError:  # what nbgrader puts where the answer is to stand
            return NOT_YET
        except (Exception, SystemExit) as error:  # a learner's code may raise anything
            return f"{explain_exception(error, answer)}{_for(arguments)}"
        if result is ...:
            return NOT_YET
        if result is None:
            return "✗ Your function gave nothing back. Is its `return` missing?"
        changed = changed or _changed(answer, given, arguments)
        tried.append((arguments, result))
    return _with_what_changed(exercise, _verdict(exercise, tried), changed)


def _changed(answer: Any, given: tuple, arguments: tuple) -> str:
    """The learner's own name of the first argument that her function has written into, or ""."""
    for place, (now, before) in enumerate(zip(given, arguments, strict=True)):
        if isinstance(before, np.ndarray) and not np.array_equal(now, before):
            code = getattr(answer, "__code__", None)
            names = code.co_varnames[: code.co_argcount] if code else ()
            return names[place] if place < len(names) else f"argument {place + 1}"
    return ""


def _with_what_changed(exercise: Exercise, verdict: str, changed: str) -> str:
    if not changed:
        return verdict
    if verdict.startswith("✓") and not exercise.keeps_inputs:
        return (
            f"{verdict}\n  One more thing: your function changed `{changed}`, which it was given. "
            f"Whoever uses that array again will wonder; work on a copy, `{changed}.copy()`."
        )
    return (
        f"✗ Your function changed `{changed}`, which it was given. Work on a copy, "
        f"`{changed}.copy()`."
    )


def _verdict(exercise: Exercise, tried: list[tuple[tuple, Any]]) -> str:
    if any(isinstance(result, str | bytes) for _, result in tried):
        return NO_NUMBER
    right = [_agrees(exercise, exercise.solution, *one) for one in tried]
    if all(right):
        return f"✓ {exercise.right}"
    for message, answer in exercise.known_mistakes():
        if all(_agrees(exercise, answer, *one) for one in tried):
            return f"✗ {message}"
    arguments, result = tried[right.index(False)]
    expected = result_of(exercise.solution, arguments)
    try:
        got = np.shape(result)
    except ValueError:  # a list of lists of unequal lengths
        return f"✗ The rows of the result differ in length.{_for(arguments)}"
    wanted = np.shape(expected)
    if isinstance(expected, bool) and got == () and not _is_yes_or_no(result):
        return (
            f"✗ Asked for is `True` or `False`; you return {short(result)}. If it is an error, compare it "
            f"with a tolerance.{_for(arguments)}"
        )
    if isinstance(result, tuple) and wanted == () and [*map(type, result)] == [int, int]:
        return NO_NUMBER
    if got != wanted:
        return f"✗ You return {_size(got)}; asked for is {_size(wanted)}.{_for(arguments)}"
    if alike := _alike(exercise, tried):
        return f"✗ {alike}"
    some = (
        f"Right for {sum(right)} of {len(right)} inputs, but not" if any(right) else "Not"
    )
    return f"✗ {some} this: got {short(result)}.{_for(arguments)}"


def _alike(exercise: Exercise, tried: list[tuple[tuple, Any]]) -> str:
    """What a wrong function has in common with the right one, "" if nothing."""
    expected = [result_of(exercise.solution, arguments) for arguments, _ in tried]
    if not exercise.inputs or isinstance(expected[0], bool):
        return ""  # yes or no: nothing lies between
    try:
        results = [np.asarray(result, dtype=float) for _, result in tried]
    except (TypeError, ValueError, OverflowError):
        return ""
    expected = [np.asarray(one, dtype=float) for one in expected]
    return diagnose(results, expected, lambda a, b: _agree(a, b, exercise.tolerance))


def _size(shape: tuple) -> str:
    """What an array of this shape is, in words."""
    if not shape:
        return "a single number"
    if len(shape) == 1:
        return f"{shape[0]} number{'s' * (shape[0] != 1)} in a row"
    if len(shape) == 2:
        return f"a table of shape {shape}, rows and columns"
    return f"an array of shape {shape}"


def _agrees(exercise: Exercise, expected: Any, arguments: tuple, result: Any) -> bool:
    return _agree(result, result_of(expected, arguments), exercise.tolerance)


def result_of(expected: Any, arguments: tuple) -> Any:
    return expected(*_copies(arguments)) if callable(expected) else expected


def _agree(result: Any, expected: Any, tolerance: float) -> bool:
    try:
        if isinstance(expected, bool):
            return _is_yes_or_no(result) and bool(result) is expected
        got, want = np.asarray(result, dtype=float), np.asarray(expected, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return False
    scale = np.max(np.abs(want), initial=0.0, where=np.isfinite(want)) or 1.0
    return got.shape == want.shape and bool(
        np.allclose(got, want, rtol=0, atol=tolerance * scale, equal_nan=True)
    )


def _is_yes_or_no(result: Any) -> bool:
    return isinstance(result, bool | np.bool_)


def _copies(arguments: tuple) -> tuple:
    """Fresh arrays for each call, so that an answer that writes into its inputs harms nobody."""
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)


def _for(arguments: tuple) -> str:
    inputs = ", ".join(short(a, entries=24) for a in arguments)
    return f"\n  for the inputs {inputs}" if arguments else ""


def short(value: Any, entries: int = 12) -> str:
    """`value` in a line or a few; of an array with more than `entries` entries, its ends."""
    if callable(value):
        return (value.__doc__ or "a function").partition("\n")[0]
    return np.array2string(
        np.asarray(value), precision=4, threshold=entries, separator=", "
    )
