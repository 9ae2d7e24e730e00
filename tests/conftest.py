"""Shared by the tests that drive a browser, and by those that fetch data."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings
from movielens_files import accept_small, data_folder, pip, serve  # noqa: F401

# No test fails because a machine is slow or busy.
settings.register_profile("in their own time", deadline=None)
settings.load_profile("in their own time")

LAUNCH_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
]
ON_PATH = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
USUAL_PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
)
HOW_TO = (
    "no Chromium was found. Install one (Debian, Ubuntu: apt-get install chromium) "
    "or set GAPFM_TEACH_CHROMIUM to the program of a Chromium or Chrome"
)


def find_chromium() -> str | None:
    named = os.environ.get("GAPFM_TEACH_CHROMIUM")
    if named:
        return named
    on_path = (shutil.which(name) for name in ON_PATH)
    usual = (place for place in USUAL_PLACES if Path(place).is_file())
    return next((program for program in (*on_path, *usual) if program), None)


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """The browser to drive; a test that asks for it is left out where there is none."""
    path = find_chromium()
    if path is None:
        required = os.environ.get("GAPFM_TEACH_REQUIRE_BROWSER") == "1"
        (pytest.fail if required else pytest.skip)(HOW_TO)
    return path


@pytest.fixture(scope="module")
def browser(chromium_path):
    """A headless Chromium; closed after each module, as its event loop disturbs others."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=chromium_path, args=LAUNCH_FLAGS)
        yield chromium
        chromium.close()


def pytest_terminal_summary(terminalreporter):
    """Say plainly which browser tests were left out."""
    skipped = terminalreporter.stats.get("skipped", [])
    left_out = sorted({r.nodeid for r in skipped if HOW_TO in str(r.longrepr)})
    if left_out:
        terminalreporter.section("browser tests left out")
        terminalreporter.write_line(f"Left out, because {HOW_TO}:")
        for nodeid in left_out:
            terminalreporter.write_line(f"  {nodeid}")
