"""The capstone can be done as projects.qmd says: its code runs with a sample solution."""

import re
import sys
from pathlib import Path

import capstone_sample
import pytest

import gapfm_teach

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "pages/projects.qmd").read_text(encoding="utf-8")
STEPS = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)


@pytest.fixture(scope="module")
def ratings():
    return gapfm_teach.simulate_ratings(24, 60, mean_ratings=30, random_state=0)


def test_all_steps_of_the_capstone_run(ratings, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "my_measure", capstone_sample)
    monkeypatch.setattr(gapfm_teach, "load_movielens", lambda name: ratings)
    names = {}
    for step in STEPS[:-1]:
        exec(step, names)
    judged = capsys.readouterr().out.split()
    assert len(judged) == 1 + 2 * 3 + 3 * 3
    assert set(judged) == {"True"}
    exec(STEPS[-1], names)
    assert [line.split(" [")[0] for line in capsys.readouterr().out.splitlines()] == [
        "consistent GAP",
        "a count by grades",
    ]


def test_a_planted_bug_is_caught(monkeypatch, capsys):
    """The checks of the page are no formality."""
    wrong = lambda scores, *more: 1.01 * gradient(scores, *more)  # noqa: E731
    gradient = capstone_sample.gradient
    monkeypatch.setattr(capstone_sample, "gradient", wrong)
    monkeypatch.setitem(sys.modules, "my_measure", capstone_sample)
    names = {}
    for step in STEPS[:3]:
        exec(step, names)
    assert "False" in capsys.readouterr().out


def test_every_chapter_has_a_project():
    chapters = sorted(path.name for path in (ROOT / "notebooks").glob("[0-9]*.ipynb"))
    begun = re.findall(r"^\*\*\[[^\]]+\]\(\.\./notebooks/([\w.]+)\)", PAGE, re.M)
    assert begun == chapters
