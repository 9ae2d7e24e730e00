"""Results of `check`, kept on this computer where the student has asked for it.

In a folder of their own: a file with her name, and one for each kernel, so that two kernels never
write into the same. A line has the exercise, whether it is solved, and the slip (of an unknown one, how
the result begins); nothing else.
"""

import contextlib
import json
import re
import secrets
from pathlib import Path

import platformdirs

from gapfm_teach._support.files import replacing

from .core import NOT_YET, Exercise, shortened

STUDENT = "student.json"
KERNEL = re.compile(r"\d{4}_[0-9a-f]{8}\.jsonl")
FORMAT = "gapfm_teach results"
LONGEST_NAME, LONGEST_ANSWER = 80, 60
# A spreadsheet calculates what begins so; some of them part columns at a semicolon.
FORMULA = re.compile(r"(^|;)\s*[=+@-]")
_own: list[str] = []  # the name of this kernel's file, once it has one


def folder() -> Path:
    """Where results are kept: in the platform's folder for a user's data."""
    return platformdirs.user_data_path("gapfm_teach") / "results"


def record_results(name: str) -> None:
    """From now on, in every notebook, keep what `check` says; `forget_results` undoes it.

    name : what the report is to call you, one line. Raises ValueError for another one, and where
    the results of somebody else are kept; OSError where no file can be written.
    """
    name = checked_name(name)
    if is_kept() and student() != name:
        raise ValueError(
            f"results of {student()!r} are kept here; write a report of them if they are wanted, "
            "then call forget_results()"
        )
    with replacing(folder() / STUDENT) as file:
        file.write(json.dumps({"format": FORMAT, "version": 1, "name": name}).encode())
    print(
        f"From now on `check` notes for {name} which exercise you try, whether it is solved, and which "
        "mistake it names or, where it knows none, how your result begins:\n"
        f"  on this computer only, in {folder()}.\n"
        "Nothing of your code is kept, and nothing is sent to anybody.\n"
        "`python -m gapfm_teach report` writes a table of it, which you may read and hand in.\n"
        "`forget_results()` deletes all of it and ends the keeping."
    )


def forget_results() -> None:
    """Delete what is kept, and keep no more."""
    there = is_kept()
    if there:
        (folder() / STUDENT).unlink()  # first: another kernel that looks now keeps nothing
        for path in _files():
            path.unlink()
        with contextlib.suppress(OSError):  # something else is in it
            folder().rmdir()
    print(
        "Deleted; no more is kept." if there else "Nothing is kept, so nothing was deleted."
    )


def checked_name(name) -> str:
    """A name that a table can hold. Raises ValueError for any other."""
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"name must be a text that is not empty, got {name!r}")
    name = name.strip()
    if len(name) > LONGEST_NAME or not is_plain(name):
        raise ValueError(
            f"name must be one line of at most {LONGEST_NAME} characters and not begin with one of "
            f"= + - @, which a spreadsheet would calculate; got {name[:100]!r}"
        )
    return name


def is_plain(text: str) -> bool:
    """Whether a terminal only prints `text`, and a spreadsheet only shows it."""
    return text.isprintable() and not FORMULA.search(text)


def is_kept() -> bool:
    return (folder() / STUDENT).is_file()


def student() -> str:
    """Whose results are kept. Raises ValueError where that file is damaged."""
    path = folder() / STUDENT
    try:
        return checked_name(json.loads(path.read_text(encoding="utf-8"))["name"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged: {error}; delete that file") from error


def keep(exercise: Exercise, verdict: str) -> None:
    """Add a verdict to this kernel's file, if the student has asked for it."""
    if verdict == NOT_YET or not is_kept():
        return
    if not _own:
        number = 1 + max((int(path.name[:4]) for path in _files()), default=0)
        _own.append(f"{number:04}_{secrets.token_hex(4)}.jsonl")
    solved = verdict.startswith("✓")
    line = {"exercise": exercise.name, "solved": solved}
    if not solved:
        line["slip"] = slip(exercise, verdict)
    try:
        with open(folder() / _own[0], "a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    except OSError as error:
        print(f"(This could not be kept for your report: {error})")


def slip(exercise: Exercise, verdict: str) -> str:
    """Which slip a verdict names: its sentence, or how a verdict begins that quotes the answer.

    Of an answer that is like none that is known a teacher is to see the beginning.
    """
    told = verdict.splitlines()[0].removeprefix("✗ ")
    if told in exercise.mistakes:
        return told
    if " this: got " in told:
        return shortened(re.sub(r"[^\w .,:()\[\]+-]", "?", told), LONGEST_ANSWER)
    return re.split(r"[:;]|\.(?= |$)", told)[0]


def results() -> list[dict]:
    """All that is kept, in the order of the kernels. Raises ValueError for a damaged line."""
    found = []
    for path in _files():
        for number, line in enumerate(
            path.read_text(encoding="utf-8").splitlines(), start=1
        ):
            try:
                one = json.loads(line)
                found.append(
                    {k: one[k] for k in ("exercise", "solved")}
                    | {"slip": one.get("slip", "")}
                )
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(
                    f"{path}, line {number} holds no result; delete that line"
                ) from error
    return found


def _files() -> list[Path]:
    return sorted(path for path in folder().glob("*.jsonl") if KERNEL.fullmatch(path.name))
