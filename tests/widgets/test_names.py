"""Words in a chart can be read, wherever the sliders are, and say one of what there is one of."""

import random
import re

import pytest
from stage import TWO_FRAMES, Stage
from test_explorables import All

SETTINGS = 8
SLIDE = """places => document.querySelectorAll(".gx-dial :is(input, select)").forEach((control, k) => {
  if (control.options) control.selectedIndex = Math.min(control.options.length - 1, Math.floor(places[k] * control.options.length));
  else control.value = Math.round(places[k] * control.max);
  control.dispatchEvent(new Event("input"));
})"""
# Two texts, or a text and its chart's edge, and by how many pixels they meet.
MEETING = """() => [...document.querySelectorAll("svg.gx-chart")].flatMap((svg) => {
  const edge = svg.getBoundingClientRect(), view = svg.closest("[data-view]").dataset.view;
  const boxes = [...svg.querySelectorAll("text")].filter((one) => one.textContent).map((one) => [one.textContent, one.getBoundingClientRect()]);
  const beyond = boxes.filter(([, box]) => box.left < edge.left - 1 || box.right > edge.right + 1);
  return boxes.flatMap(([name, a], k) => boxes.slice(k + 1).map(([other, b]) => [view, name, other,
    Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)]))
    .filter(([, , , wide, high]) => wide > 1 && high > 5).concat(beyond.map(([name]) => [view, name, "edge"]));
})"""
NARROWEST = """() => Math.min(...[...document.querySelectorAll("svg.gx-chart clipPath rect")].map(e => e.width.baseVal.value))"""
ONE_OF_MANY = re.compile(
    r"(?<![\d.,·\u202f–-])1 (users|laptops|films|iterations|digits|ratings|places)\b"
)


@pytest.mark.parametrize("width", [900, 320])
def test_words_meet_neither_each_other_nor_an_edge(width, browser, tmp_path):
    stage, rng = Stage(browser, tmp_path, All(), width=width), random.Random(0)
    stage.settled()
    for _ in range(SETTINGS):
        places = [rng.choice([0, 1, rng.random(), rng.random()]) for _ in range(60)]
        stage.page.evaluate(SLIDE, places)
        stage.page.evaluate(TWO_FRAMES)
        # The arrows of `pushes` are as close as its columns, which a narrow phone sets.
        meeting = stage.page.evaluate(MEETING)
        assert [one for one in meeting if width > 400 or one[0] != "pushes"] == []
        assert stage.page.evaluate(NARROWEST) > 120
        said = " ".join(stage.page.locator(".gx-said").all_inner_texts())
        assert not ONE_OF_MANY.search(said), said
    stage.close()
