"""What a training takes in a reader's browser, and in Node where there is one, beside `GAPfm`.

`python benchmarks/browser.py` prints it: MovieLens 100K, Given 10, D = 10, 41 iterations.
"""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from measure import seconds
from playwright.sync_api import sync_playwright

import gapfm_teach
from gapfm_course.doctor import find_chromium
from gapfm_lab.reproduce.timing import machine
from gapfm_teach import GAPfm, Ratings, load_movielens, split_given

ENGINE = Path(gapfm_teach.__file__).parent / "widgets" / "engine.js"
N_ITER, REPEATS = 41, 7
TRAININGS = {
    "printed": {},
    "printed, K = 5": {"n_selected": 5},
    "consistent, 200 unrated": {"objective": "consistent"},
    "geometric, 200 unrated": {"objective": "geometric"},
}
# The first training compiles as well; the best of the others is what a slider's next one takes.
MEASURE = f"""async (engine, options) => {{
  const took = [];
  for (let k = 0; k <= {REPEATS}; k += 1) {{
    const begin = performance.now();
    await engine.train(options);
    took.push(performance.now() - begin);
  }}
  return [took[0], Math.min(...took.slice(1))];
}}"""


def options_of(model: GAPfm, train: Ratings) -> dict:
    """What `train` of the engine takes for the same training from a start like it."""
    rng, settings = np.random.default_rng(0), model.settings()
    shapes = {
        "userFactors": (train.n_users, 10), "itemFactors": (train.n_items, 10),
    }  # fmt: skip
    start = {
        name: rng.normal(0, settings.init_scale, shape).ravel().tolist()
        for name, shape in shapes.items()
    }
    common = {
        "indptr": train.indptr.tolist(), "items": train.indices.tolist(),
        "grades": train.grades.tolist(), "nItems": train.n_items, "nFactors": 10,
        "objective": model.objective, "reg": settings.reg, "nIter": N_ITER,
        "learningRate": settings.learning_rate,
    }  # fmt: skip
    names = {
        "n_selected": "nSelected", "n_negatives": "nNegatives",
        "temperature": "temperature", "unrated_weight": "unratedWeight",
    }  # fmt: skip
    own = {js: settings.objective.options.get(py) for py, js in names.items()}
    return common | start | {js: value for js, value in own.items() if value is not None}


def in_chromium(options: dict) -> list[float]:
    """Milliseconds of the first training and of the best one after it, in a new browser."""
    source = json.dumps(ENGINE.read_text(encoding="utf-8"))
    load = f"import(URL.createObjectURL(new Blob([{source}], {{type: 'text/javascript'}})))"
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        took = page.evaluate(
            f"async (text) => ({MEASURE})(await {load}, JSON.parse(text))",
            json.dumps(options),
        )
        browser.close()
    return took


def in_node(options: dict) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(ENGINE, Path(folder) / "engine.mjs")
        (Path(folder) / "run.mjs").write_text(
            'import * as engine from "./engine.mjs";\n'
            f"console.log(JSON.stringify(await ({MEASURE})(engine, {json.dumps(options)})));\n",
            encoding="utf-8",
        )
        command = [shutil.which("node"), Path(folder) / "run.mjs"]
        ran = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(ran.stdout)


def main() -> None:
    train, _ = split_given(load_movielens("100k"), 10, random_state=0)
    places = {"Chromium": in_chromium} if find_chromium() else {}
    places |= {"Node": in_node} if shutil.which("node") else {}
    print(f"{machine()}\n\n{train.n_ratings:,} ratings, {N_ITER} iterations, ms\n")
    heads = [f"{place}, {when}" for place in places for when in ("first", "next")]
    print(f"| training | {' | '.join(heads)} | GAPfm, one thread |")
    print("|---" + "|---:" * (len(heads) + 1) + "|")
    for name, options in TRAININGS.items():
        rate = None if "objective" in options else 0.02
        model = GAPfm(learning_rate=rate, n_iter=N_ITER, n_threads=1, **options)
        given = options_of(model, train)
        took = [ms for measure in places.values() for ms in measure(given)]
        took.append(1e3 * seconds(lambda: model.fit(train), repeats=REPEATS))  # noqa: B023
        print(f"| {name} | {' | '.join(f'{ms:.0f}' for ms in took)} |")


if __name__ == "__main__":
    main()
