"""The reference: that the committed page is the code's, whole."""

import inspect
import re
from pathlib import Path

import pytest

import gapfm_teach
from gapfm_teach import GAPfm, metrics
from tools import api_page

PAGE = (Path(__file__).resolve().parents[2] / "pages/api.qmd").read_text(encoding="utf-8")


def test_the_committed_page_is_what_the_code_says():
    assert api_page.page() == PAGE, "docstrings have changed: run `make api`"


def test_every_public_name_has_one_heading():
    names = re.findall(r"^###+ `([\w.]+)` \{#\1 \.unnumbered\}$", PAGE, re.MULTILINE)
    assert len(names) == len(set(names)) == len(re.findall("^###", PAGE, re.MULTILINE))
    assert set(gapfm_teach.__all__) <= set(names)
    assert {"ranks", "chebyshev_nodes", "hold_out", "consistent_gap"} <= set(names)
    assert {"GAPfm.fit", "GAPfm.recommend", "Ratings.from_frame"} <= set(names)


def test_every_link_on_the_page_has_its_heading():
    targets = re.findall(r"\]\(#([\w.]+)\)", PAGE)
    assert len(targets) > 20
    assert all(f"{{#{target} .unnumbered}}" in PAGE for target in targets)


@pytest.mark.parametrize("thing", [metrics.ndcg, metrics.graded_average_precision, GAPfm])
def test_a_signature_fits_a_phone_and_is_the_function_s(thing):
    text = api_page.signature(thing.__name__, thing)
    assert max(map(len, text.splitlines())) <= api_page.WIDTH
    scope: dict = {}
    exec(f"def {text}: pass", scope)
    told, true = (inspect.signature(f).parameters for f in (scope[thing.__name__], thing))
    assert list(told) == list(true)
    assert all(told[n].default == true[n].default for n in true)
    assert all(told[n].kind == true[n].kind for n in true)
