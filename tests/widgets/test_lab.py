"""A reader's JupyterLab: run the training notebook, move a slider, see the figure change."""

import shutil
from pathlib import Path

import nbformat
import pytest
from lab_server import lab_over, open_notebook

expect = pytest.importorskip("playwright.sync_api").expect

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "04_train_on_movielens.ipynb"
# The command's promise ends with the last cell; a failed cell ends it early.
RUN_ALL = """() => {
  window.hasRun = false;
  window.jupyterapp.commands
    .execute('notebook:run-all-cells')
    .finally(() => { window.hasRun = true; });
}"""
ERRORS = """() => [...window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells]
  .filter((cell) => cell.cell_type === 'code')
  .flatMap((cell) => cell.outputs)
  .filter((output) => output.output_type === 'error')
  .map((output) => `${output.ename}: ${output.evalue}`)"""
# Cells out of sight are not in the page: go to the one that makes the explorable.
SHOW_EXPLORABLE = """() => {
  const notebook = window.jupyterapp.shell.currentWidget.content;
  const place = notebook.widgets.findIndex((cell) => cell.model.type === 'code'
    && cell.model.sharedModel.source.includes('explorable('));
  notebook.activeCellIndex = place;
  return notebook.scrollToItem(place, 'start');
}"""
# Note how long it takes from now until the view is drawn anew.
WATCH = """(root) => {
  const began = performance.now(), old = root.dataset.drawn;
  window.took = null;
  const look = () => {
    if (root.dataset.drawn !== old) window.took = performance.now() - began;
    else setTimeout(look, 2);
  };
  look();
}"""

# The last cell shows that mathematics is set at all, and that it has been by then.
DOLLARS = """
from gapfm_course.explorables import explorable
data = {"films": ["$5 to $9"] * 3, "grades": [3, 1, 2], "order": [0, 1, 2],
        "audiences": {"$5 to $9": [0.2, 0.3, 0.5]}}
display(explorable("drag_list", data, alt="$5 to $9"))
import ipywidgets
ipywidgets.Label("$x$")
"""


@pytest.fixture
def lab(tmp_path):
    """A JupyterLab server of its own over a copy of the notebook and one of dollars; yields its
    address."""
    folder = tmp_path / "notebooks"
    folder.mkdir()
    shutil.copy(NOTEBOOK, folder)
    dollars = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(DOLLARS)])
    dollars.metadata = nbformat.read(
        NOTEBOOK, as_version=4
    ).metadata  # or it asks for a kernel
    nbformat.write(dollars, folder / "dollars.ipynb")
    with lab_over(folder, tmp_path) as address:
        yield address


def run_all_cells(page):
    """Run the open notebook to its end; fail with the errors it shows."""
    page.evaluate(RUN_ALL)
    page.wait_for_function("() => window.hasRun")
    assert page.evaluate(ERRORS) == []


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield context.new_page()
    context.close()


def test_dollars_in_titles_are_not_set_as_mathematics(lab, page):
    open_notebook(page, lab, "dollars.ipynb")
    run_all_cells(page)
    page.locator("mjx-container").first.wait_for(state="attached")
    page.locator(".gapfm-explorable .gx-sortable").wait_for()
    assert page.locator("mjx-container").count() == 1
    shown = page.locator(".jp-OutputArea-output").all_inner_texts()
    assert sum(text.count("$5 to $9") for text in shown) >= 3


def test_a_slider_retrains_and_redraws(lab, page, capsys):
    """On all of MovieLens, by the kernel; and the view stays when the kernel is started anew."""
    open_notebook(page, lab, NOTEBOOK.name)
    run_all_cells(page)
    page.set_default_timeout(60_000)  # a move is short even on a slow machine
    page.evaluate(SHOW_EXPLORABLE)
    root = page.locator(".gapfm-explorable:has(input[type=range])").first
    slider, words = root.locator("input[id$='-reg']"), root.locator(".gx-said")
    expect(root).to_contain_text(
        "Trained on MovieLens 100K"
    )  # a page trains on invented films
    took = []
    for key in ("PageUp", "PageDown", "PageUp"):
        before, value = words.inner_text(), slider.get_attribute("aria-valuetext")
        root.evaluate(WATCH)
        slider.press(key)
        page.wait_for_function("() => window.took !== null")
        took.append(page.evaluate("() => window.took"))
        assert slider.get_attribute("aria-valuetext") != value
        expect(words).not_to_have_text(before, timeout=60_000)
    assert root.locator("svg").first.bounding_box()["height"] > 100
    page.set_viewport_size({"width": 700, "height": 900})
    assert root.locator("svg").first.bounding_box()["width"] > 200
    with capsys.disabled():
        shown = ", ".join(f"{milliseconds:.0f}" for milliseconds in took)
        print(f"\nmilliseconds from key to new picture: {shown}")
