"""The picture of all tables: what it draws and says is what the data say."""

import pytest
from stage import Stage

from gapfm_teach.widgets import Page

ROWS = [
    ["A", 0.2, 0.15, 0.25, "0+", 0.1, 0], ["B", 0.3, 0.28, 0.32, "+0", None, 0],
    ["C", 0.1, 0.05, 0.15, "--", None, 2], ["D", 0.25, 0.1, 0.4, "00", None, 0],
]  # fmt: skip
DATA = {
    "references": ["A", "B"],
    "start": {"table": "one", "given": 10, "metric": "NDCG@5", "reference": "A"},
    "tables": {
        "one": {"10": {"NDCG@5": ROWS}, "20": {"NDCG@5": ROWS[:2], "P@5": ROWS[1:]}}
    },
}


@pytest.fixture
def stage(browser, tmp_path):
    opened = Stage(browser, tmp_path, Page("standings", DATA, "systems"))
    yield opened
    opened.close()


def choose(stage, name: str, option: str) -> str:
    menu = stage.root.locator(f"select[id$='-{name}']")
    return stage.after(lambda: menu.select_option(option))


def drawn(stage) -> list[str]:
    """The systems from the top down, by their names beside the axis."""
    texts = stage.root.locator("svg > g > text").evaluate_all(
        "all => all.map(e => [e.textContent, +e.getAttribute('y')])"
    )
    return [name for name, _ in sorted(texts, key=lambda t: t[1]) if name in "ABCD"]


def test_rows_stand_in_order_and_verdicts_follow_the_menus(stage):
    assert drawn(stage) == ["B", "D", "A", "C"]
    words = stage.said()
    assert (
        "A is number 3 of 4 with 0.2. Clearly ahead of it, green: 1; clearly behind, red: 1"
        in words
    )
    assert "broke down: C (2)" in words
    assert "Rings" in words
    words = choose(stage, "reference", "B")
    assert (
        "B is number 1 of 4 with 0.3. Clearly ahead of it, green: 1; clearly behind, red: 1"
        in words
    )
    words = choose(stage, "given", "20")
    assert drawn(stage) == ["B", "A"]
    words = choose(stage, "metric", "P@5")
    assert drawn(stage) == ["B", "D", "C"]
    assert "Rings" not in words
    assert "Not measured" in choose(stage, "given", "10")
    assert "A is number 3 of 4" in stage.after(
        stage.root.get_by_text("Reset", exact=True).click
    )


def test_lines_run_from_end_to_end_of_their_intervals(stage):
    """On the scale that the dots and the axis give."""
    paths = stage.root.locator(".gx-curve").evaluate_all(
        "all => all.map(e => e.getAttribute('d'))"
    )
    ends = [[float(p.split()[0]) for p in path[1:].split("L")] for path in paths]
    dots = stage.root.locator(".gx-dot:not(.gx-ring)").evaluate_all(
        "all => all.map(e => +e.getAttribute('cx'))"
    )
    rows = sorted(ROWS, key=lambda row: -row[1])
    scale = (dots[0] - dots[-1]) / (rows[0][1] - rows[-1][1])
    for row, (low, high), dot in zip(rows, ends, dots, strict=True):
        assert (low, high) == pytest.approx(
            [dot + scale * (v - row[1]) for v in row[2:4]], abs=0.2
        )
