"""The built site, shared by the tests that open it."""

import functools
import http.server
import threading
from pathlib import Path

import pytest
from built_site import BUILT

from preview.build import ROOT, build


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="session")
def site_folder(tmp_path_factory):
    """The folder of the built site.

    GAPFM_TEACH_SITE names a site built already, by Quarto for example, to look at instead.
    """
    if BUILT:
        return Path(BUILT)
    folder = tmp_path_factory.mktemp("site") / "_site"
    build(ROOT, folder)
    return folder


@pytest.fixture(scope="session")
def site(site_folder):
    """Serve the site on the loopback; yield (address, pages), without the decks of slides and the 404 page."""
    pages = sorted(
        path.relative_to(site_folder).as_posix()
        for path in site_folder.rglob("*.html")
        if path.name != "404.html" and path.parent != site_folder / "slides"
    )
    handler = functools.partial(QuietHandler, directory=str(site_folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", pages
        server.shutdown()


@pytest.fixture
def open_page(browser, site, site_folder):
    """Open pages with other hosts blocked; what went wrong is in `open_page.problems`."""
    address, _ = site
    contexts = []
    problems: list[str] = []

    def guard(route):
        if route.request.url.startswith((address, site_folder.as_uri(), "data:")):
            route.continue_()
        else:
            problems.append(f"request to another host: {route.request.url}")
            route.abort()

    def opener(name, width=1280, *, as_file=False, **options):
        size = {"width": width, "height": 900}
        contexts.append(browser.new_context(viewport=size, **options))
        contexts[-1].route("**/*", guard)
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: problems.append(f"{name}: {error}"))
        page.on(
            "console", lambda m: m.type == "error" and problems.append(f"{name}: {m.text}")
        )
        page.goto((site_folder.as_uri() + "/" if as_file else address) + name)
        return page

    opener.problems = problems
    yield opener
    for context in contexts:
        context.close()
