"""Where `check` keeps results in tests: never in the folder of whoever runs them."""

import pytest


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty folder for results, in a kernel that has kept none."""
    from gapfm_course.exercises import kept

    folder = tmp_path / "data" / "results"
    monkeypatch.setattr(kept, "folder", lambda: folder)
    monkeypatch.setattr(kept, "_own", [])
    return folder
