"""A training in the page beside `GAPfm`'s from the same start: every iteration, and what is measured."""

from functools import cache

import numpy as np
import pytest
from bare_page import open_bare
from page_random import mulberry32, normals

from gapfm_course.explorables.explorable import packed
from gapfm_lab import experiments
from gapfm_lab.chapter_04 import escape, invented_films, supremum, training_on_demand
from gapfm_teach import GAPfm
from gapfm_teach.training.data import TrainingData
from gapfm_teach.training.loop import State, Training, fit_factors, held_out_gap
from gapfm_teach.training.objectives import PaperObjective
from gapfm_teach.training.optimizers import GradientAscent

N_ITER = 41
FIRST = {"rate": 0.03, "reg": 0.001, "K": 10, "D": 10, "nIter": N_ITER}
SETTINGS = [
    FIRST,
    FIRST | {"K": 3},
    FIRST | {"rate": 0.07, "reg": 0.9, "K": 1, "D": 1},
    FIRST | {"rate": 0.01, "reg": 20, "D": 3},
]
# Runs one setting after the other; with `after`, each is cancelled by the next so many ms later.
RUN = """async ([data, settings, inWorker, after]) => {
  const { given, held, maxGrade, titles } = modules.mount.unpacked(data);
  const trainer = modules.trainer.trainer({ given, held, maxGrade, nItems: titles.length }, { inWorker });
  const runs = settings.map((setting) => ({ setting, rows: [], ended: false, error: "" }));
  for (const run of runs) {
    await new Promise((resolve) => {
      trainer.begin(run.setting, ({ rows = [], ...facts }) => {
        Object.assign(run, facts);
        for (const row of rows) run.rows[row.iteration - 1] = { ...run.rows[row.iteration - 1], ...row };
        if (facts.ended) resolve();
      });
      if (after && run !== runs[runs.length - 1]) setTimeout(resolve, after);
    });
  }
  trainer.end();
  for (const { rows } of runs) for (const row of rows) { delete row.userFactors; row.itemFactors = [...row.itemFactors ?? []].slice(0, 5); }
  return runs;
}"""


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    page = open_bare(browser, tmp_path_factory.mktemp("page"))
    yield page
    page.context.close()


@cache
def films():
    return invented_films(120, 60, random_state=1)


@cache
def start(D: int, n_users: int, n_items: int):
    """U and V as the page draws them: mulberry32 with seed 0, and Box and Muller."""
    draws = mulberry32(0)
    sizes = n_users * D, n_items * D
    return [normals(draws, n, 0.01).reshape(-1, D) for n in sizes]


def of_python(setting: dict) -> list[dict]:
    """The same training by the package: what there is to know of each iteration."""
    _, train, held = films()
    training = Training(
        TrainingData(train), PaperObjective(n_selected=setting["K"]), GradientAscent(),
        setting["reg"], setting["rate"],
    )  # fmt: skip
    U, V = start(setting["D"], train.n_users, train.n_items)
    _, a, b = experiments.top_direction(experiments.escape_matrix(train))
    ceiling, rows = supremum(train), []
    for done in fit_factors(training, State(U, V, np.empty(0)), n_iter=N_ITER):
        U, V = training.parameters(done.state)
        rows.append(
            {
                "objective": done.objective / ceiling,
                "length": np.linalg.norm(a @ U + b @ V),
                "gap": held_out_gap(U, V, train, held),
                "itemFactors": V.ravel()[:5].tolist(),
            }
        )
    return rows


@pytest.mark.parametrize("in_worker", [True, False])
def test_a_training_in_the_page_is_that_of_the_package(page, in_worker):
    data, train, held = films()
    settings = SETTINGS if in_worker else SETTINGS[:2]
    runs = page.evaluate(RUN, [packed(data), settings, in_worker, 0])
    sigma, a, b = experiments.top_direction(experiments.escape_matrix(train))
    weighted = training_on_demand(train, held)(**FIRST, user=0, fine=False)["counting"]
    for run in runs:
        assert run["ended"]
        assert not run.get("error")
        U, V = start(run["setting"]["D"], train.n_users, train.n_items)
        assert run["sigma"] == pytest.approx(sigma, rel=1e-9)
        assert run["counting"] == pytest.approx(weighted, rel=1e-12)
        assert run["start"] == pytest.approx(np.linalg.norm(a @ U + b @ V), rel=1e-6)
        for ours, theirs in zip(run["rows"], of_python(run["setting"]), strict=True):
            for name, value in theirs.items():
                tolerance = (
                    1e-6 if name == "length" else 1e-9
                )  # a and b: as far as svds finds them
                assert ours[name] == pytest.approx(value, rel=tolerance, abs=1e-12), name


def test_a_new_setting_cancels_the_training_before(page):
    data, *_ = films()
    long = FIRST | {"nIter": 4000}
    cut, whole = page.evaluate(RUN, [packed(data), [long, FIRST], True, 60])
    assert not cut["ended"]
    assert len(cut["rows"]) < 4000
    assert whole["ended"]
    assert len(whole["rows"]) == N_ITER
    assert whole["rows"][-1]["objective"] == pytest.approx(
        of_python(FIRST)[-1]["objective"]
    )


def test_a_training_that_diverges_says_so_and_keeps_what_was_before(page):
    data, *_ = films()
    [run] = page.evaluate(RUN, [packed(data), [FIRST | {"rate": 1e300}], True, 0])
    assert "training left the finite numbers in iteration" in run["error"]
    assert run["ended"]


def test_a_kernel_answers_with_the_training_of_the_package():
    _, train, held = films()
    answer = training_on_demand(train, held)
    for setting in SETTINGS:
        coarse, fine = (answer(**setting, user=7, fine=fine) for fine in (False, True))
        model = GAPfm(
            setting["D"], reg=setting["reg"], learning_rate=setting["rate"], n_iter=N_ITER,
            n_selected=setting["K"], random_state=0,
        ).fit(train, held)  # fmt: skip
        np.testing.assert_array_equal(fine["gap"], model.history_["validation_gap"])
        assert np.isfinite(coarse["gap"]).sum() < 8
        np.testing.assert_array_equal(coarse["gap"][[0, 10, 40]], fine["gap"][[0, 10, 40]])
        share = model.history_["objective"] / supremum(train)
        np.testing.assert_allclose(fine["objective"], share)
        titles = [film["text"] for film in fine["lists"][-1]]
        assert titles == list(train.titles[model.recommend(7)])
        items, grades = held.row(7)
        hits = {film["text"]: film["held"] for film in fine["lists"][-1] if film["held"]}
        grade_of = dict(zip(train.titles[items], grades.tolist(), strict=True))
        assert hits == {title: grade_of[title] for title in titles if title in grade_of}
        law = escape(
            train, learning_rate=setting["rate"], n_iter=N_ITER, reg=setting["reg"],
            n_factors=setting["D"], n_selected=setting["K"],
        )  # fmt: skip
        np.testing.assert_allclose(fine["length"], law["measured"])
