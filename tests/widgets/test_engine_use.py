"""The model in JavaScript: how it ends, and what it refuses."""

import functools
import http.server
import json
import re
import threading
from pathlib import Path

import pytest
from engine_page import ENGINE, WIDGETS, call, one_step, open_page

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def page(browser):
    page = open_page(browser)
    yield page
    page.close()


# ---------------------------------------------------------------- ends before the end


def test_a_signal_stops_a_training_between_iterations_or_from_outside(page):
    options = one_step([0.5, -0.5, 0.1], [1, 2, 3], nIter=10**7)
    assert page.evaluate(
        """async (options) => {
          const found = [];
          for (const inside of [true, false]) {
            const stop = new AbortController();
            let last = 0;
            const onIteration = ({iteration}) => {
              last = iteration;
              if (inside && iteration === 3) stop.abort();
            };
            if (!inside) setTimeout(() => stop.abort(), 30);
            const name = await engine.train({...options, onIteration, signal: stop.signal})
              .then(() => "done", (error) => error.name);
            found.push([name, inside ? last : last < options.nIter]);
          }
          return found;
        }""",
        options,
    ) == [["AbortError", 3], ["AbortError", True]]


def test_a_training_that_diverges_says_where_and_what_to_try(page):
    wild = one_step([1.0, 2.0, 3.0], [3, 1, 2], reg=10, learningRate=1e150, nIter=9)
    folding = {"nFactors": 1, "maxGrade": 5, "reg": 10, "learningRate": 1e150, "nIter": 9}
    trained, folded = call(
        page, [["train", [wild]], ["foldIn", [[1, 2, 3], [0, 1], [2, 3], folding]]]
    )
    for message, iteration in ((trained, 2), (folded, 3)):
        assert re.fullmatch(
            r"Error: training left the finite numbers in iteration \d; try a learningRate below "
            r"1e\+150, such as 0\.1, or milder values of .*",
            message,
        )
        assert f"iteration {iteration};" in message


# ---------------------------------------------------------------- bad input

DELTA = {"delta": [0.5, 0.5]}
BAD_LISTS = [
    ("smoothedGap", [[1, 2], [1, 2, 2], DELTA], "scores has length 2, not an array of 3"),
    ("smoothedGap", [[1, 2], [1, 1.5], DELTA], r"grades\[1\] is 1.5.*half stars"),
    (
        "smoothedGap",
        [[1, 2], [1, 3], DELTA],
        "delta has 2 entries .*highest grade is 3.*pass",
    ),
    ("smoothedGap", [[1, None], [1, 2], DELTA], r"scores\[1\] is null"),
    (
        "smoothedGapGradient",
        [[1, 2], [1, 0], DELTA],
        r"grades\[1\] is 0; leave out unrated",
    ),
    ("smoothedGapGradient", [[1], [1]], "delta is undefined.*pass thresholdingProbab"),
    ("consistentGap", [[1, 2], [1, -1], DELTA], r"from 0 to 1000000; grades\[1\] is -1"),
    (
        "consistentGap",
        [[1], [1], DELTA | {"temperature": 0}],
        "temperature.*above 0, got 0",
    ),
    ("consistentGap", [[1], [1], DELTA | {"weights": [-2]}], r"weights\[0\] is -2"),
    ("gradedAveragePrecision", [[1], [1], {"at": 0}], "at must be a whole number.*got 0"),
    ("gradedAveragePrecision", [[1], [1], {"normalizer": "x"}], "normalizer.*all.*got x"),
    ("thresholdingProbabilities", [0], "maxGrade must be a whole number from 1 .*got 0"),
    ("mulberry32", [1.5], "seed must be a whole number.*got 1.5"),
]
BAD_TRAININGS = [
    ({"indptr": [0, 2]}, "indptr must run from 0 to the 3 ratings"),
    ({"indptr": [0, 2, 1, 3], "userFactors": [1, 1, 1]}, r"not descend; indptr\[2\] is 1"),
    ({"items": [0, 2, 1]}, r"must ascend; items\[2\] is 1 after 2"),
    ({"grades": [1, 2, 6]}, r"from 1 to 5; grades\[2\] is 6"),
    ({"userFactors": [1, 2]}, "userFactors has length 2.*pass 1 rows of 1"),
    (
        {"objective": "gap"},
        "objective must be one of paper, consistent, geometric, got gap",
    ),
    ({"objective": "geometric"}, "unratedWeight must be a number above 0, got undefined"),
    ({"reg": -1}, "reg must be a number of at least 0, got -1"),
    ({"nSelected": 2.5}, "nSelected must be a whole number.*got 2.5"),
    ({"selection": "best"}, "selection must be one of adaptive, random, got best"),
]
FOLDING = {"nFactors": 2, "maxGrade": 5, "reg": 0, "learningRate": 0.1, "nIter": 5}
REPAIRED = FOLDING | {"objective": "consistent", "unratedWeight": 0.1}
BAD_FOLDINGS = [
    ([[1, 2, 3], [0], [1], FOLDING], "itemFactors has length 3.*pass 1 rows of 2"),
    ([[1, 2], [0, 0], [1, 2], FOLDING], "items must be distinct, got 0,0"),
    ([[1, 2], [1], [1], FOLDING], r"items\[0\] is 1; pass positions"),
    ([[1, 2], [0], [1], REPAIRED], "itemBias is undefined"),
]


def test_bad_input_gets_one_error_that_names_it(page):
    cases = [
        *BAD_LISTS,
        *(("train", [one_step([1, 2, 3], [1, 2, 3]) | bad], m) for bad, m in BAD_TRAININGS),
        *(("foldIn", given, message) for given, message in BAD_FOLDINGS),
    ]
    found = call(page, [[name, given] for name, given, _ in cases])
    for (name, given, message), got in zip(cases, found, strict=True):
        assert re.search(rf"^Error: .*{message}", str(got)), f"{name}{given} gave {got}"


# ---------------------------------------------------------------- for pages of others


def test_what_is_exported_has_types_and_nothing_else_is(page):
    typed = re.findall(
        r"/\*\*\n((?: \*.*\n)+) \*/\nexport (?:async )?(?:function|const) (\w+)\W+([^)]*)\)",
        ENGINE,
    )
    assert sorted(name for _, name, _ in typed) == sorted(
        page.evaluate("Object.keys(engine)")
    )
    assert "nextTask" not in dict((name, doc) for doc, name, _ in typed)
    for doc, name, given in typed:
        named = re.findall(r"@param \{.*?\} \[?(\w+)", doc.replace("\n *", ""))
        assert len(named) == len(re.sub(r"\{.*?\}", "o", given).split(",")) * bool(given), (
            name
        )
        assert "@returns {" in doc
    assert json.loads((WIDGETS / "package.json").read_text())["exports"] == "./engine.js"


def test_a_page_that_has_the_engine_alone_trains_and_ranks(browser):
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=ROOT)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{server.server_port}/examples/engine.html")
        page.get_by_text("For somebody new: ").wait_for()
        assert len((ROOT / "examples" / "engine.html").read_text().splitlines()) <= 25
        assert "GAP of the first user 0." in page.locator("pre").inner_text()
        page.close()
        server.shutdown()
