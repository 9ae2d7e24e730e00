"""Names in a chart can be read, wherever the sliders stand."""

import random

import pytest
from stage import TWO_FRAMES, Stage
from test_explorables import Shown

SETTINGS = 12
SLIDE = """(root, places) => root.querySelectorAll("input[type=range]").forEach((input, k) => {
  input.value = Math.round(places[k] * input.max);
  input.dispatchEvent(new Event("input"));
})"""
# Two names, or a name and its chart's edge, and by how many pixels they meet.
MEETING = """(root) => [...root.querySelectorAll("svg.gx-chart")].flatMap((svg) => {
  const edge = svg.getBoundingClientRect(), names = [...svg.querySelectorAll(".gx-name")];
  const boxes = names.map((one) => [one.textContent, one.getBoundingClientRect()]);
  const beyond = boxes.filter(([, box]) => box.left < edge.left - 1 || box.right > edge.right + 1);
  return boxes.flatMap(([name, a], k) => boxes.slice(k + 1).map(([other, b]) => [name, other,
    Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)]))
    .filter(([, , wide, high]) => wide > 1 && high > 4).concat(beyond.map(([name]) => [name, "edge"]));
})"""


@pytest.mark.parametrize("width", [900, 390])
def test_names_meet_neither_each_other_nor_an_edge(width, browser, tmp_path):
    stage, rng = Stage(browser, tmp_path, Shown("nodes"), width=width), random.Random(0)
    for _ in range(SETTINGS):
        places = [rng.random() for _ in range(6)]
        stage.after(lambda places=places: stage.root.evaluate(SLIDE, places))
        stage.page.evaluate(TWO_FRAMES)
        assert stage.root.locator(".gx-name").count() > 2
        assert stage.root.evaluate(MEETING) == [], places
    stage.close()
