"""Where a training writes its checkpoints: a new file, or the one it resumes from, and no other."""

from pathlib import Path

from .._support.checks import check_path
from .._support.files import is_same, regular, writable_folder
from .checkpoint import is_checkpoint


def check_place(path, resume) -> Path:
    """Return `path`, after making its folder: a long training must not fail at its first
    checkpoint.

    Raises TypeError or ValueError for no path, OSError where none can be written, FileExistsError
    for a file that is there and is not the one to `resume` from: it would be lost.
    """
    path = check_path(path, "checkpoint", "pass a file's name such as 'run.npz'")
    try:
        writable_folder(regular(path).parent)
    except (OSError, ValueError) as error:
        raise OSError(
            f"checkpoint {str(path)!r} cannot be written ({error}); pass a file's name in a "
            "folder you can write to"
        ) from error
    if resume is not None:
        resume = check_path(resume, "resume", "pass a file from fit(checkpoint=...)")
    if path.exists() and not is_same(path, resume):
        raise _taken(path)
    return path


def _taken(path: Path) -> FileExistsError:
    name = str(path)
    if is_checkpoint(path):
        return FileExistsError(
            f"checkpoint {name!r} is another training's, which would be lost; to go on from "
            f"there pass resume={name!r} too, else pass another name or delete it"
        )
    return FileExistsError(
        f"checkpoint {name!r} is there already, is no checkpoint of GAPfm, and would be lost; "
        "pass another name, or move or delete it"
    )
