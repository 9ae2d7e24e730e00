"""Chapter 6's sampled lists: the hit rates and NDCG@5 of every size of sample are SciPy's."""

import re

import numpy as np
import pytest
from scipy.stats import hypergeom

N = 300
RNG = np.random.default_rng(0)
# One system has more films on top and more at the bottom than the other.
ABOVE = {
    "sharp": np.concatenate([RNG.integers(0, 12, 150), RNG.integers(150, N + 1, 350)]),
    "broad": RNG.integers(5, 170, 500),
}
COUNTS = {
    name: np.bincount(above, minlength=N + 1).astype(np.int32)
    for name, above in ABOVE.items()
}
DATA = {"unrated": N, "users": 50, "systems": COUNTS}
DISCOUNTS = {"hit rate @5": np.ones(5), "NDCG@5": 1 / np.log2(np.arange(5) + 2)}


def expected(name: str, n: int, measure: str) -> float:
    drawn = hypergeom.pmf(np.arange(5)[:, None], N, ABOVE[name][None, :], n)
    return float((DISCOUNTS[measure] @ drawn).mean())


def check(words: str, n: int, measure: str = "hit rate @5") -> None:
    sharp, broad = (float(re.search(name + r" (\d+\.\d)%", words)[1]) for name in ABOVE)
    assert sharp == pytest.approx(100 * expected("sharp", n, measure), abs=0.051)
    assert broad == pytest.approx(100 * expected("broad", n, measure), abs=0.051)
    assert f"so {'sharp' if sharp > broad else 'broad'} leads" in words


def size(stage) -> int:
    return int(stage.root.locator("output").first.inner_text().replace("\u202f", ""))


def test_both_systems_have_scipys_expectation_and_change_places(show):
    stage = show("sample_size", DATA, touch=True)
    check(stage.said(), N)
    leaders = set()
    for place in (0, 120, 250, 399):
        words = stage.slide("n", place)
        check(words, size(stage))
        leaders.add(re.search(r"so (\w+) leads", words)[1])
    assert leaders == {"sharp", "broad"}
    words = stage.press("input[id$='-n']", "ArrowLeft")
    check(words, size(stage))
    menu = stage.root.locator("select[id$='-measure']")
    words = stage.after(lambda: menu.select_option("NDCG@5"))
    check(words, size(stage), "NDCG@5")
    words = stage.tap("n", 0.3)
    assert size(stage) < N / 2
    check(words, size(stage), "NDCG@5")
