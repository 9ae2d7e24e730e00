"""Pandoc, and what it or a filter says of a source that it cannot set."""

import re
import subprocess

import pypandoc

from preview.notebook import BookError


def run_pandoc(arguments: list[str], text: str, name: str) -> str:
    """What pandoc prints. Raises BookError with what a filter or pandoc says of `name`."""
    done = subprocess.run(
        [pypandoc.get_pandoc_path(), *arguments],
        input=text,
        capture_output=True,
        encoding="utf-8",
    )
    if done.returncode:
        problem = re.search(r"@@ (.+?) @@", done.stderr, re.DOTALL)
        raise BookError(problem[1] if problem else f"{name}: {done.stderr}")
    return done.stdout
