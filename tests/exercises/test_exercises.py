"""Every exercise can be solved, names the usual mistakes, and stands in its notebook."""

import ast
import dataclasses
import re
import sys
from pathlib import Path

import nbformat
import numpy as np
import pypandoc
import pytest

from gapfm_course import exercises
from gapfm_course.exercises import EXERCISES, check
from gapfm_course.exercises.core import NOT_YET, Exercise, judge
from gapfm_course.exercises.dialogue import dialogue

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = [
    p for p in sorted(FOLDER.iterdir()) if re.fullmatch(r"\d\d_\w+\.ipynb", p.name)
]
CHAPTERS = {
    number: getattr(exercises, f"chapter_{number}").EXERCISES
    for number in ("00", "01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11")
}
SOLUTION = re.compile(r'<details class="solution">(.*?)</details>', re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
HINT = '<details class="hint">'

every_exercise = pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)
every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def check_calls(source: str) -> list[tuple[str, str]]:
    """The calls check("name", answer) in a code cell, as (name, text of answer)."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [
        (call.args[0].value, ast.unparse(call.args[1]))
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == "check"
    ]


def posed(path):
    """For each check in a notebook: (name, text of answer, its cell, the prose below it).

    That prose, with hints and solution, ends at the next heading or code cell.
    """
    found, below = [], False
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            calls = check_calls(cell.source)
            found += [[*call, cell, ""] for call in calls]
            below = bool(calls)
        elif cell.source.startswith("#"):
            below = False
        elif below:
            found[-1][3] += cell.source + "\n"
    return found


# The exercises themselves


def test_names_are_unique():
    assert len(EXERCISES) == sum(map(len, CHAPTERS.values()))


@every_exercise
def test_the_solution_is_accepted(exercise):
    assert judge(exercise, exercise.solution) == f"✓ {exercise.right}"


@every_exercise
def test_every_mistake_is_named(exercise):
    """Also shows that no mistake agrees with the solution or with one listed before it."""
    assert len(exercise.mistakes) >= 2
    for message, answer in exercise.known_mistakes():
        assert judge(exercise, answer) == f"✗ {message}"


@every_exercise
def test_a_blank_is_no_mistake(exercise):
    assert judge(exercise, ...) == judge(exercise, None) == NOT_YET
    if exercise.inputs:
        assert judge(exercise, lambda *arguments: ...) == NOT_YET


@every_exercise
def test_nonsense_is_answered_politely(exercise):
    verdict = judge(exercise, (lambda *arguments: 1 / 0) if exercise.inputs else "no idea")
    assert verdict.startswith("✗")
    assert "Traceback" not in verdict


# The notebooks that pose them


@every_notebook
def test_a_notebook_poses_exactly_the_exercises_of_its_chapter(path):
    names = [name for name, *_ in posed(path)]
    assert names == [exercise.name for exercise in CHAPTERS[path.stem[:2]]]


@every_notebook
def test_a_page_shows_what_is_said_to_a_slip_and_to_a_right_answer(path):
    """And not that the stub, which is stored, is not solved yet: on a page nobody can solve it."""
    for name, _, cell, _ in posed(path):
        (output,) = cell.outputs
        slip, answer = output.data["text/markdown"].split('<details class="solution">')
        assert f"\n> ✗ {next(iter(EXERCISES[name].mistakes))}\n" in slip, name
        assert f"\n> ✓ {EXERCISES[name].right}\n" in answer, name


@every_notebook
def test_the_printed_solutions_are_right(path):
    for name, answer, _, prose in posed(path):
        folded = SOLUTION.findall(prose)
        assert len(folded) == 1, f"{name} needs one solution, it has {len(folded)}"
        (code,) = PYTHON.findall(folded[0])
        namespace = {}
        exec(code, namespace)
        verdict = judge(EXERCISES[name], eval(answer, namespace))
        assert verdict.startswith("✓"), f"{name}: {verdict}"


@every_notebook
def test_hints_come_before_the_solution(path):
    for name, _, _, prose in posed(path):
        assert HINT in prose.partition('<details class="solution">')[0], name


# The judge

SQUARES = Exercise(
    name="squares",
    solution=np.square,
    inputs=[(np.array([1.0, 3.0]),), (np.array([-2.0]),)],
    right="Right.",
    mistakes={"You doubled.": lambda x: 2 * x},
)


def doubled_in_place(numbers):
    numbers *= 2
    return numbers


def squared_in_place(numbers):
    numbers *= numbers
    return numbers


CHANGED = (
    "Your function changed `numbers`, which it was given. Work on a copy, `numbers.copy()`."
)


def test_an_answer_that_must_not_write_into_its_inputs():
    kept = dataclasses.replace(SQUARES, keeps_inputs=True)
    assert judge(kept, np.square) == "✓ Right."
    assert judge(kept, squared_in_place) == f"✗ {CHANGED}"


def test_a_wrong_answer_that_writes_into_its_inputs_is_told_just_that():
    assert judge(SQUARES, doubled_in_place) == f"✗ {CHANGED}"


def test_a_right_answer_that_writes_into_its_inputs_is_right_and_told():
    said = judge(SQUARES, squared_in_place).splitlines()
    assert said[0] == "✓ Right."
    assert "your function changed `numbers`" in said[1]


def test_what_was_changed_is_named_where_the_argument_has_no_name():
    assert "changed `argument 1`" in judge(SQUARES, lambda *all: doubled_in_place(*all))


ANSWERS = {
    "right": (lambda x: x * x, "✓ Right."),
    "right but for rounding": (lambda x: x * x * (1 + 1e-9), "✓ Right."),
    "a mistake that is known": (lambda x: x * 2, "✗ You doubled."),
    "something else": (lambda x: x * x + x + 1, "✗ Not this: got [ 3., 13.]"),
    "right here, wrong there": (
        lambda x: x * x * (x[0] > 0),
        "✗ Right for 1 of 2 inputs, but not this: got [0.]",
    ),
    "a number for an array": (
        lambda x: np.sum(x * x),
        "✗ You return a single number; asked for is 2 numbers in a row",
    ),
    "a table for an array": (
        lambda x: (x * x)[:, None],
        "✗ You return a table of shape (2, 1), rows and columns; asked for is 2 numbers",
    ),
    "nan": (lambda x: x * np.nan, "✗ Not this: got [nan, nan]"),
    "a text": (lambda x: "text", "✗ "),
    "rows of unequal length": (
        lambda x: [[1.0], [2.0, 3.0]],
        "✗ The rows of the result differ in length",
    ),
    "a huge whole number": (lambda x: 10**400, "✗ You return a single number"),
    "still dots": (lambda x: ..., NOT_YET),
    "nothing given back": (lambda x: None, "✗ Your function gave nothing back"),
    "no function": (np.array([1.0, 9.0]), "✗ This asks for a function"),
}


@pytest.mark.parametrize(("answer", "says"), ANSWERS.values(), ids=ANSWERS)
def test_the_judge_tells_what_is_wrong(answer, says):
    assert judge(SQUARES, answer).startswith(says)


def raises(self, *arguments, **options):
    raise RuntimeError("no")


HOSTILE = {
    name: type("Hostile", (), {name: raises, "__hash__": None})()
    for name in ("__array__", "__float__", "__repr__", "__eq__", "__class__", "__bool__")
}
HUGE = {
    "text": "x" * 10**6,
    "rows": [["x" * 1000] * 1000],
    "dimensions": np.zeros((9,) * 5),
    "a function that stops": lambda *arguments: {}["x" * 10**6],
    "lines": lambda *arguments: {}["x\n" * 10**5],
    "the end": lambda *arguments: sys.exit(),
}


@pytest.mark.parametrize("name", ["by-hand", "share-empty", "gradient-check"])
@pytest.mark.parametrize("answer", (HOSTILE | HUGE).values(), ids=HOSTILE | HUGE)
def test_whatever_an_answer_is_the_verdict_is_short_and_against_it(name, answer):
    for given in (answer, lambda *arguments: answer):
        said = judge(EXERCISES[name], given)
        assert said.startswith("✗")
        assert len(said) < 30_000


def test_what_equals_everything_is_not_yes():
    always = type("Always", (), {"__eq__": lambda self, other: True, "__hash__": None})()
    for given in (always, 1, 1.0):
        said = judge(EXERCISES["gradient-check"], lambda *arguments: given)  # noqa: B023
        assert said.startswith("✗ Asked for is `True` or `False`")


def test_an_array_where_yes_or_no_is_asked_for_is_answered():
    said = judge(EXERCISES["gradient-check"], lambda *arguments: np.ones(3))
    assert said.startswith("✗ You return 3 numbers in a row; asked for is a single number")


def test_an_answer_that_spoils_its_inputs_harms_nobody():
    def spoil(x):
        result = x * x
        x[:] = 0
        return result

    assert judge(SQUARES, spoil).startswith("✓ Right.")
    assert judge(SQUARES, np.square) == "✓ Right."


@pytest.mark.usefixtures("place")
def test_check_prints_the_verdict(capsys):
    check("share-empty", EXERCISES["share-empty"].solution)
    assert capsys.readouterr().out.startswith("✓ ")


@pytest.mark.parametrize("static", ["", "1"])
def test_an_answer_is_judged_wherever_it_is_given(static, monkeypatch, capsys):
    monkeypatch.setenv("GAPFM_TEACH_STATIC", static)
    check("share-empty", lambda m, n, s: s / (m * n))
    assert capsys.readouterr().out.startswith("✗ This is the share of cells")


def test_a_stub_in_a_notebook_of_one_s_own_is_told_what_to_do(monkeypatch, capsys):
    monkeypatch.delenv("GAPFM_TEACH_STATIC", raising=False)
    check("share-empty", lambda *arguments: ...)
    assert capsys.readouterr().out == NOT_YET + "\n"


def test_a_dialogue_shows_the_numbers_of_a_slip_beside_those_of_a_right_answer():
    shown = dialogue(SQUARES).splitlines()
    assert shown[0].endswith("A usual slip, which gives `[2., 6.]` for `[1., 3.]`:")
    assert shown[2] == "> ✗ You doubled."
    assert "A right answer, which gives `[1., 9.]` for `[1., 3.]`:" in shown
    assert "> ✓ Right." in shown


def test_a_dialogue_takes_inputs_by_which_a_slip_can_be_told():
    twos = dataclasses.replace(SQUARES, inputs=[(np.array([2.0]),), (np.array([3.0]),)])
    assert "which gives `[6.]` for `[3.]`:" in dialogue(twos)


@pytest.mark.parametrize("value", [np.eye(3), np.arange(40.0)])
def test_a_dialogue_leaves_out_what_no_line_can_hold(value):
    large = dataclasses.replace(SQUARES, inputs=[(value,)])
    assert "A usual slip:" in dialogue(large)


@every_exercise
def test_verdicts_come_through_markdown_whole(exercise):
    """Their stars and ticks are meant as Markdown; nothing else is taken for it."""
    shown = pypandoc.convert_text(dialogue(exercise), "plain", "markdown", ["--wrap=none"])
    letters = re.sub(r"[\W_]", "", shown)
    for said in (next(iter(exercise.mistakes)), exercise.right):
        assert re.sub(r"[\W_]", "", said) in letters


def test_check_knows_no_such_exercise():
    with pytest.raises(ValueError, match=r"no exercise is called 'recal'.*share-empty"):
        check("recal", 1)
