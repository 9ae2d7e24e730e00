"""A student's work and a newer edition, however both have changed: nothing of own is lost."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapfm_course.class_edition.merge import NEW, merge
from gapfm_course.class_edition.originals import originals, print_of, with_originals

TEXTS = st.text("abc\n", max_size=4)
KINDS = st.sampled_from(["code", "markdown"])


def cell(cell_id, text, kind="code", outputs=()):
    made = {"cell_type": kind, "id": cell_id, "metadata": {}, "source": text}
    return made | (
        {"outputs": list(outputs), "execution_count": None} if kind == "code" else {}
    )


def notebook(*cells):
    return with_originals(
        {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    )


def given_out(draw):
    """An edition of a few cells; their ids are course-0, course-1, …"""
    n = draw(st.integers(0, 6))
    return notebook(*(cell(f"course-{i}", draw(TEXTS), draw(KINDS)) for i in range(n)))


def edited(draw, cells, prefix):
    """Cells of which some are changed, dropped or moved, and some new ones between them."""
    cells = copy.deepcopy(cells)
    if draw(st.booleans()):
        cells = draw(st.permutations(cells))
    result = []
    for position, one in enumerate(cells):
        if draw(st.integers(0, 3)) == 0:
            result.append(cell(f"{prefix}-{position}", draw(TEXTS), draw(KINDS)))
        match draw(st.sampled_from(["keep", "keep", "change", "drop"])):
            case "change":
                result.append(one | {"source": prefix + draw(TEXTS)})
            case "keep":
                result.append(one)
    return result


@st.composite
def meetings(draw):
    """What was given out, what the student has made of it, and the newer edition."""
    old = given_out(draw)
    own = old | {"cells": edited(draw, old["cells"], "own")}
    return old, own, notebook(*edited(draw, old["cells"], "news"))


def touched(own, old):
    """The cells that the student has changed or added."""
    prints = originals(old)
    return [one for one in own["cells"] if prints.get(one["id"]) != print_of(one)]


def texts(cells):
    return [(one["cell_type"], one["source"]) for one in cells]


@given(meetings())
def test_no_cell_of_hers_is_lost(meeting):
    old, own, new = meeting
    result = texts(merge(own, new).notebook["cells"])
    for text in texts(touched(own, old)):
        assert text in result
        result.remove(text)


@given(meetings())
def test_the_course_is_there_as_it_is_now(meeting):
    """Each cell of it: as it is, or beside own with a mark, or as own where the course has not
    changed it, or not at all where she has deleted it and the course has not changed it."""
    old, own, new = meeting
    before, now = originals(old), {one["id"]: one for one in own["cells"]}
    result = merge(own, new).notebook["cells"]
    for one in new["cells"]:
        unchanged = before.get(one["id"]) == print_of(one)
        if unchanged and one["id"] not in now:
            continue
        if unchanged:
            assert texts([now[one["id"]]])[0] in texts(result)
        else:
            assert any(
                kind == one["cell_type"]
                and (text == one["source"] or text.endswith(one["source"]))
                for kind, text in texts(result)
            )


@given(meetings())
def test_what_neither_has_touched_and_the_course_has_dropped_goes(meeting):
    old, own, new = meeting
    ours = {one["id"] for one in new["cells"]} | {one["id"] for one in touched(own, old)}
    result = {one["id"] for one in merge(own, new).notebook["cells"]}
    gone = originals(old).keys() - ours
    if originals(old) != originals(new):
        assert not gone & result


@given(meetings())
def test_ids_are_unique_and_a_second_time_changes_nothing(meeting):
    _, own, new = meeting
    once = merge(own, new).notebook
    ids = [one["id"] for one in once["cells"]]
    assert len(set(ids)) == len(ids)
    assert merge(once, new).notebook == once


@given(meetings())
def test_where_she_has_done_nothing_she_gets_the_new_edition(meeting):
    old, _, new = meeting
    same = originals(old) == originals(new)  # in another order they are the same edition
    assert merge(old, new).notebook["cells"] == (old if same else new)["cells"]


@given(meetings())
def test_where_the_course_has_not_changed_hers_stays(meeting):
    old, own, _ = meeting
    assert merge(own, old).notebook == own


@given(meetings())
def test_a_program_that_drops_ids_loses_nothing(meeting):
    old, own, new = meeting
    for one in own["cells"]:
        del one["id"]
    result = texts(merge(own, new).notebook["cells"])
    for text in set(texts(own["cells"])) - set(texts(old["cells"])):
        assert text in result


def test_both_versions_stand_side_by_side_and_hers_runs_last():
    old = notebook(cell("a", "x = ..."), cell("b", "Text", "markdown"))
    own = old | {"cells": [cell("a", "x = 1"), cell("b", "My text", "markdown")]}
    new = notebook(cell("a", "x = None"), cell("b", "New text", "markdown"))
    merged = merge(own, new)
    assert [one["source"] for one in merged.notebook["cells"]] == [
        f"# {NEW}\nx = None",
        "x = 1",
        f"**{NEW}**\n\nNew text",
        "My text",
    ]
    assert merged.both == ["a", "b"]
    later = merge(
        merged.notebook, notebook(cell("a", "x = ()"), cell("b", "New text", "markdown"))
    )
    assert [one["source"] for one in later.notebook["cells"]] == [
        f"# {NEW}\nx = ()",  # in place of the one before
        "x = 1",
        f"**{NEW}**\n\nNew text",
        "My text",
    ]


def test_an_added_cell_stays_behind_the_one_it_was_written_under():
    old = notebook(cell("a", "1"), cell("b", "2"), cell("c", "3"))
    own = old | {
        "cells": [cell("a", "1"), cell("b", "2"), cell("own", "mine"), cell("c", "3")]
    }
    new = notebook(cell("a", "1"), cell("n", "new"), cell("b", "2, better"), cell("c", "3"))
    shown = [one["source"] for one in merge(own, new).notebook["cells"]]
    assert shown == ["1", "new", "2, better", "mine", "3"]


OLD = [cell("a", "1"), cell("b", "2"), cell("c", "3"), cell("d", "4")]
ANSWER = cell("b", "mine")


@pytest.mark.parametrize(
    ("own", "new", "shown"),
    [  # the cells of the newer edition, and what becomes of the student's
        ([0, 3, ANSWER, 2], ["1", "2", "3", "4"], ["1", "4", "mine", "3"]),
        ([0, 3, ANSWER, 2], ["1, better", "2", "3", "4"], ["1, better", "4", "mine", "3"]),
        ([3, 0, 1], ["1", "2, better", "3", "4"], ["4", "1", "2, better"]),
    ],
)
def test_a_cell_that_was_moved_stays_where_it_is(own, new, shown):
    own = notebook(*OLD) | {"cells": [OLD[i] if isinstance(i, int) else i for i in own]}
    new = notebook(*(cell(name, text) for name, text in zip("abcd", new, strict=True)))
    assert [one["source"] for one in merge(own, new).notebook["cells"]] == shown


def test_an_answer_without_an_id_is_told_by_its_place_and_runs_last():
    own = [cell("", text) for text in ("1", "mine", "my own", "3", "4")]
    for one in own:
        del one["id"]
    new = notebook(OLD[0], cell("b", "2, better"), *OLD[2:])
    merged = merge(notebook(*OLD) | {"cells": own}, new)
    shown = [one["source"] for one in merged.notebook["cells"]]
    assert shown == ["1", f"# {NEW}\n2, better", "mine", "my own", "3", "4"]
    assert merged.both == ["b"]


def test_tags_and_metadata_of_others_stay():
    about = {"tags": ["exam"], "other program": {"a": 1}}
    own = notebook(*OLD) | {"cells": [one | {"metadata": about} for one in OLD]}
    new = notebook(*(cell(one["id"], "better") for one in OLD))
    assert all(one["metadata"] == about for one in merge(own, new).notebook["cells"])


def test_what_her_own_run_has_put_out_stays_with_unchanged_code():
    ran = [{"output_type": "stream", "name": "stdout", "text": ["4", "2"]}]
    stored = [{"output_type": "stream", "name": "stdout", "text": "41"}]
    newer = [{"output_type": "stream", "name": "stdout", "text": "43"}]
    old = notebook(cell("a", "x", outputs=stored), cell("b", "y", outputs=stored))
    own = old | {"cells": [cell("a", "x", outputs=ran), cell("b", "y", outputs=stored)]}
    new = notebook(cell("a", "x", outputs=newer), cell("b", "y", outputs=newer))
    outputs = [one["outputs"] for one in merge(own, new).notebook["cells"]]
    assert outputs == [ran, newer]


def test_lines_cut_by_a_program_are_no_change():
    stored = [{"output_type": "stream", "name": "stdout", "text": "4\n2"}]
    cut = [{"output_type": "stream", "name": "stdout", "text": ["4\n", "2"]}]
    one = cell("a", "x\ny", outputs=stored)
    assert print_of(one) == print_of(cell("a", ["x\n", "y"], outputs=cut))
    assert print_of(one) != print_of(cell("a", "x\ny"))


def test_another_notebook_is_refused():
    with pytest.raises(ValueError, match="no notebook that this course"):
        merge({"cells": [], "metadata": {}}, notebook())
