"""Figures in a page: a part of it, in its colours by day and by night, legible on a phone."""

import itertools
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest

from gapfm_course.notebook_output import MAX_SVG
from gapfm_course.notebook_output.svg import GROUND
from gapfm_teach import plots
from preview.drawings import drawn

ROOT = Path(__file__).resolve().parents[2]
CSS = (ROOT / "preview" / "shared.css").read_text(encoding="utf-8")
COLOUR = re.compile(r'(?:fill|stroke)="(#\w+)"')
PAPERS = {"light": "#fdfdfb", "dark": "#16191d"}
# Colours that stay: black and white, where something of a fixed colour lies behind.
FIXED = {"#000000", "#ffffff"}
# How Viénot, Brettel and Machado see a full loss of the red, green and blue cones, in linear light.
BLINDNESS = {
    "none": np.eye(3),
    "protan": [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]],
    "deutan": [[0.3673, 0.8606, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]],
    "tritan": [[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]],
}  # fmt: skip

FACTS = """() => {
  const ink = getComputedStyle(document.body).color;
  const of = (name) => [...document.querySelectorAll(`svg.drawing :is(${name})`)];
  const shown = of('text, path, rect').filter((e) => !e.closest('clipPath'));
  return {
    alts: [...document.querySelectorAll('svg.drawing')].map((e) => [e.getAttribute('role'), e.ariaLabel]),
    inked: of('text[fill="#22262b"]').map((e) => getComputedStyle(e).fill === ink),
    white: shown.filter((e) => getComputedStyle(e).fill === 'rgb(255, 255, 255)').map((e) => e.outerHTML),
    grounds: [...document.querySelectorAll('svg.drawing, .drawing-box')]
      .filter((e) => getComputedStyle(e).backgroundColor !== 'rgba(0, 0, 0, 0)').length,
    ids: [...document.querySelectorAll('[id]')].map((e) => e.id),
    clips: of('[clip-path]').map((e) => e.getAttribute('clip-path').slice(5, -1)),
    styles: of('style').length,
    eager: [...document.images].filter((i) => i.loading !== 'lazy').length,
    small: of('text').filter((e) => e.checkVisibility()).map((e) => {
      const scale = e.getScreenCTM();
      return Math.hypot(scale.a, scale.b) * parseFloat(getComputedStyle(e).fontSize);
    }).filter((size) => size < 9).length,
  };
}"""


def stored():
    """(notebook, cell, SVG or None) of each figure that the notebooks hold."""
    for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            for output in cell.get("outputs", []):
                data = output.get("data", {})
                if "image/png" in data:
                    yield path.stem, cell.id, data.get("image/svg+xml")


def dark_of(colour: str) -> str:
    """What shared.css makes of a colour by night."""
    value = re.search(rf'\[fill="{colour}"\] {{ fill: ([^;]+);', CSS)[1]
    if name := re.fullmatch(r"var\((--\w+)\)", value):
        value = re.search(rf"{name[1]}: ([^;]+);", CSS)[1]
    return re.fullmatch(r"light-dark\(#\w+, (#\w+)\)", value)[1]


def light_of_rgb(colour: str) -> np.ndarray:
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    dark, bright = sorted(light_of_rgb(c) @ [0.2126, 0.7152, 0.0722] for c in (one, other))
    return (bright + 0.05) / (dark + 0.05)


def lab(light) -> np.ndarray:
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(to_xyz) @ np.clip(light, 0, 1) / [0.9505, 1, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("scheme", PAPERS)
def test_the_palette_has_contrast_and_is_told_apart_by_everybody(scheme):
    palette = [c if scheme == "light" else dark_of(c) for c in plots.PALETTE]
    for colour in palette:
        assert contrast(colour, PAPERS[scheme]) > 3, colour
    for sight, matrix in BLINDNESS.items():
        seen = [lab(np.array(matrix) @ light_of_rgb(colour)) for colour in palette]
        apart = min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2))
        assert apart > 11, sight


@pytest.mark.parametrize("scheme", PAPERS)
def test_grades_go_away_from_the_paper_and_are_legible(scheme):
    def shown(colours):
        return colours if scheme == "light" else [dark_of(c) for c in colours]

    grades = shown(plots.GRADE_COLOURS)
    away = [contrast(colour, PAPERS[scheme]) for colour in grades]
    assert away == sorted(away)
    ink, paper = shown([plots.BLACK, plots.PAPER])
    for colour, text in zip(grades, [ink] * 3 + [paper] * 2, strict=True):
        assert contrast(colour, text) > 4, colour


def test_stored_figures_say_nothing_of_when_and_where():
    figures = list(stored())
    assert len(figures) > 30
    for notebook, cell, svg in figures:
        assert svg, f"{notebook}, {cell}: too large, or stored without use_notebook_style()"
        assert len(svg) <= MAX_SVG
        assert svg.count(GROUND) == 1
        assert not re.search(r"\d{4}-\d\d-\d\d|atplotlib|<style|<metadata|/home|/tmp", svg)
        assert set(re.findall(r'\bid="([^"]+)"', svg)) <= {f"c{n}" for n in range(20)}


def test_every_colour_of_a_figure_is_known_to_the_page():
    for notebook, cell, svg in stored():
        for colour in set(COLOUR.findall(svg or "")) - FIXED:
            for property in ("fill", "stroke"):
                assert f'[{property}="{colour}"]' in CSS, (notebook, cell)


def test_a_page_takes_in_its_drawings():
    svg = (
        '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 50" font-size="10">'
        f'{GROUND}<clipPath id="c0"/><path clip-path="url(#c0)"/></svg>'
    )
    files = {"a b.svg": svg.encode(), "strange.svg": b"<svg></svg>"}
    page = '<p><img src="a%20b.svg" alt="x &lt; &quot;y&quot;" /><img alt="two" src="a%20b.svg"></p>'
    page += '<img src="p.png" alt="p"><img src="strange.svg" alt="s">'
    once = drawn(page, files.__getitem__)
    assert once.count("<svg") == 2
    assert 'aria-label="x &lt; &quot;y&quot;"' in once
    for n in (1, 2):
        assert (
            once.count(f'id="drawing-{n}-c0"') == once.count(f"url(#drawing-{n}-c0)") == 1
        )
    assert GROUND not in once
    assert "<?xml" not in once
    assert once.count('<img loading="lazy"') == 2
    assert drawn(once, files.__getitem__) == once


@pytest.fixture(scope="module")
def looked_at(browser, site):
    """(name, scheme) -> what was found on each page, on a phone."""
    address, pages = site
    found = {}
    for scheme in PAPERS:
        size = {"width": 390, "height": 844}
        context = browser.new_context(viewport=size, color_scheme=scheme)
        page = context.new_page()
        for name in pages:
            page.goto(address + name)
            found[name, scheme] = page.evaluate(FACTS)
        context.close()
    return found


def test_drawings_follow_the_page(looked_at):
    assert sum(len(facts["inked"]) for facts in looked_at.values()) > 1000
    for place, facts in looked_at.items():
        assert all(facts["inked"]), place
        assert facts["white"] == [], place
        assert facts["grounds"] == facts["styles"] == facts["eager"] == 0, place


def test_drawings_have_words_and_names_of_their_own(looked_at):
    for place, facts in looked_at.items():
        assert len(facts["ids"]) == len(set(facts["ids"])), place
        assert set(facts["clips"]) <= set(facts["ids"]), place
        for role, words in facts["alts"]:
            assert role == "img", place
            assert len(words) > 30, place


def test_labels_are_legible_on_a_phone(looked_at):
    assert {place: f["small"] for place, f in looked_at.items() if f["small"]} == {}
