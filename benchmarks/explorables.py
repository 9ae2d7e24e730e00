"""From the move of a slider to the new picture, for every explorable of the stored book.

`python benchmarks/explorables.py` prints a table: milliseconds of wall time, median and 95th
percentile over forty moves of each slider, and the same with the processor slowed down four times.
A move is a key on a slider; what it is measured to is the frame in which the view is drawn anew.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import sync_playwright

from gapfm_course.doctor import find_chromium
from gapfm_course.explorables.linked import for_page
from gapfm_lab.reproduce.timing import machine

sys.path.insert(
    0, str(Path(__file__).resolve().parent.parent)
)  # the preview is in no package
from preview.explorables import stored_fragments

ROOT = Path(__file__).resolve().parent.parent
MOVES = 40
MOVE = f"""async (root) => {{
  const took = [], pause = (ms) => new Promise((then) => setTimeout(then, ms));
  for (const input of root.querySelectorAll("input[type=range]")) {{
    for (let k = 0; k < {MOVES}; k += 1) {{
      const before = root.dataset.drawn, begin = performance.now();
      const up = Math.floor(k / 10) % 2 === (Number(input.value) < input.max / 2 ? 0 : 1);
      input.value = Number(input.value) + (up ? 1 : -1);
      input.dispatchEvent(new Event("input"));
      while (root.dataset.drawn === before) await new Promise(requestAnimationFrame);
      took.push(performance.now() - begin);
      await pause(5);
    }}
  }}
  return took;
}}"""


def moves(page, address: str, slowed: int) -> list[float]:
    """Milliseconds of each move on the page at `address`; [] for a view without sliders."""
    session = page.context.new_cdp_session(page)
    page.goto(address)
    session.send("Emulation.setCPUThrottlingRate", {"rate": slowed})
    page.wait_for_function(
        "() => Number(document.querySelector('.gapfm-explorable').dataset.drawn) > 0"
    )
    page.wait_for_timeout(1000)
    return page.locator(".gapfm-explorable").evaluate(MOVE)


def main() -> None:
    script = for_page().replace("</script", "<\\/script")
    rows = {}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=find_chromium(), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 900, "height": 900})
        for view, fragment in stored_fragments(ROOT).items():
            path = Path(folder) / f"{view}.html"
            head = '<!doctype html><meta charset="utf-8">'
            path.write_text(f"{head}{fragment}<script>{script}</script>", encoding="utf-8")
            for slowed in (1, 4):
                took = moves(page, path.as_uri(), slowed)
                if took:
                    found = np.percentile(took, [50, 95]).round().astype(int)
                    names = (f"median, {slowed}x slowed", f"95%, {slowed}x slowed")
                    rows.setdefault(view, {}).update(zip(names, found, strict=True))
        browser.close()
    print(machine())
    print(pd.DataFrame(rows).T.to_string())


if __name__ == "__main__":
    main()
