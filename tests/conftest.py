"""Shared by all tests: what cases are called; by some: a browser, data from elsewhere."""

import os

import numpy as np
import pytest
from hypothesis import settings
from movielens_files import accept_small, data_folder, pip, serve  # noqa: F401
from results_folder import place  # noqa: F401

from gapfm_course.doctor import find_chromium

# No test fails because a machine is slow or busy.
settings.register_profile("in their own time", deadline=None)
settings.load_profile("in their own time")

LONGEST_LABEL = 100
# What a test needs is seen from its fixtures.
MARKERS = {
    "chromium_path": "browser",
    "worker_processes": "processes",
    "book": "processes",  # pandoc's
}

LAUNCH_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
]
HOW_TO = (
    "no Chromium was found. Install one (Debian, Ubuntu: apt-get install chromium) "
    "or set GAPFM_TEACH_CHROMIUM to the program of a Chromium or Chrome"
)


def pytest_make_parametrize_id(val):
    """A case is called by its value as one would write it, where pytest would number it."""
    if isinstance(val, dict) and val:
        text = ", ".join(f"{name}={value!r}" for name, value in val.items())
    elif isinstance(val, dict | list | tuple | np.ndarray | Exception):
        text = repr(val)
    else:
        return None  # pytest knows numbers, words, classes and functions
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_LABEL else None  # a long one needs an `id`


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        for fixture, marker in MARKERS.items():
            if fixture in item.fixturenames:
                item.add_marker(marker)


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
