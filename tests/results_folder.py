"""Where `check` keeps results in tests: never in the folder of whoever runs them."""

import pytest


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty folder for results, in a kernel that has kept none."""
    from gapfm_course.exercises import progress_log

    folder = tmp_path / "data" / "results"
    monkeypatch.setattr(progress_log, "folder", lambda: folder)
    monkeypatch.setattr(progress_log, "_own", [])
    return folder
