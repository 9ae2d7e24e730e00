"""An explorable before any browser has it: what it is where, what it stores, what Python answers."""

import base64
import json
import re

import numpy as np
import pytest

from gapfm_course.explorables import Explorable, Page, explorable
from gapfm_course.explorables.explorable import packed

DATA = {"films": ["</script><b>", "$5 \u2028"], "grades": np.array([3, 1], np.int32)}


def stored(html: str) -> dict:
    [text] = re.findall(r'json">(.*?)</script>', html, re.S)
    return json.loads(text)


@pytest.mark.parametrize(("static", "kind"), [("1", Page), ("0", Explorable)])
def test_the_environment_says_whether_it_is_a_page_or_a_widget(static, kind, monkeypatch):
    monkeypatch.setenv("GAPFM_TEACH_STATIC", static)
    shown = explorable("drag_list", DATA, alt="two films")
    assert isinstance(shown, kind)
    assert repr(shown) == "Explorable('drag_list')"


def test_a_widget_leaves_the_page_of_itself_in_a_saved_notebook():
    page, widget = (
        Page("drag_list", DATA, "two"),
        Explorable("drag_list", DATA, "two", None),
    )
    bundle, _ = widget._repr_mimebundle_()
    assert bundle["text/html"] == page.html


def test_titles_end_no_script_and_arrays_come_back():
    found = stored(Page("drag_list", DATA, 'a "list" <of> two').html)
    assert found["films"] == DATA["films"]
    data = base64.b64decode(found["grades"]["int32"])
    assert np.frombuffer(data, "<i4").tolist() == [3, 1]


def test_the_alternative_text_is_text():
    [image] = re.findall("<img [^>]*>", Page("drag_list", DATA, 'a "list" & <of> two').html)
    assert 'alt="a &quot;list&quot; &amp; &lt;of&gt; two"' in image


def test_what_a_notebook_shows_before_it_runs_says_what_to_run():
    [words] = re.findall("<p>.*</p>", Page("drag_list", DATA, "two").html)
    assert "A picture" in words
    assert "run all cells down to this one" in words


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float64(0.5), 0.5),
        (np.arange(3), [0, 1, 2]),
        ((1, {2: np.bool_(True)}), [1, {"2": True}]),
    ],
)
def test_what_json_does_not_know_becomes_what_it_knows(value, expected):
    assert json.loads(json.dumps(packed(value))) == expected


def test_python_answers_each_turn_and_says_what_went_wrong(monkeypatch):
    sent = []
    monkeypatch.setattr(Explorable, "send", lambda self, content: sent.append(content))
    widget = Explorable("train", {}, "curves", lambda reg: {"root": np.sqrt([1 / reg])})
    for turn, reg in enumerate((4, 0)):
        widget._asked(widget, {"turn": turn, "values": {"reg": reg}}, [])
    assert sent[0]["turn"] == 0
    assert np.frombuffer(base64.b64decode(sent[0]["answer"]["root"]["float64"])) == [0.5]
    assert sent[1] == {"turn": 1, "error": "ZeroDivisionError: division by zero"}
