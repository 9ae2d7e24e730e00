"""The reference: that the committed page is the code's, whole, and legible."""

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


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("δ_1..δ_L", "δ<sub>1</sub>..δ<sub>L</sub>"),
        ("Σ_{j: R_j <= n} β_ij", "Σ<sub>j: R<sub>j</sub> ≤ n</sub> β<sub>ij</sub>"),
        ("N_i / R̂_i²", "N<sub>i</sub> / R̂<sub>i</sub>²"),
        ("(2^{y_i} − 1) / 2^L", "(2<sup>y<sub>i</sub></sup> − 1) / 2<sup>L</sup>"),
        ("e^-x and x^(1/τ)", "e<sup>-x</sup> and x<sup>1/τ</sup>"),
        ("g'(f), N'_k, a user's", "g′(f), N′<sub>k</sub>, a user's"),
        ("n_users, ci_low, history_", r"n\_users, ci\_low, history\_"),
        ("`n_users` *once*", "`n_users` *once*"),
        ("<U, V> in [0, 1], P@5, 2 * 3", r"\<U, V\> in \[0, 1\], P\@5, 2 \* 3"),
        ("`ndcg` or `metrics.ndcg`", "[`ndcg`](#ndcg) or [`metrics.ndcg`](#ndcg)"),
        ("`at` of `ndcg(at=5)`", "`at` of `ndcg(at=5)`"),
    ],
)
def test_text_is_set(text, markdown):
    assert api_page.prose(text, frozenset({"ndcg"})) == markdown


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("Two\nlines.", "Two lines."),
        (
            "    x = 1      where y\n    y = x_i",
            "| x = 1\u2003where y\n| y = x<sub>i</sub>",
        ),
        (">>> f()  # doctest: +SKIP\n1", "```python\n>>> f()\n1\n```"),
        (
            "Parameters\n----------\na, b : one,\n    or two.\nc : three",
            "**Parameters**\n\n`a, b`\n:   one, or two.\n\n`c`\n:   three",
        ),
    ],
)
def test_a_paragraph_is_set(text, markdown):
    assert api_page.block(text, frozenset()) == markdown


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
