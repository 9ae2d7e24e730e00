"""A JupyterLab of its own for a test, and how a page of it is driven."""

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

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


@contextlib.contextmanager
def lab_over(folder, tmp_path):
    """Serve `folder`, all settings and logs in `tmp_path`; yield the address."""
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
            yield address
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


def open_notebook(page, address, name):
    """Open a notebook in `page` and wait until its kernel is up."""
    page.set_default_timeout(1000 * PATIENCE)
    page.goto(f"{address}/lab/tree/{name}?token={TOKEN}&reset")
    page.wait_for_function(IS_OPEN)
    page.evaluate(SETTLE)
