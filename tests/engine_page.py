"""The JavaScript engine as its tests hold it: in a page, called with text."""

import json
from pathlib import Path

import numpy as np

import gapfm_course

WIDGETS = Path(gapfm_course.__file__).parent / "explorables"
ENGINE = (WIDGETS / "engine.js").read_text(encoding="utf-8")

LOAD = """async (source) => {
  window.engine = await import(URL.createObjectURL(new Blob([source], {type: "text/javascript"})));
}"""
# As text, which the driver passes on in no time; null is what JSON has for NaN.
CALLS = """async (text) => {
  const made = [];
  for (const [name, given] of JSON.parse(text)) {
    try { made.push(await engine[name](...given)); }
    catch (error) { made.push(`${error.constructor.name}: ${error.message}`); }
  }
  return JSON.stringify(made, (_, v) => ArrayBuffer.isView(v) ? Array.from(v) : v);
}"""


def call(page, calls):
    """What `engine` makes of [name, arguments] each: a result, or an error's text."""
    return json.loads(page.evaluate(CALLS, json.dumps(calls)))


def open_page(browser):
    """A page that has the module as `engine`."""
    page = browser.new_page()
    page.evaluate(LOAD, ENGINE)
    return page


def js(*arrays):
    """Arrays as JSON has them."""
    return [np.asarray(a).tolist() for a in arrays]


def one_step(scores, grades, **options):
    """A training of one user, one factor and one iteration: her scores are the item factors."""
    n = len(scores)
    return {
        "indptr": [0, n], "items": list(range(n)), "grades": list(grades), "nItems": n,
        "maxGrade": 5, "nFactors": 1, "reg": 0, "learningRate": 0.1, "nIter": 1,
        "userFactors": [1], "itemFactors": list(scores),
    } | options  # fmt: skip
