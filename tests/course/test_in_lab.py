"""A made notebook in a reader's JupyterLab, untrusted: what its sanitiser and MathJax leave of it."""

import pytest
from lab_server import PATIENCE, lab_over, open_notebook

from gapfm_teach.__main__ import main

expect = pytest.importorskip("playwright.sync_api").expect

NAME = "03_gradients.ipynb"
# Cells out of sight are not in the page: this height has all that is looked at.
TALL = {"width": 1280, "height": 6_000}
SHOWN = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-RenderedMarkdown"


@pytest.fixture(scope="module")
def opened(tmp_path_factory, browser):
    """A page of JupyterLab with chapter 3 open, and the folder that it lies in."""
    place = tmp_path_factory.mktemp("lab")
    folder = place / "class"
    main(["course", str(folder)])
    with lab_over(folder, place) as address:
        context = browser.new_context(viewport=TALL)
        page = context.new_page()
        open_notebook(page, address, NAME)
        yield page, folder
        context.close()


def test_numbers_boxes_folds_and_links_are_seen(opened):
    page, _ = opened
    expect(page.locator(f"{SHOWN} h2").first).to_contain_text(
        "3.1 What does training maximise?"
    )
    expect(page.locator(f"{SHOWN} mjx-labels").first).to_be_attached(
        timeout=1000 * PATIENCE
    )
    assert page.locator("mjx-merror").count() == 0
    box = page.locator(f"{SHOWN} div", has_text="Predict first").last
    assert box.evaluate("box => getComputedStyle(box).borderLeftWidth") == "4px"
    assert (
        box.evaluate("box => getComputedStyle(box).backgroundColor")
        == "rgba(70, 130, 220, 0.1)"
    )
    fold = page.locator(f"{SHOWN} details", has_text="Hint 1").first
    assert not fold.evaluate("fold => fold.open")
    fold.locator("summary").click()
    expect(fold).to_contain_text("contains one sum")
    page.set_viewport_size({"width": 1280, "height": 900})
    link = page.locator(f"{SHOWN} a[href*='#eq-gradients-']").first
    target = link.get_attribute("href").partition("#")[2]
    link.scroll_into_view_if_needed()
    link.click()
    place = page.locator(f"{SHOWN} [data-jupyter-id='{target}']").first
    page.wait_for_function(
        "place => Math.abs(place.getBoundingClientRect().top) < 450",
        arg=place.element_handle(),
    )


def test_what_jupyterlab_saves_is_no_change_of_hers(opened, capsys):
    """It orders and cuts a file in its own way; only what somebody has typed is hers."""
    page, folder = opened
    before = (folder / NAME).read_bytes()
    page.evaluate("() => window.jupyterapp.shell.currentWidget.context.save()")
    assert (folder / NAME).read_bytes() != before
    assert main(["course", str(folder), "--update", "--solutions", "no"]) == 0
    (said,) = [
        line for line in capsys.readouterr().out.splitlines() if line.startswith(NAME)
    ]
    assert "yours" not in said
