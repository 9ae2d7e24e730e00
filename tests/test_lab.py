"""A reader's JupyterLab: run the training notebook, move a slider, see the figure change."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

NOTEBOOK = (
    Path(__file__).resolve().parent.parent / "notebooks" / "04_train_on_movielens.ipynb"
)
TOKEN = "reader"
PATIENCE = 900  # seconds, for a slow and busy machine

IS_OPEN = "() => Boolean(window.jupyterapp?.shell.currentWidget?.sessionContext)"
# After this the notebook is read, its kernel is up, and commands find both.
SETTLE = """async () => {
  const app = window.jupyterapp;
  await app.restored;
  await app.shell.currentWidget.context.ready;
  await app.shell.currentWidget.sessionContext.ready;
}"""
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
# Wait in the page for a new picture; the time it took since the key was pressed.
WATCH = """(image) => {
  const began = performance.now(), old = image.src;
  window.moved = new Promise((done) => {
    const look = () => (image.src !== old ? done(performance.now() - began) : setTimeout(look, 2));
    look();
  });
}"""


@pytest.fixture
def lab(tmp_path):
    """A JupyterLab server of its own over a copy of the notebook; yields (address, log)."""
    folder = tmp_path / "notebooks"
    folder.mkdir()
    shutil.copy(NOTEBOOK, folder)
    port, log = free_port(), tmp_path / "server.log"
    environment = os.environ | {"JUPYTER_PLATFORM_DIRS": "0"}
    environment.pop("GAPFM_TEACH_STATIC", None)
    for place in ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR"):
        environment[f"JUPYTER_{place}"] = str(tmp_path / place)
    for place in ("SETTINGS_DIR", "WORKSPACES_DIR"):
        environment[f"JUPYTERLAB_{place}"] = str(tmp_path / place)
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--expose-app-in-browser",
        "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={folder}",
    ]  # fmt: skip
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    with log.open("w") as output:
        server = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
        try:
            address = f"http://127.0.0.1:{port}"
            wait_for_answer(f"{address}/api?token={TOKEN}", server, log)
            yield address, log
        finally:
            server.terminate()
            try:
                server.wait(timeout=30)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_answer(url, server, log):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        assert server.poll() is None, f"JupyterLab stopped:\n{log.read_text()}"
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    pytest.fail(f"JupyterLab did not answer in {PATIENCE} s:\n{log.read_text()}")


def run_all_cells(page):
    """Run the open notebook to its end; fail with the errors it shows."""
    page.wait_for_function(IS_OPEN)
    page.evaluate(SETTLE)
    page.evaluate(RUN_ALL)
    page.wait_for_function("() => window.hasRun")
    assert page.evaluate(ERRORS) == []


def explorer_of(page, label):
    """The box of widgets that holds a slider with this label."""
    slider = page.locator(".widget-slider").filter(has_text=re.compile(label)).first
    slider.wait_for()
    return slider, page.locator(".jp-OutputArea-output").filter(has=slider).first


def test_a_slider_retrains_and_redraws(lab, browser, capsys):
    address, _ = lab
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    page.goto(f"{address}/lab/tree/{NOTEBOOK.name}?token={TOKEN}&reset")
    run_all_cells(page)
    slider, output = explorer_of(page, "λ")
    image = output.locator(".widget-output img").first
    readout = output.locator(".gapfm-readout").first
    handle = slider.locator(".noUi-handle")
    handle.scroll_into_view_if_needed()
    image.wait_for()
    took = []
    for key in ("ArrowRight", "ArrowLeft", "ArrowLeft"):
        words, picture = readout.inner_text(), image.get_attribute("src")
        value = handle.get_attribute("aria-valuetext")
        image.evaluate(WATCH)
        handle.press(key)
        took.append(page.evaluate("() => window.moved"))
        assert image.get_attribute("src") != picture
        assert handle.get_attribute("aria-valuetext") != value
        page.wait_for_function(
            "([element, words]) => element.innerText !== words",
            arg=[readout.element_handle(), words],
        )
    assert output.locator("img").first.bounding_box()["height"] > 100
    context.close()
    with capsys.disabled():
        shown = ", ".join(f"{milliseconds:.0f}" for milliseconds in took)
        print(f"\nmilliseconds from key to new picture: {shown}")
