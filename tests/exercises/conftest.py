import pytest

from gapfm_teach.exercises import kept


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """Results go to a temporary folder here, never to that of whoever runs the tests."""
    folder = tmp_path / "data" / "results"
    monkeypatch.setattr(kept, "folder", lambda: folder)
    monkeypatch.setattr(kept, "_own", [])
    return folder
