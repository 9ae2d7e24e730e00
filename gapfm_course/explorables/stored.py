"""Data of explorables that stand on a page which runs no code, as the home page."""

import json
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "data"


def stored(name: str) -> dict:
    """The content of `data/name`. Raises FileNotFoundError for a name that is not there."""
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))
