"""The home page's explorable: its data come into the page, whoever renders it."""

import json
import re
from pathlib import Path

import pytest

from gapfm_course.explorables.stored import stored
from preview import explorables

ROOT = Path(__file__).resolve().parents[2]
HOME = (ROOT / "index.qmd").read_text(encoding="utf-8")
[BLOCK] = re.findall(r"```\{=html\}\n(.*?)```\n", HOME, re.S)


def data(page: str) -> dict:
    [text] = re.findall(r'<script type="application/json">(.*?)</script>', page, re.S)
    return json.loads(text)


def test_it_stands_on_the_first_screen():
    words = HOME[: HOME.index("```{=html}")].split()
    assert len(words) < 80


def test_the_step_after_rendering_writes_the_films_into_the_page():
    page = explorables.alive(f"<body>{BLOCK}</body>", "../")
    assert data(page) == stored("films.json")
    assert page.count('data-view="rate"') == page.count('src="../explorables.js"') == 1
    assert "data-from" not in page
    assert explorables.alive(page, "../") == page


def test_what_is_no_empty_element_of_ours_stays():
    for page in (
        '<body><div class="other" data-from="films.json"></div></body>',
        "<body><p>data-from</p></body>",
    ):
        assert explorables.alive(page, "") == page
    with pytest.raises(FileNotFoundError, match=r"none\.json"):
        explorables.alive(BLOCK.replace("films.json", "none.json"), "")


def test_the_home_page_is_alive_from_a_file(open_page):
    page = open_page("index.html", as_file=True)
    page.wait_for_selector(".gapfm-explorable[data-drawn]")
    assert page.locator(".gx-shelf").count() == 2
    assert page.locator(".gx-shelf li").count() == 20
    assert "Guess, then trade places." in page.locator(".gx-said").inner_text()
    page.get_by_role("button", name="Trade places").click()
    page.wait_for_function("/share 10 /.test(document.querySelector('.gx-said').innerText)")
    assert not open_page.problems
