"""Chapter 4's laboratory: what it says and lists is the training that Python makes of the same setting."""

import re

import numpy as np
import pytest
from stage import Stage
from test_course import FIRST, films, of_python, start

from gapfm_course.explorables import Page
from gapfm_course.explorables.explorable import packed
from gapfm_course.explorables.linked import for_notebook
from gapfm_lab import experiments
from gapfm_lab.chapter_04 import training_on_demand
from gapfm_teach.training.data import TrainingData
from gapfm_teach.training.loop import State, Training, fit_factors
from gapfm_teach.training.objectives import PaperObjective
from gapfm_teach.training.optimizers import GradientAscent

SETTLED = "() => document.querySelector('.gapfm-explorable').dataset.settled === 'true'"
HEAR = """() => {
  window.heard = [];
  const words = document.querySelector(".gx-said");
  new MutationObserver(() => heard.push(words.textContent)).observe(words, { childList: true });
}"""
BAD_TITLE = "<img src=x onerror=\"document.title='broken into'\"><b>Film</b>"


def open_view(browser, tmp_path, **options):
    data, *_ = films()
    opened = Stage(browser, tmp_path, Page("train", data, "three curves"), **options)
    settled(opened)
    return opened


def settled(stage) -> str:
    """Wait until nothing is trained any more; what is said then."""
    stage.page.wait_for_timeout(50)
    stage.page.wait_for_function(SETTLED)
    return stage.said()


@pytest.fixture
def stage(browser, tmp_path):
    opened = open_view(browser, tmp_path, touch=True)
    yield opened
    opened.close()


def shown(stage) -> dict:
    """The setting as the controls' words have it."""

    def text(name):
        return stage.root.locator(f"input[id$='-{name}']").get_attribute("aria-valuetext")

    values = {name: float(text(name)) for name in ("rate", "reg")}
    return values | {name: int(text(name)) for name in ("K", "D", "iteration")}


def check(stage, user=0) -> None:
    """Words and list are those of a training with the setting that the controls show."""
    words, setting = settled(stage), shown(stage)
    t = setting.pop("iteration")
    rows = of_python(FIRST | setting)
    gap, best, objective = re.search(
        r"GAP ([\d.]+) \(best ([\d.]+) at \d+\), objective (\d+)%", words
    ).groups()
    assert f"Iteration {t}: " in words
    assert float(gap) == pytest.approx(rows[t - 1]["gap"], rel=5e-3)
    assert float(best) == pytest.approx(max(row["gap"] for row in rows), rel=5e-3)
    assert int(objective) == pytest.approx(100 * rows[t - 1]["objective"], abs=0.51)
    _, train, _ = films()
    sigma, a, b = experiments.top_direction(experiments.escape_matrix(train))
    law = float(re.search(r"×([\d.]+) an iteration", words)[1])
    assert law == pytest.approx(1 + setting["rate"] * (sigma - setting["reg"]), abs=6e-5)
    U, V = start(setting["D"], train.n_users, train.n_items)
    begun = np.linalg.norm(a @ U + b @ V)
    if grown := re.search(r"s has grown ×([\d.]+)", words):
        assert float(grown[1]) == pytest.approx(rows[t - 1]["length"] / begun, rel=1e-2)
    assert titles(stage) == best_of_python(setting, t, user)


def titles(stage) -> list[str]:
    return stage.root.locator("li > .gx-text").all_inner_texts()


def best_of_python(setting: dict, t: int, user: int) -> list[str]:
    data, train, _ = films()
    training = Training(
        TrainingData(train), PaperObjective(n_selected=setting["K"]), GradientAscent(),
        setting["reg"], setting["rate"],
    )  # fmt: skip
    U, V = start(setting["D"], train.n_users, train.n_items)
    *_, last = fit_factors(training, State(U, V, np.empty(0)), n_iter=t)
    U, V = training.parameters(last.state)
    scores = V @ U[user]
    scores[train.row(user)[0]] = -np.inf
    return [data["titles"][i] for i in np.argsort(-scores, kind="stable")[:10]]


def test_each_slider_trains_and_the_numbers_are_pythons(stage):
    check(stage)
    for name, place in [("rate", 330), ("K", 2), ("D", 0), ("reg", 250), ("iteration", 17)]:
        stage.slide(name, place)
        check(stage)
    stage.after(stage.root.get_by_text("user ›").click)
    stage.after(stage.root.get_by_text("user ›").click)
    check(stage, user=2)


def test_mouse_finger_and_keys_go_through_the_iterations_without_training(stage):
    assert stage.press("[data-handle]", "ArrowLeft").startswith("Iteration 40: ")
    assert stage.press("[data-handle]", "ArrowLeft").startswith("Iteration 39: ")
    stage.drag("[data-handle]", -120, 0)
    there = shown(stage)["iteration"]
    assert 15 < there < 35
    stage.swipe("[data-handle] >> nth=2", 60, 0)
    assert shown(stage)["iteration"] > there
    check(stage)
    stage.press("input[id$='-iteration']", "Home")
    check(stage)


def test_a_slow_start_and_a_large_lambda_are_said_in_words(stage):
    stage.slide("rate", 0)
    assert "holds: s has grown ×1;" in settled(stage).replace("×1.00", "×1")
    stage.slide("reg", 400)
    assert "λ is above σ and s shrinks." in settled(stage)
    stage.slide("rate", 400)  # γλ = 1.2: what is no part of s outlasts it
    assert "shrinks" not in settled(stage)
    assert "γλ is above 1" in stage.said() or "γ(σ + λ) is above 2" in stage.said()


def test_a_dragged_slider_is_followed_to_its_end(stage):
    """Many moves in a row: the last one counts, and some before it are seen."""
    slider = "input[id$='-rate']"
    stage.root.locator(slider).focus()
    for _ in range(25):
        stage.page.keyboard.press("ArrowLeft")
    check(stage)


# ---------------------------------------------------------------- the reader's own file


def own_file(title="film {}") -> list[dict]:
    """30 users with 24 ratings each, and titles."""
    rng = np.random.default_rng(0)
    rows = [
        f"{user}\t{film}\t{rng.integers(1, 6)}\t881250949\n"
        for user in range(100, 130)
        for film in rng.permutation(50)[:24]
    ]
    films = "".join(f"{film}|{title.format(film)}|x\n" for film in range(50))
    return [file_of("u.data", "".join(rows)), file_of("u.item", films)]


def file_of(name: str, text: str) -> dict:
    return {"name": name, "mimeType": "text/plain", "buffer": text.encode()}


def give(stage, files, wait=True) -> str:
    stage.after(lambda: stage.root.locator("input[type=file]").set_input_files(files))
    return settled(stage) if wait else stage.said()


def test_a_file_is_trained_on_and_its_titles_stay_text(stage):
    words = give(stage, own_file(BAD_TITLE + " {}"))
    assert words.startswith("Iteration 41: held-out GAP 0.")
    assert stage.root.get_by_text(
        "Trained on u.data: 30 users with at least 20 ratings, 50 films."
    ).count()
    assert all(
        re.fullmatch(re.escape(BAD_TITLE) + r" \d+", title) for title in titles(stage)
    )
    assert stage.root.locator("li img, li b").count() == 0
    assert stage.page.title() == "Stage"
    assert stage.root.get_by_text("User 100, iteration 41: top ten").count() == 1
    stage.after(stage.root.get_by_role("button", name="Back to the invented films").click)
    check(stage)


def test_reset_takes_back_the_setting_and_leaves_the_file(stage):
    back = stage.root.get_by_role("button", name="Back to the invented films")
    assert not back.is_visible()
    first = give(stage, own_file())
    stage.slide("K", 2)
    assert settled(stage) != first
    stage.after(stage.root.get_by_text("Reset", exact=True).click)
    assert settled(stage) == first
    assert stage.root.get_by_text("Trained on u.data: 30 users").count() == 1
    assert "leaves your file" in stage.root.locator(".gx-note").last.inner_text()
    stage.after(back.click)
    check(stage)
    assert not back.is_visible()


def test_a_dropped_file_is_read_and_a_bad_one_named(stage):
    drop = """([root, [name, text]]) => {
      const moved = new DataTransfer();
      moved.items.add(new File([text], name));
      root.dispatchEvent(new DragEvent("drop", { dataTransfer: moved, bubbles: true, cancelable: true }));
    }"""
    handle = stage.root.element_handle()
    stage.page.evaluate(drop, [handle, ["u.data", "1\t<b>2</b>\t3\t4\n"]])
    said = stage.root.get_by_text("u.data, line 1: '1\\t<b>2</b>\\t3\\t4' is not 4 fields")
    said.wait_for()
    check(stage)  # and the training before stays
    stage.page.evaluate(drop, [handle, ["notes.txt", ""]])
    stage.root.get_by_text("is it the right data set? Still trained on").wait_for()
    text = own_file()[0]["buffer"].decode()
    stage.page.evaluate(drop, [handle, ["u.data", text]])
    stage.root.get_by_text("Trained on u.data: 30 users").wait_for()
    assert titles(stage)[0].startswith("film ") or settled(stage)


# ---------------------------------------------------------------- with a kernel

MOVES = """async (input) => {
  for (let place = 200; place < 230; place += 1) {
    input.value = place;
    input.dispatchEvent(new Event("input"));
    await new Promise(requestAnimationFrame);
  }
}"""
LIVE = """async ([source, data, answers]) => {
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const { default: widget } = await import(address);
  const el = document.createElement("div"), heard = {}, asked = [];
  document.body.replaceChildren(el);
  const model = {
    get: (name) => ({ view: "train", data, computes: true })[name],
    on: (name, act) => { heard[name] = act; },
    send: ({ turn, values }) => {
      if (window.gone) throw new Error("Cannot send"); // as after the kernel has been started anew
      asked.push(values);
      setTimeout(() => heard["msg:custom"]({ turn, answer: answers[values.fine ? "fine" : "coarse"] }), 200);
    },
  };
  widget.render({ model, el });
  window.asked = asked;
}"""


def test_where_python_trains_the_newest_setting_is_asked_for_and_the_rest_left_out(browser):
    data, train, held = films()
    python = training_on_demand(train, held)
    answers = {
        name: packed(python(**FIRST, user=0, fine=name == "fine"))
        for name in ("coarse", "fine")
    }
    page = browser.new_page()
    page.evaluate(
        LIVE,
        [for_notebook("train"), packed(data | {"said": "MovieLens, by Numba"}), answers],
    )
    page.wait_for_function(SETTLED)
    assert [one["fine"] for one in page.evaluate("asked")] == [False, True]
    assert (
        "Trained on MovieLens, by Numba." in page.locator(".gapfm-explorable").inner_text()
    )
    gaps = python(**FIRST, user=0, fine=True)["gap"]
    assert f"held-out GAP {gaps[-1]:.3g}" in page.locator(".gx-said").inner_text()
    page.locator("input[id$='-rate']").evaluate(MOVES)
    page.wait_for_function(SETTLED)
    asked = page.evaluate("asked")
    assert len(asked) < 25
    assert asked[-1]["fine"]
    assert asked[-1]["rate"] == pytest.approx(1e-5 * 1e4 ** (229 / 400), rel=1e-2)

    curves = page.locator(".gx-curve").evaluate_all(
        "all => all.map(e => e.getAttribute('d'))"
    )
    page.evaluate("window.gone = true")
    page.locator("input[id$='-rate']").evaluate(MOVES)
    page.get_by_text(
        "run the notebook’s cells down to this one. The picture is that of"
    ).wait_for()
    now = page.locator(".gx-curve").evaluate_all("all => all.map(e => e.getAttribute('d'))")
    assert now == curves
    page.close()
