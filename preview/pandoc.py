"""Pandoc, and its errors."""

import json
import re
import subprocess
import tempfile
from pathlib import Path

import pypandoc

from preview.notebook import BookError


def run_pandoc(settings: dict, text: str, name: str) -> str:
    """The output of pandoc for `text`, with `settings` as in a defaults file of pandoc.

    Raises BookError with the message of a filter, or with the warning or error of pandoc about
    the source `name`: an unknown citation and a formula that MathML cannot hold are warnings.
    """
    with tempfile.TemporaryDirectory() as folder:
        defaults = Path(folder) / "defaults.yaml"
        defaults.write_text(json.dumps(settings | {"fail-if-warnings": True}), "utf-8")
        done = subprocess.run(
            [pypandoc.get_pandoc_path(), "--defaults", defaults],
            input=text,
            capture_output=True,
            encoding="utf-8",
        )
    if done.returncode:
        problem = re.search(r"@@ (.+?) @@", done.stderr, re.DOTALL)
        raise BookError(problem[1] if problem else f"{name}: {done.stderr}")
    return done.stdout
