"""Results are kept on request only, whole and without code; reports say what they hold."""

import csv
import io
import json
import sys

import numpy as np
import pytest

from gapfm_course.exercises import (
    EXERCISES,
    check,
    forget_results,
    progress_log,
    record_results,
)
from gapfm_teach.__main__ import main

pytestmark = pytest.mark.usefixtures("place")

GAP, RANKS = EXERCISES["gap"], EXERCISES["ranks"]
(SLIP, earn_from_all), (_, forget_ranks), *_ = GAP.known_mistakes()
RANKS_SLIP, order = next(RANKS.known_mistakes())


def table(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def another_kernel(monkeypatch):
    monkeypatch.setattr(progress_log, "_own", [])


def student(folder, name, *lines):
    """A student's report as a file in `folder`."""
    path = folder / f"{name}.csv"
    rows = [
        "name,exercise,attempts,first_slip,solved",
        *(f"{name},{line}" for line in lines),
    ]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


# Keeping


def test_nothing_is_kept_unless_asked_for(place):
    check("gap", earn_from_all)
    assert not place.exists()


def test_keeping_says_where_and_how_to_end_it(place, capsys):
    record_results("Ada")
    said = capsys.readouterr().out
    assert str(place) in said
    assert "nothing is sent" in said
    assert "forget_results()" in said


def test_a_line_has_exercise_outcome_and_slip_and_nothing_else(place):
    record_results("Ada")
    check("gap", earn_from_all)
    check("gap", GAP.solution)
    check("gap", ...)
    check("gap", lambda grades, delta: secret)  # noqa: F821
    (file,) = place.glob("*.jsonl")
    assert list(map(json.loads, file.read_text(encoding="utf-8").splitlines())) == [
        {"exercise": "gap", "solved": False, "slip": SLIP},
        {"exercise": "gap", "solved": True},
        {
            "exercise": "gap",
            "solved": False,
            "slip": "Your function stopped with a NameError",
        },
    ]


def test_forgetting_deletes_all_and_ends_the_keeping(place):
    record_results("Ada")
    check("gap", earn_from_all)
    forget_results()
    assert not place.exists()
    check("gap", earn_from_all)
    assert not place.exists()
    forget_results()  # nothing is there to delete, and that is no error


def test_forgetting_leaves_what_is_not_ours(place):
    record_results("Ada")
    (place / "diary.txt").write_text("mine")
    forget_results()
    assert [path.name for path in place.iterdir()] == ["diary.txt"]


@pytest.mark.parametrize("name", ["", "  ", None, "two\nlines", "=1+1", "x" * 81])
def test_a_name_that_no_table_can_hold(name, place):
    with pytest.raises(ValueError, match="name must be"):
        record_results(name)
    assert not place.exists()


def test_results_of_two_people_are_not_mixed():
    record_results("Ada")
    record_results("Ada")
    with pytest.raises(ValueError, match=r"results of 'Ada' are kept here.*forget_results"):
        record_results("Grace")


def test_what_cannot_be_kept_does_not_stop_the_student(place, capsys, monkeypatch):
    record_results("Ada")
    check("gap", earn_from_all)
    (file,) = place.glob("*.jsonl")
    file.unlink()
    file.mkdir()
    capsys.readouterr()
    check("gap", GAP.solution)
    assert capsys.readouterr().out.startswith("✓ Right.")


# A student's report


def test_a_report_counts_up_to_the_solution_over_all_kernels(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    record_results("Ada Lovelace")
    check("gap", earn_from_all)
    check("gap", forget_ranks)
    another_kernel(monkeypatch)
    check("gap", GAP.solution)
    check("gap", earn_from_all)  # played with, once solved
    check("ranks", order)
    check("average-precision", EXERCISES["average-precision"].solution)
    assert main(["report"]) == 0
    assert table("report_Ada_Lovelace.csv") == [
        dict(
            zip(
                ("name", "exercise", "attempts", "first_slip", "solved"),
                ("Ada Lovelace", *row),
                strict=True,
            )
        )
        for row in (
            ("ranks", "1", RANKS_SLIP, "False"),
            ("average-precision", "1", "", "True"),
            ("gap", "3", SLIP, "True"),
        )
    ]
    check("ranks", RANKS.solution)
    assert main(["report"]) == 0  # its own file of before is written anew
    assert table("report_Ada_Lovelace.csv")[0]["solved"] == "True"


def test_a_report_writes_over_nothing_else(tmp_path, capsys):
    thesis = tmp_path / "thesis.csv"
    thesis.write_text("a,b\n1,2\n")
    record_results("Ada")
    check("gap", earn_from_all)
    assert main(["report", str(thesis)]) == 1
    assert "choose another name" in capsys.readouterr().err
    assert thesis.read_text() == "a,b\n1,2\n"


def test_a_report_of_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["report"]) == 1
    assert 'record_results("your name")' in capsys.readouterr().err
    record_results("Ada")
    assert main(["report"]) == 1
    assert "nothing was tried yet" in capsys.readouterr().err
    assert not list(tmp_path.glob("*.csv"))


@pytest.mark.parametrize("line", ["{", "[]", '{"solved": true}', '{"exercise": "gap"}'])
def test_a_damaged_line_is_named(line, place, capsys):
    record_results("Ada")
    check("gap", GAP.solution)
    (file,) = place.glob("*.jsonl")
    file.write_text(file.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    assert main(["report"]) == 1
    assert f"{file}, line 2 holds no result" in capsys.readouterr().err


# A class's


def test_a_class_has_the_commonest_first_slip_of_each_exercise(tmp_path, capsys):
    student(tmp_path, "Ada", "gap,3,No discount,True", "ranks,1,,True")
    student(tmp_path, "Emmy", "gap,2,No discount,False")
    student(tmp_path, "Grace", "gap,6,No Z,True")
    for _ in range(2):  # the table of before is no student's report
        assert main(["report", "--class", str(tmp_path)]) == 0
    assert table(tmp_path / "class.csv") == [
        {
            "exercise": "ranks",
            "tried": "1",
            "solved": "1",
            "attempts": "1",
            "commonest_first_slip": "",
            "how_many": "0",
        },
        {
            "exercise": "gap",
            "tried": "3",
            "solved": "2",
            "attempts": "3",
            "commonest_first_slip": "No discount",
            "how_many": "2",
        },
    ]
    said = capsys.readouterr().out
    assert "Ada: 2 tried, 2 solved" in said
    assert "2: No discount" in said


BAD = {
    "attempts": ("gap,many,,True", "line 2: attempts must be a whole number"),
    "no attempt": ("gap,0,,True", "line 2: attempts must be a whole number from 1"),
    "solved": ("gap,1,,perhaps", "line 2: solved must be True or False"),
    "columns": ("gap,1,True", "line 2: 4 columns for 5"),
    "nines": (f"gap,{'9' * 400},,True", "line 2: attempts must be a whole number from 1"),
    "a formula": ("gap,1,=HYPERLINK(),False", "line 2: no report of ours holds"),
    "behind a tab": ("gap,1,\t=cmd,False", "line 2: no report of ours holds '\\t=cmd'"),
    "behind a semicolon": ("gap,1,x; =1+1,False", "line 2: no report of ours holds"),
    "for a terminal": ("gap,1,\x1b[2J,False", "line 2: no report of ours holds '\\x1b[2J'"),
    "nothing": ("gap,1,\0,False", "line 2: no report of ours holds '\\x00'"),
    "as an exercise": ("=1+1,1,,True", "line 2: no report of ours holds"),
    "an exercise twice": (
        "gap,1,,True\nBob,gap,2,,True",
        "must hold one student, and each",
    ),
    "no exercise": ("", "line 2: 2 columns for 5"),
}
FILES = {
    "empty": b"",
    "a table": b"a,b\n1,2\n",
    "a picture": b"\xff\xfe\x00x",
    "no line": b"name,exercise,attempts,first_slip,solved\n",
}


@pytest.mark.parametrize(("line", "says"), BAD.values(), ids=BAD)
def test_a_bad_report_is_set_aside_by_name_and_the_others_are_counted(
    line, says, tmp_path, capsys
):
    student(tmp_path, "Ada", "gap,1,,True")
    student(tmp_path, "Bob", line)
    assert main(["report", "--class", str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert "Set aside: 'Bob.csv'" in said.err
    assert says in said.err
    assert said.err.count("\n") == 1
    assert [row["tried"] for row in table(tmp_path / "class.csv")] == ["1"]


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_a_file_that_is_no_report(content, tmp_path, capsys):
    (tmp_path / "photo.csv").write_bytes(content)
    assert main(["report", "--class", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "Set aside: 'photo.csv'" in said
    assert "holds no report" in said


def test_what_is_beside_the_reports_of_a_class_does_no_harm(tmp_path, capsys):
    """A file of a Mac's, a copy, a blank line, and an exercise that another edition has."""
    one = student(tmp_path, "Ada", "gap,1,,True", "recal,2,No such film,False")
    one.write_text(one.read_text() + "\n")
    (tmp_path / "Ada (1).csv").write_bytes(one.read_bytes())
    (tmp_path / "._Ada.csv").write_bytes(b"\0\5\x16\7")
    assert main(["report", "--class", str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert said.err == "Set aside: 'Ada.csv' is a second report of Ada\n"
    rows = [(row["exercise"], row["tried"]) for row in table(tmp_path / "class.csv")]
    assert rows == [("gap", "1"), ("recal", "1")]


def test_a_teacher_sees_how_an_unknown_wrong_answer_begins(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    record_results("Ada")
    check("share-empty", lambda m, n, s: np.linspace(0, 1, 1000).reshape(50, 20)[0, 3] + 7)
    check("by-hand", "=1; =2")
    assert main(["report"]) == 0
    share, by_hand = table("report_Ada.csv")
    assert share["first_slip"].startswith("Whatever it is given, your function returns 7.0")
    assert main(["report", "--class", "."]) == 0
    assert table("class.csv")[1]["commonest_first_slip"] == by_hand["first_slip"]


def test_what_exercises_say_can_be_kept():
    for exercise in EXERCISES.values():
        for message in exercise.mistakes:
            assert progress_log.is_plain(message)


def test_a_screen_with_few_letters_is_written_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    record_results("Zoë ✓")
    check("gap", earn_from_all)
    old_windows = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr(sys, "stdout", old_windows)
    assert main(["report"]) == 0
    assert main(["report", "--class", "."]) == 0
    old_windows.seek(0)
    assert "Zoë ?: 1 tried, 0 solved" in old_windows.read()


def test_a_folder_without_reports(tmp_path, capsys):
    assert main(["report", "--class", str(tmp_path / "none")]) == 1
    assert "holds no report" in capsys.readouterr().err
