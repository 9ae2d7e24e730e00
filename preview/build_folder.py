"""A marker file in a folder that a build wrote; nothing else is ever replaced."""

from pathlib import Path

MARKER = "built-by-gapfm-teach.txt"


def mark(folder: Path) -> None:
    """Allow the next build to replace `folder`."""
    text = "The next build of the course replaces this folder, with everything in it.\n"
    (folder / MARKER).write_text(text, encoding="utf-8")


def check_replaceable(folder: Path) -> None:
    """Raise FileExistsError unless `folder` is missing, empty or marked as built."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise FileExistsError(f"{folder.name} is not a folder; remove or rename it")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARKER).is_file():
        raise FileExistsError(
            f"{folder.name}/ was not written by a build; remove or rename it, and build again"
        )
