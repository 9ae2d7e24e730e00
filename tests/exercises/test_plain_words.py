"""What a stopped function and an unknown wrong answer are told, in words about the student's code."""

import math

import numpy as np
import pytest

from gapfm_course.exercises import EXERCISES
from gapfm_course.exercises.core import Exercise, judge
from gapfm_teach.gradcheck import relative_error

HALVES = Exercise(
    name="halves",
    solution=lambda x: x / 2,
    inputs=[(np.array([4.0, 1.0, 3.0]),), (np.array([-1.0, 0.6, 8.2]),)],
    right="Right.",
)


def count_up(x):
    for value in x:
        total += value  # noqa: F821
    return total


def into_whole_numbers(x):
    result = np.zeros(3, dtype=int)
    result += x
    return result


def a_row_into_a_place(x):
    result = np.zeros(3)
    result[0] = x
    return result


def endless(x):
    return endless(x)


STOPPED = {
    "unequal lengths": (lambda x: x + np.ones(4), "do not fit, of shapes (3,) and (4,)"),
    "matrix product": (lambda x: np.ones((2, 2)) @ x, "here they are 2 and 3"),
    "dot": (lambda x: np.ones((2, 2)).dot(x), "here the shapes are (2,2) and (3,)"),
    "an array in a place": (a_row_into_a_place, "puts several numbers into a place"),
    "a ragged array": (
        lambda x: np.array([[1.0], [1.0, 2.0]]),
        "rows that differ in length",
    ),
    "math": (
        lambda x: math.log(x),
        "hands a whole array to something that takes one number",
    ),
    "if": (lambda x: x if x > 0 else -x, "asks a whole array for one yes or no"),
    "index": (lambda x: x[3], "asks for entry 3 of 3. Python counts from 0"),
    "list index": (lambda x: list(x)[3], "behind the end of a list"),
    "axis": (lambda x: x.sum(axis=1), "along `axis=1` of an array with 1 dimension(s)"),
    "two indices": (lambda x: x[0, 1], "gives 2 indices to an array with 1 dimension(s)"),
    "mask": (lambda x: x[np.array([True, False])], "picks from 3 entries with 2 values"),
    "fraction as index": (lambda x: x[4 / 2], "an index is no whole number"),
    "fractions as index": (lambda x: x[x / 2], "an index is no whole number"),
    "round brackets": (lambda x: x(0), "square brackets"),
    "a list's method": (lambda x: x.append(1), "an array has no `.append`"),
    "a number as a list": (
        lambda x: x[0][0],
        "treats a single number as if it were a list",
    ),
    "lists": (lambda x: list(x) / 2, "calculates with a list"),
    "print for return": (lambda x: print("", end="") / 2, "has no `return`"),
    "and": (lambda x: (x > 0) & x, "put brackets around each comparison"),
    "whole numbers": (into_whole_numbers, "adds fractions to an array of whole numbers"),
    "nothing to take": (lambda x: np.max(x[:0]), "takes the maximum of an empty array"),
    "reshape": (lambda x: x.reshape(2, 2), "reshapes 3 numbers to (2,2)"),
    "zero": (lambda x: 1 / 0, "divides by 0"),
    "unknown": (lambda x: halve(x), "`halve` is not known"),  # noqa: F821
    "no value yet": (count_up, "reads `total` before it has a value"),
    "no such function": (lambda x: np.halve(x), "`numpy` has nothing called `halve`"),
    "argument left out of def": (lambda: 1, "takes 0 argument(s) is called with 1"),
    "one more argument": (lambda x, y: 1, "without its argument(s) 'y'"),
    "endless": (endless, "calls itself without an end"),
}
JARGON = (
    "broadcast|core dimension|sequence|size-1|ambiguous|gufunc|ufunc|same_kind|subscript"
)


@pytest.mark.parametrize(("answer", "says"), STOPPED.values(), ids=STOPPED)
def test_the_words_are_about_the_students_code(answer, says):
    said = judge(HALVES, answer)
    assert says in said
    assert said.startswith("✗ Your function stopped with a")
    assert not any(word in said.splitlines()[0] for word in JARGON.split("|"))


def test_the_line_that_stopped_is_shown_and_no_path():
    said = judge(HALVES, a_row_into_a_place)
    assert said.splitlines()[1:] == [
        "  in the line: result[0] = x",
        "  for the inputs [4., 1., 3.]",
    ]


def test_an_error_of_her_own_is_told_as_it_is():
    def refuse(x):
        raise RuntimeError("no such film")

    assert "stopped with a RuntimeError: no such film" in judge(HALVES, refuse)


ALIKE = {
    "sign": (lambda x: -x / 2, "The size is right and the sign is not"),
    "factor": (lambda x: x, "all that you return is 2 times what is asked for"),
    "offset": (lambda x: x / 2 + 1, "All that you return is 1 more than what is asked for"),
    "upside down": (lambda x: 2 / x, "You return 1 divided by what is asked for"),
    "rest": (lambda x: 1 - x / 2, "You return 1 minus what is asked for"),
    "rounded": (lambda x: np.round(x / 2), "The right number, but rounded."),
    "rounded up": (lambda x: np.ceil(x / 2), "The right number, but rounded up."),
    "floor division": (lambda x: x // 2, "The right number, but rounded down."),
    "reversed": (lambda x: x[::-1] / 2, "The right numbers, in the reverse order"),
    "sorted": (lambda x: np.sort(x) / 2, "The right numbers, but sorted"),
    "nearly": (lambda x: x / 2 + 1e-4 * x**2, "Nearly: it is off by up to"),
    "always the same": (lambda x: 0 * x, "Whatever it is given, your function returns 0"),
}


@pytest.mark.parametrize(("answer", "says"), ALIKE.values(), ids=ALIKE)
def test_what_an_unknown_answer_has_in_common_with_the_right_one(answer, says):
    said = judge(HALVES, answer)
    assert says in said
    assert "\n" not in said


@pytest.mark.parametrize("decimals", range(5))
def test_a_rounded_answer_is_told_that_it_is_rounded(decimals):
    thirds = Exercise("thirds", lambda x: x / 3, "Right.", inputs=[(np.array([4.0, 1.0]),)])
    said = judge(thirds, lambda x: np.round(x / 3, decimals))
    assert said == "✗ The right number, but rounded. Give it as it comes out."


CLAIM = EXERCISES["gradient-check"]


def test_a_function_that_is_calculated_with_is_to_be_called():
    for answer in (
        lambda f, gradient, x: gradient - x,
        lambda f, gradient, x: relative_error(gradient, x),
    ):
        assert "Call it first: `gradient(x)`" in judge(CLAIM, answer)


def test_functions_among_the_inputs_are_told_in_words_and_arrays_whole():
    said = judge(CLAIM, lambda f, gradient, x: gradient(x)[0] > 0)
    assert "for the inputs f(x) = the sum of sin(x), gradient(x) = cos(x) with 0" in said
    for name, answer in [
        ("pushed-up", lambda grades, scores: len(grades) + 3),
        ("add-visits", lambda V, items, steps: V + 7),
    ]:
        given = judge(EXERCISES[name], answer).partition("for the inputs")[2]
        assert given
        assert "..." not in given


def test_what_is_like_the_right_answer_for_one_input_only_is_not_called_so():
    said = judge(HALVES, lambda x: x / 2 * np.sign(x[0]))
    assert said.startswith("✗ Right for 1 of 2 inputs, but not this")
