"""Quarto before and after it builds the site, with a stand-in for it."""

import os
import re
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from gapfm_course.explorables.linked import for_page
from preview import site
from preview.build_folder import check_replaceable
from preview.post_render import without_remote_tags

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def quarto(tmp_path, monkeypatch):
    """`quarto(version)` puts a program of that name on the path; returns its log file."""
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    def install(version):
        log = tmp_path / "log"
        program = tmp_path / "quarto"
        program.write_text(
            f'#!/bin/sh\n[ "$1" = --version ] && echo {version}\necho "$@" >> {log}\n'
        )
        program.chmod(0o755)
        return log

    return install


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for Quarto is a shell script")
def test_quarto_builds_the_site_where_it_is_new_enough(
    quarto, capsys, tmp_path, monkeypatch
):
    log = quarto("1.7.32")
    monkeypatch.setattr("preview.build.ROOT", tmp_path)
    site.main()
    assert "built by Quarto 1.7.32" in capsys.readouterr().out
    assert log.read_text().split() == ["--version", "render"]


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for Quarto is a shell script")
def test_quarto_is_not_let_near_what_no_build_wrote(quarto, tmp_path, monkeypatch):
    """It empties the folder."""
    log = quarto("1.7.32")
    monkeypatch.setattr("preview.build.ROOT", tmp_path)
    (tmp_path / "_site").mkdir()
    (tmp_path / "_site" / "index.html").write_text("my own site")
    with pytest.raises(SystemExit, match=r"not built.\n  _site/ was not written by"):
        site.main()
    assert "render" not in log.read_text()


@pytest.mark.processes
@pytest.mark.parametrize("whole", [True, False])
def test_after_quarto_a_new_site_may_take_its_place(tmp_path, whole):
    """Where Quarto rendered all, and so wrote all that is there."""
    page = '<p>Q</p><script src="https://cdn.example.org/require.js"></script>'
    place = tmp_path / "_site"
    (place / "site_libs").mkdir(parents=True)
    (place / "site_libs" / "nav.js").touch()
    (place / "index.html").write_text(page)
    step = [sys.executable, str(ROOT / "preview" / "post_render.py")]
    outside = {"QUARTO_PROJECT_OUTPUT_DIR": str(place)}
    outside |= {"QUARTO_PROJECT_RENDER_ALL": "1"} if whole else {}
    subprocess.run(step, env=os.environ | outside, cwd=tmp_path, check=True)
    assert (place / "index.html").read_text() == "<p>Q</p>"
    strange = pytest.raises(FileExistsError, match="_site/ was not written by")
    with nullcontext() if whole else strange:
        check_replaceable(place)


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for Quarto is a shell script")
def test_an_old_quarto_is_passed_over(quarto, capsys, monkeypatch):
    log = quarto("1.3.450")
    monkeypatch.setattr("preview.build.main", lambda: print("preview"))
    site.main()
    assert "older than Quarto 1.4" in capsys.readouterr().out
    assert "render" not in log.read_text()


def test_post_render_removes_only_what_calls_another_host():
    ours = (
        '<script src="site_libs/nav.js"></script><link href="styles.css" rel="stylesheet">'
    )
    inline = "<script>const url = 'https://example.org/';</script>"
    anchor = '<a href="https://example.org/">kept</a>'
    remote = """<script src="https://cdn.example.org/require.min.js" integrity="x"></script>
<script src='//cdn.example.org/jquery.js' data-relocate-top="true"></script>
<script type="application/javascript">define('jquery', [],function() {return window.jQuery;})</script>
<link rel="stylesheet" href="https://fonts.example.org/css?a>"""
    remote = remote.replace("css?a>", 'css?a">')
    page = f"<head>{ours}{remote}</head><body>{inline}{anchor}</body>"
    assert without_remote_tags(page) == f"<head>{ours}</head><body>{inline}{anchor}</body>"


@pytest.mark.processes
def test_the_step_brings_a_pages_explorables_to_life(tmp_path):
    """With one script for the site, at the address that it has from the page."""
    place = tmp_path / "_site"
    (place / "notebooks").mkdir(parents=True)
    alive = '<div class="gapfm-explorable" data-view="drag_list"></div>'
    pages = {"index.html": "<p>text</p>", "notebooks/01.html": f"<p>{alive}</p>"}
    for name, text in pages.items():
        (place / name).write_text(f"<body>{text}</body>")
    step = [sys.executable, str(ROOT / "preview" / "post_render.py")]
    outside = {"QUARTO_PROJECT_OUTPUT_DIR": str(place), "QUARTO_PROJECT_RENDER_ALL": "1"}
    for _ in range(2):  # and not twice
        subprocess.run(step, env=os.environ | outside, cwd=tmp_path, check=True)
    assert (place / "index.html").read_text() == "<body><p>text</p></body>"
    page = (place / "notebooks" / "01.html").read_text()
    assert re.findall(r'<script src="([^"]+)"', page) == ["../explorables.js"]
    assert (place / "notebooks" / "../explorables.js").read_bytes() == for_page().encode()
