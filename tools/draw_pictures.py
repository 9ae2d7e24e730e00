"""Draw each explorable at its first setting, or one of SETTINGS, as the picture for where no script runs.

Takes the views as they stand in the stored notebooks and the pages, in a browser; run
`make notebooks` before, where a view's data have changed, and after, so that the notebooks hold
the new pictures.
"""

import io
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from gapfm_course.doctor import find_chromium
from gapfm_course.explorables.linked import HERE, for_page
from preview.explorables import stored_fragments

ROOT = Path(__file__).resolve().parent.parent
WIDTH, COLOURS = 680, 24
# Where the first setting has little to show.
SETTINGS = {"differences": "fine=15", "one_change": "step=9"}
# A picture shows the question and the answer, not the controls that it does not have.
STYLE = (
    "<style>body { margin: 0; background: #fff } .gapfm-explorable { margin: 0 !important; border: 0 }"
    " :is(.gx-foot, .gx-note, input, button) { display: none !important } .gx-dials"
    " { grid-template-columns: max-content 1fr !important } .gx-dial output { text-align: left !important }</style>"
)


def main() -> None:
    folder = HERE / "pictures"
    folder.mkdir(exist_ok=True)
    script = for_page().replace("</script", "<\\/script")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=find_chromium(), args=["--no-sandbox"]
        )
        page = browser.new_page(
            viewport={"width": WIDTH, "height": 900}, device_scale_factor=1.5
        )
        for view, fragment in stored_fragments(ROOT).items():
            address = Path(place) / f"{view}.html"
            text = f"{STYLE}{fragment}<script>{script}</script>"
            address.write_text(f'<meta charset="utf-8">{text}', encoding="utf-8")
            page.goto(f"{address.as_uri()}#explore-{view}:{SETTINGS.get(view, '')}")
            page.wait_for_function(
                "() => Number(document.querySelector('.gapfm-explorable').dataset.drawn) > 0"
            )
            page.wait_for_timeout(
                2000
            )  # a training has ended, and the picture come to rest
            picture = Image.open(io.BytesIO(page.locator(".gapfm-explorable").screenshot()))
            picture = picture.convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE)
            picture.save(folder / f"{view}.png", optimize=True)
            print(f"{view}: {(folder / f'{view}.png').stat().st_size / 1000:.0f} kB")
        browser.close()


if __name__ == "__main__":
    main()
